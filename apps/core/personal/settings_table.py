"""Tables of settings: one line of an export holds all rows, which replace those of an empty hub."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import Model

from apps.core.personal.columns import Columns
from apps.core.personal.store import ExportRequest, Line, LineError, PersonalStore
from apps.core.steps import Step, no_step


class SettingsStore(PersonalStore):
    """A table that operators configure and no user is named in. key: the columns that order its rows."""

    is_settings = True
    key: ClassVar[tuple[str, ...]]

    @property
    def model(self) -> type[Model]:
        """Return the table."""
        return self.models[0]

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield one line, if the hub as a whole is exported."""
        if asked.is_everything:
            columns = Columns(self.model)
            rows = self.model._default_manager.order_by(*self.key)
            yield {"kind": self.kinds[0], "rows": [columns.values(row) for row in rows]}

    def load(self, lines: Sequence[Line]) -> int:
        """Replace all rows by those of the last line."""
        columns = Columns(self.model)
        rows = rows_of(lines, columns)
        table = self.model._default_manager
        table.all().delete()
        for row in rows:
            created = table.create(**row)
            table.filter(pk=created.pk).update(**row)  # times of changes that are set by themselves
        return len(lines)

    def count(self, user_id: str) -> int:
        """Return 0: it holds nothing of a user."""
        return 0

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Remove nothing."""
        return iter(())

    def find(self, user_id: str) -> Iterator[str]:
        """Find nothing."""
        return iter(())


def rows_of(lines: Sequence[Mapping[str, Any]], columns: Columns) -> list[dict[str, Any]]:
    """Return the rows of the last line. Raises LineError."""
    place = len(lines) - 1
    rows = lines[place].get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise LineError(place, "damaged, it has no rows")
    try:
        return [columns.read(row) for row in rows]
    except ValueError as error:
        raise LineError(place, str(error)) from error
