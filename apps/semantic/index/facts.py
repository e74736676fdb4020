"""What a process publishes about the indexes in its memory."""

import hashlib
from typing import Any

from apps.semantic.index.cache import index_cache
from apps.semantic.index.health import index_guard
from apps.semantic.index.warm_up import warm_up

# So many indexes a process publishes on their own.
MAX_LARGE = 20


def user_mark(user: str) -> str:
    """Return what replaces the id of a user among published facts, which name no person."""
    return hashlib.sha256(user.encode()).hexdigest()[:16]


def large_index_facts() -> dict[str, list[int]]:
    """Return the largest indexes of this process: mark of the user -> memories, those in the graph, and bytes."""
    largest = index_cache().largest(MAX_LARGE)
    return {user_mark(one.user): [one.memories, one.covered, one.bytes] for one in largest}


def index_facts() -> dict[str, Any]:
    """Return the state of the indexes of this process: counts, level, and what is being loaded or built."""
    health, cache = index_guard().health, index_cache()
    making = cache.keeper.making
    return {
        **cache.describe(),
        "making": None if making is None else {"done": making[0], "of": making[1]},
        "missing": warm_up().missing,
        "level": health.level.value,
        "reasons": [reason.value for reason in health.reasons],
    }
