"""Readiness of semantic memory."""

from apps.core.domain.errors import UnavailableError
from apps.semantic.index.warm_up import warm_up
from apps.semantic.store.embedding_space import current_space, embed, forget_space

_warm = False


def embedding_ready() -> str | None:
    """Whether the embedding model is loaded, answers, and makes the vectors that are stored."""
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
    """Whether this process has loaded the large shards that it had before."""
    return warm_up().missing
