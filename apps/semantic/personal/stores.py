"""The stores of the memories, one for each group of tables that is exported and forgotten together."""

from collections.abc import Iterator, Sequence

from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, UserTable
from apps.semantic.models import Consolidation, Memory
from apps.semantic.personal.bridge import BridgeStore, RoutingPolicyStore
from apps.semantic.personal.memories import MemoryStore
from apps.semantic.personal.receipts import ReceiptStore, number_at, numbers_of

CONSOLIDATION, LAST = "consolidation", "last_memory"
# The number of a row of this hub, which is exported as the memory that has it.
CURSOR = ("cursor",)


class ConsolidationStore(UserTable):
    """Where consolidations look, which may be one user's memories."""

    name = "consolidations"
    order = 50
    models = (Consolidation,)
    kinds = (CONSOLIDATION,)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield consolidations by name, if the hub as a whole is exported."""
        if not asked.is_everything:
            return
        columns = Columns(Consolidation, CURSOR)
        for row in Consolidation.objects.order_by("name"):
            last = Memory.objects.filter(pk__lte=row.cursor).order_by("-pk").values_list("uuid", flat=True).first()
            yield {"kind": CONSOLIDATION, **columns.values(row), LAST: None if last is None else str(last)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those whose names the hub does not have."""
        columns, memories = Columns(Consolidation, CURSOR), numbers_of(Memory, lines, (LAST,))
        known = set(Consolidation.objects.values_list("name", flat=True))
        rows = []
        for place, line in enumerate(lines):
            row = Consolidation(**columns.read_at(place, line, (LAST,)))
            if line.get(LAST) is not None:
                row.cursor = number_at(place, line, LAST, memories)
            if row.name not in known:
                rows.append(row)
        return len(Consolidation.objects.bulk_create(rows))


register_stores((RoutingPolicyStore(), MemoryStore(), ReceiptStore(), BridgeStore(), ConsolidationStore()))
