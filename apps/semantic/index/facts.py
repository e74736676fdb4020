"""What a process publishes about the indexes in its memory."""

from typing import Any

from apps.semantic.index.cache import index_cache
from apps.semantic.index.health import index_guard
from apps.semantic.index.warm_up import warm_up


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
