"""Plain reads of embedding spaces; the door for reads without side effects."""

from apps.llm.models import EmbeddingSpace

__all__ = ["EmbeddingSpace", "active_space"]


def active_space() -> EmbeddingSpace | None:
    """Return the space that searches use; None before the first start."""
    return EmbeddingSpace.objects.filter(is_active=True).first()
