"""The store of imports: what was brought, from where, and what became of it. The files themselves are kept nowhere."""

from collections.abc import Iterator, Sequence

from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, UserTable
from apps.imports.models import OPEN_STATES, Import

LINE = "import"


class ImportStore(UserTable):
    """Imports. One that goes on is not exported: its files are on this machine."""

    name = "imports"
    order = 23
    models = (Import,)
    kinds = (LINE,)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the imports of people as a whole, the oldest first."""
        if not asked.is_of_whole_people:
            return
        columns = Columns(Import)
        for row in Import.objects.in_scope(asked.scope).exclude(state__in=OPEN_STATES).order_by("pk").iterator(200):
            yield {"kind": LINE, **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write the imports that the hub does not have. Raises LineError."""
        columns = Columns(Import)
        rows = [Import(**columns.read_at(place, line)) for place, line in enumerate(lines)]
        hold_users({row.user_id for row in rows})
        before = Import.objects.count()
        Import.objects.bulk_create(rows, ignore_conflicts=True)
        return Import.objects.count() - before


register_stores((ImportStore(),))
