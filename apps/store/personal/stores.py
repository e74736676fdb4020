"""The store of what applications keep by key."""

from collections.abc import Iterator, Sequence

from apps.core.db.user_locks import hold_users
from apps.core.domain.scope import Scope
from apps.core.personal.columns import Columns
from apps.core.personal.registry import register_stores
from apps.core.personal.store import ExportRequest, Line, LineError, UserTable
from apps.store.models import StoreItem, digest_of

COLUMNS = Columns(StoreItem, without=("digest", "vectors"))


class ItemStore(UserTable):
    """Items, without their vectors, which the hub that loads them makes again."""

    name = "store_items"
    order = 89
    models = (StoreItem,)
    kinds = ("store_item",)

    def export(self, asked: ExportRequest) -> Iterator[Line]:
        """Yield the items in scope; none where a filter is given, which is about memories and events."""
        if asked.filters:
            return
        for row in StoreItem.objects.in_scope(asked.scope).defer("vectors").order_by("pk").iterator(200):
            yield {"kind": "store_item", **COLUMNS.values(row)}

    def load(self, lines: Sequence[Line]) -> int:
        """Write the items that the hub does not have. Raises LineError."""
        rows = []
        for place, line in enumerate(lines):
            row = StoreItem(**COLUMNS.read_at(place, line))
            if not row.user_id or not isinstance(row.value, dict):
                raise LineError(place, "an item has an owner, and a value that is an object")
            owner = Scope(row.user_id, row.household_id, row.persona_id)
            row.digest = digest_of(owner, tuple(row.namespace), row.key)
            rows.append(row)
        hold_users({row.user_id for row in rows})
        before = StoreItem.objects.count()
        StoreItem.objects.bulk_create(rows, ignore_conflicts=True)
        return StoreItem.objects.count() - before


register_stores((ItemStore(),))
