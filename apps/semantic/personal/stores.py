"""The stores of the memories, one for each group of tables that is exported and forgotten together."""

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
    RecallCheck,
)
from apps.semantic.personal.bridge import BridgeTransfer, RoutingPolicyStore
from apps.semantic.personal.consolidations import ConsolidationTransfer
from apps.semantic.personal.erase import BridgeErasure, ConsolidationErasure, MemoryErasure, ReceiptErasure
from apps.semantic.personal.memories import MemoryTransfer
from apps.semantic.personal.receipts import ReceiptTransfer
from apps.semantic.personal.uses import UseStore


class MemoryStore(MemoryErasure, MemoryTransfer):
    """Memories with their vectors and their history, and what is kept of their indexes."""

    name = "memories"
    order = 20
    models = (Memory, MemoryEmbedding, MemoryRevision, MemoryShard, RecallCheck)


class ReceiptStore(ReceiptErasure, ReceiptTransfer):
    """Receipts of conflicts, and what a chat model said of their pairs."""

    name = "receipts"
    order = 30
    models = (Conflict, JudgedPair)


class BridgeStore(BridgeErasure, BridgeTransfer):
    """The course of events that become memories, and the audit of those that were pruned."""

    name = "bridge"
    order = 40
    models = (Ingestion, BridgeAudit)


class ConsolidationStore(ConsolidationErasure, ConsolidationTransfer):
    """Where consolidations look, which may be one user's memories."""

    name = "consolidations"
    order = 50
    models = (Consolidation,)


STORES = (RoutingPolicyStore(), MemoryStore(), UseStore(), ReceiptStore(), BridgeStore(), ConsolidationStore())
