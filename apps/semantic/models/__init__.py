"""Memories, their vectors and their history."""

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
    "Memory",
    "MemoryEmbedding",
    "MemoryRevision",
    "MemoryShard",
    "MemoryStatus",
    "Policy",
    "RevisionAction",
]
