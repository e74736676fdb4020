"""How much of what was found is kept, was known already, or is refused."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.imports.domain.found import Reason, Target

# So many of what was refused are named, of each reason.
NAMED_OF_A_REASON = 20


@dataclass
class Counts:
    """kept, known: by target. refused: by reason. named: of what was refused, some places, each with its reason.

    is_part: the files were not read to their end.
    """

    kept: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    named: list[list[str]] = field(default_factory=list)
    is_part: bool = False

    def keep(self, target: Target) -> None:
        """Count something that is kept."""
        self.kept[target.value] += 1

    def know(self, target: Target) -> None:
        """Count something that the hub had already."""
        self.known[target.value] += 1

    def refuse(self, place: str, reason: Reason) -> None:
        """Count something that is not kept, and remember where some of them are."""
        if self.refused[reason.value] < NAMED_OF_A_REASON:
            self.named.append([place[:300], reason.value])
        self.refused[reason.value] += 1

    def as_json(self) -> dict[str, Any]:
        """Return the counts as a row keeps them."""
        counts = {name: dict(getattr(self, name)) for name in ("kept", "known", "refused")}
        return {**counts, "named": self.named, **({"is_part": True} if self.is_part else {})}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Counts":
        """Return what `as_json` was made of."""
        kept, known, refused = (Counter[str](value.get(name, {})) for name in ("kept", "known", "refused"))
        return cls(kept, known, refused, [list(one) for one in value.get("named", [])], bool(value.get("is_part")))
