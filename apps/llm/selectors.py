"""Reads of embedding spaces."""

from apps.llm.models import EmbeddingSpace


def active_space() -> EmbeddingSpace | None:
    """The space that searches use; None before the first start."""
    return EmbeddingSpace.objects.filter(is_active=True).first()
