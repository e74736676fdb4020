"""The stores of the memories, one for each group of tables that is exported and forgotten together."""

from apps.semantic.models import (
    Conflict,
    JudgedPair,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    RecallCheck,
)
from apps.semantic.personal.bridge import BridgeStore, RoutingPolicyStore
from apps.semantic.personal.consolidations import ConsolidationStore
from apps.semantic.personal.erase import MemoryErasure, ReceiptErasure
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


STORES = (RoutingPolicyStore(), MemoryStore(), UseStore(), ReceiptStore(), BridgeStore(), ConsolidationStore())
