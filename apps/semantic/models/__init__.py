"""Memories, their vectors and their history, and the receipts of decisions about them."""

from apps.semantic.models.conflict import Conflict, Origin, Outcome, ReviewState
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
