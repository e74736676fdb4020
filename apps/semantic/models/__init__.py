"""Memories with vectors and history, receipts of decisions about them, orders to look for more, and the bridge."""

from apps.semantic.models.bridge import (
    AuditAction,
    BridgeAudit,
    Ingestion,
    IngestionStatus,
    OnPrune,
    PruneReason,
    RoutingPolicy,
)
from apps.semantic.models.conflict import Conflict, Origin, Outcome, ReviewState
from apps.semantic.models.consolidation import Consolidation, ConsolidationMode
from apps.semantic.models.memory import (
    MAX_TAG_CHARS,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    Policy,
    RevisionAction,
)

__all__ = [
    "MAX_TAG_CHARS",
    "AuditAction",
    "BridgeAudit",
    "Conflict",
    "Consolidation",
    "ConsolidationMode",
    "Ingestion",
    "IngestionStatus",
    "Memory",
    "MemoryEmbedding",
    "MemoryRevision",
    "MemoryShard",
    "MemoryStatus",
    "OnPrune",
    "Origin",
    "Outcome",
    "Policy",
    "PruneReason",
    "ReviewState",
    "RevisionAction",
    "RoutingPolicy",
]
