"""Pages of names: of users, households, tags and the like, counted and in the order of their code points."""

import hashlib
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import BinaryField, F, Func, QuerySet
from django.db.models.functions import Collate


def name_id(name: str) -> UUID:
    """Return what a cursor calls a name: anyone who sees the name can compute it."""
    return UUID(bytes=hashlib.sha256(name.encode()).digest()[:16])


class NameDigest(Func):
    """The bytes of `name_id`, computed by the database."""

    arity = 1
    template = "substring(sha256(convert_to(%(expressions)s, 'UTF8')) FOR 16)"
    output_field = BinaryField()


@dataclass(frozen=True)
class NameSpan:
    """Which names are wanted: those beyond one of them, upwards or downwards, and how many; None for all.

    only: the one with this `name_id`. containing: those in which this text occurs, in whatever case.
    """

    beyond: str | None = None
    is_backwards: bool = False
    limit: int | None = None
    only: UUID | None = None
    containing: str = ""

    def grouped(self, rows: QuerySet[Any], column: str) -> QuerySet[Any, dict[str, Any]]:
        """Return the wanted names of a column as `name`, to be annotated with counts. Blank ones are left out."""
        # The collation in which PostgreSQL orders texts as Python does.
        named = rows.exclude(**{column: ""}).annotate(name=Collate(F(column), "C"))
        if self.beyond is not None:
            named = named.filter(**{"name__lt" if self.is_backwards else "name__gt": self.beyond})
        if self.containing:
            named = named.filter(**{f"{column}__icontains": self.containing})
        if self.only is not None:
            named = named.annotate(digest=NameDigest(F(column))).filter(digest=self.only.bytes)
        grouped: QuerySet[Any, dict[str, Any]]
        grouped = named.order_by("-name" if self.is_backwards else "name").values("name")
        return grouped

    def cut(self, names: Any) -> list[str]:
        """Return the wanted ones of some names, each once and in their order."""
        wanted = sorted({name for name in names if self.includes(name)}, reverse=self.is_backwards)
        return wanted if self.limit is None else wanted[: self.limit]

    def includes(self, name: str) -> bool:
        """Return whether a name lies in the span, whatever the limit."""
        if not name or (self.only is not None and name_id(name) != self.only):
            return False
        if self.containing.casefold() not in name.casefold():
            return False
        if self.beyond is None:
            return True
        return name < self.beyond if self.is_backwards else name > self.beyond


ALL_NAMES = NameSpan()
