"""Private files that belong to rows: a row comes before its files and goes after them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings


@dataclass(frozen=True)
class RowFiles:
    """The files of the rows of a model, each named by the `uuid` of its row and a suffix.

    setting: which names their directory. suffixes: all that a row may have; the first is that of the whole file.
    """

    setting: str
    model: Any
    suffixes: tuple[str, ...]

    @property
    def directory(self) -> Path:
        """Return their directory, which may not be there."""
        return Path(getattr(settings, self.setting))

    def prepare(self) -> Path:
        """Return their directory; create it for its owner only."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.directory

    def file(self, uuid: UUID, suffix: str = "") -> Path:
        """Return the place of a file of a row. suffix: "" for the whole file."""
        return self.directory / f"{uuid}{suffix or self.suffixes[0]}"

    def remove(self, uuid: UUID) -> None:
        """Remove the files of a row; safe to repeat."""
        for suffix in self.suffixes:
            self.file(uuid, suffix).unlink(missing_ok=True)

    def strays(self) -> list[Path]:
        """Return the files that belong to no row, such as those of a process that was killed."""
        try:
            found = sorted(self.directory.iterdir())
        except FileNotFoundError:
            return []
        known = {str(uuid) for uuid in self.model.objects.values_list("uuid", flat=True)} if found else set()
        return [path for path in found if path.name.partition(".")[0] not in known]

    def remove_strays(self) -> None:
        """Remove the files that belong to no row; safe to repeat."""
        for path in self.strays():
            path.unlink(missing_ok=True)
