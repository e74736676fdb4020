"""The store of compactions of MEMORY.md: drafts hold what people wrote."""

import zlib
from collections.abc import Iterator, Sequence
from uuid import UUID

from apps.core.db.scoped import scope_filter
from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.store import ExportRequest, Line, LineError, UserTable
from apps.core.steps import Step, no_step
from apps.notes.compaction.decide import draft_of
from apps.notes.compaction.run import INTERRUPTED
from apps.notes.models import Compaction, CompactionState

_CHUNK = 200
# Who asked and who decided is for operators.
OF_OPERATORS = {"actor": "", "decided_by": ""}


class CompactionStore(UserTable):
    """Compactions with their drafts and what became of each fact."""

    name = "note_compactions"
    order = 87
    models = (Compaction,)
    kinds = ("compaction",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the compactions in scope; none where a part of a person is asked for, or a filter is given."""
        if not asked.is_of_whole_people:
            return
        columns = Columns(Compaction, without=("draft",))
        hidden = {} if asked.is_operator else OF_OPERATORS
        for row in Compaction.objects.filter(scope_filter(asked.scope)).order_by("pk").iterator(_CHUNK):
            yield {"kind": "compaction", **columns.values(row), **hidden, "draft": draft_of(row).decode()}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those that the hub does not have. One that waited for a model there has failed. Raises LineError."""
        columns, rows = Columns(Compaction, without=("draft",)), dict[UUID, Compaction]()
        for number, line in enumerate(lines):
            try:
                row = Compaction(**columns.read(line, ("draft",)))
                row.draft = zlib.compress(line["draft"].encode()) if line["draft"] else b""
            except (AttributeError, KeyError, ValueError) as error:
                raise LineError(number, str(error) or "a compaction needs its draft") from error
            if row.state == CompactionState.ASKED:
                row.state, row.code = CompactionState.FAILED, INTERRUPTED
            rows[row.uuid] = row
        for known in Compaction.objects.filter(uuid__in=rows).values_list("uuid", flat=True):
            del rows[known]
        hold_users(row.user_id for row in rows.values())
        return len(Compaction.objects.bulk_create(rows.values()))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete them in parts. A call of a model that is under way finds no row to record its answer in."""
        return super().forget(user_id, step)

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where compactions are left."""
        if self.count(user_id):
            yield "compactions of notes"
