"""Memories with vectors and history, receipts, consolidations, the judge, and the bridge from the timeline."""

from apps.semantic.models.bridge import (
    AuditAction,
    BridgeAudit,
    Ingestion,
    IngestionStatus,
    OnPruneChoices,
    PruneReasonChoices,
    RoutingPolicy,
)
from apps.semantic.models.conflict import BY_RULES, IS_ASKED, Conflict, ConflictOutcome, Origin, ReviewState
from apps.semantic.models.consolidation import Consolidation, ConsolidationMode
from apps.semantic.models.judge import Judge, JudgedPair, JudgedPairState
from apps.semantic.models.memory import (
    MAX_TAG_CHARS,
    DecayPolicyChoices,
    EndedShards,
    Memory,
    MemoryEmbedding,
    MemoryRevision,
    MemoryShard,
    MemoryStatus,
    RevisionAction,
    half_lives,
)
from apps.semantic.models.recall import RecallCheck
