"""The stores of the memories, one for each group of tables that is exported and forgotten together."""

from apps.core.personal.store import PersonalStore
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.models import (
    BridgeAudit,
    Conflict,
    Consolidation,
    Ingestion,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
)


class MemoryStore(PersonalStore):
    """Memories with their vectors and their history, and what indexes were built of them."""

    name = "memories"
    order = 20
    models = (Memory, MemoryEmbedding, MemoryRevision, MemoryShard)
    filter_fields = MEMORY_FIELDS


class ReceiptStore(PersonalStore):
    """Receipts of conflicts, and what a chat model said of their pairs."""

    name = "receipts"
    order = 30
    models = (Conflict, JudgedPair)


class BridgeStore(PersonalStore):
    """The course of events that become memories, and the audit of those that were pruned."""

    name = "bridge"
    order = 40
    models = (Ingestion, BridgeAudit)


class ConsolidationStore(PersonalStore):
    """Where consolidations look, which may be one user's memories."""

    name = "consolidations"
    order = 50
    models = (Consolidation,)


STORES = (MemoryStore(), ReceiptStore(), BridgeStore(), ConsolidationStore())
