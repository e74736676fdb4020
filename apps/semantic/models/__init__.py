"""Memories, their vectors and their history, receipts of decisions about them, and orders to look for more."""

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
    "Conflict",
    "Consolidation",
    "ConsolidationMode",
    "Memory",
    "MemoryEmbedding",
    "MemoryRevision",
    "MemoryShard",
    "MemoryStatus",
    "Origin",
    "Outcome",
    "Policy",
    "ReviewState",
    "RevisionAction",
]
