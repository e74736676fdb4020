"""The store of imports: what was brought, from where, and what became of it.

Files are kept only while their person decides, and until they are brought in.
"""

from collections.abc import Iterator, Sequence

from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, UserTable
from apps.core.steps import Step, no_step
from apps.imports.models import OPEN_STATES, UPLOADED_STATES, Import
from apps.imports.uploads.files import UPLOADS

LINE = "import"
NOT_EXPORTED = (*OPEN_STATES, *UPLOADED_STATES)


class ImportStore(UserTable):
    """Imports. One that goes on, or that nobody has decided about, is not exported: its files are on this machine."""

    name = "imports"
    order = 23
    models = (Import,)
    kinds = (LINE,)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the imports of people as a whole, the oldest first."""
        if not asked.is_of_whole_people:
            return
        columns = Columns(Import)
        for row in Import.objects.in_scope(asked.scope).exclude(state__in=NOT_EXPORTED).order_by("pk").iterator(200):
            yield {"kind": LINE, **columns.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write the imports that the hub does not have. Raises LineError."""
        columns = Columns(Import)
        rows = [Import(**columns.read_at(place, line)) for place, line in enumerate(lines)]
        hold_users({row.user_id for row in rows})
        before = Import.objects.count()
        Import.objects.bulk_create(rows, ignore_conflicts=True)
        return Import.objects.count() - before

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Remove the files first, so that a killed process leaves no file without a row."""
        for uuid in Import.objects.filter(user_id=user_id).values_list("uuid", flat=True):
            UPLOADS.remove(uuid)
        step("upload files")
        yield from super().forget(user_id, step)
        UPLOADS.remove_strays()

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where one is left. A file of no row may be of anyone."""
        yield from super().find(user_id)
        yield from (f"uploads/{name}" for name in UPLOADS.strays())


register_stores((ImportStore(),))
