"""Reads of `llm`."""

from apps.llm.models import EmbeddingSpace


def active_space() -> EmbeddingSpace | None:
    """The space of the vectors that searches use; None before the first vector was made."""
    return EmbeddingSpace.objects.filter(is_active=True).first()
