"""The stores of the memories, one for each group of tables that is exported and forgotten together."""

from collections.abc import Iterator, Sequence

from django.db.models import Q

from apps.core.db.user_locks import hold_users
from apps.core.personal.columns import Columns
from apps.core.personal.erase import delete_in_parts, names_user, naming
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, PersonalStore, UserTable
from apps.core.steps import Step, no_step
from apps.semantic.models import Consolidation, Memory, MemoryUse
from apps.semantic.personal.bridge import BridgeStore, RoutingPolicyStore
from apps.semantic.personal.memories import MemoryStore
from apps.semantic.personal.receipts import ReceiptStore, number_at, numbers_of
from apps.semantic.uses.record import memory_uses

CONSOLIDATION, LAST = "consolidation", "last_memory"
# The number of a row of this hub, which is exported as the memory that has it.
CURSOR = ("cursor",)


class UseStore(PersonalStore):
    """Which applications got the memories of a user; and those of others by an application that has the user's name."""

    name = "memory_uses"
    order = 22
    models = (MemoryUse,)
    kinds = ("memory_use",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the uses of memories in scope, by memory and application; none where a filter is given."""
        if asked.filters:
            return
        scope = {f"memory__{name}": value for name, value in asked.scope.named().items()}
        columns, rows = Columns(MemoryUse), MemoryUse.objects.filter(memory__isnull=False, **scope)
        for row in rows.select_related("memory").order_by("memory_id", "app").iterator(1_000):
            yield {"kind": self.kinds[0], **columns.values(row), "memory": str(row.memory.uuid)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write those of memories that are here, and that have no row yet. Raises LineError."""
        columns, rows = Columns(MemoryUse), []
        known = dict(Memory.objects.filter(uuid__in=[line.get("memory") for line in lines]).values_list("uuid", "pk"))
        keys = {str(uuid): pk for uuid, pk in known.items()}
        for place, line in enumerate(lines):
            row = MemoryUse(**columns.read_at(place, line, {"memory"}))
            if (pk := keys.get(str(line.get("memory")))) is not None:
                row.memory_id = pk
                rows.append(row)
        hold_users({row.user_id for row in rows})
        before = MemoryUse.objects.count()
        MemoryUse.objects.bulk_create(rows, ignore_conflicts=True)
        return MemoryUse.objects.count() - before

    def count(self, user_id: str) -> int:
        """Return how many there are."""
        return MemoryUse.objects.filter(user_id=user_id).count() + len(named_elsewhere(user_id))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        """Delete them."""
        found = Q(user_id=user_id) | Q(pk__in=named_elsewhere(user_id))
        for count in delete_in_parts(MemoryUse.objects.filter(found)):
            step("memory uses")
            yield count

    def find(self, user_id: str) -> Iterator[str]:
        """Yield where one is left."""
        if self.count(user_id):
            yield "semantic_memoryuse"

    def drop_caches(self) -> None:
        """Drop what waits to be written."""
        memory_uses().drop()


def named_elsewhere(user_id: str) -> list[int]:
    """Return the keys of rows of others whose application has a user's name in its own."""
    rows = MemoryUse.objects.exclude(user_id=user_id).filter(app__regex=naming(user_id)).values_list("pk", "app")
    return [pk for pk, app in rows if names_user(app, user_id)]


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


register_stores((RoutingPolicyStore(), MemoryStore(), UseStore(), ReceiptStore(), BridgeStore(), ConsolidationStore()))
