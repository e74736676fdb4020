"""Plain reads of embedding spaces and calls; the door for reads without side effects."""

from apps.llm.models import EmbeddingSpace, ModelCall
from apps.llm.reasons import REASONS

__all__ = ["REASONS", "EmbeddingSpace", "ModelCall", "active_space"]


def active_space() -> EmbeddingSpace | None:
    """Return the space that searches use; None before the first start."""
    return EmbeddingSpace.objects.filter(is_active=True).first()
