"""The readiness checks of semantic memory, and what a process publishes about its index."""

from apps.core.domain.errors import UnavailableError
from apps.semantic.index.warm_up import index_facts, large_index_facts, warm_up
from apps.semantic.store.embedding_space import current_space, embed, forget_space

__all__ = ["embedding_ready", "index_facts", "index_ready", "large_index_facts"]

_warm = False


def embedding_ready() -> str | None:
    """Check that the embedding model is loaded, answers, and fits the stored vectors. Return what is missing."""
    global _warm
    try:
        forget_space()
        current_space()
        if not _warm:
            embed(["ready"])
            _warm = True
    except UnavailableError as error:
        return error.detail
    return None


def index_ready() -> str | None:
    """Check that this process has loaded the large indexes. Return what is missing."""
    return warm_up().missing
