"""Embedding spaces."""

from apps.llm.models.embedding import EmbeddingSpace

__all__ = ["EmbeddingSpace"]
