"""The embedder of this process, as configured."""

import threading
from collections.abc import Sequence

from django.conf import settings

from apps.llm.domain.embedder import Embedder, Vectors

_embedder: Embedder | None = None
_lock = threading.Lock()


def get_embedder() -> Embedder:
    """The configured embedder, made once per process. A model is loaded at its first use, not here."""
    global _embedder  # noqa: PLW0603
    if _embedder is None:
        with _lock:
            if _embedder is None:
                _embedder = _build()
    return _embedder


def reset_embedder() -> None:
    """Forget the embedder, so that the next use builds it from the settings as they are then."""
    global _embedder  # noqa: PLW0603
    with _lock:
        _embedder = None


def embed_texts(texts: Sequence[str]) -> Vectors:
    """Unit vectors of texts, shape (len(texts), dimension). Raises EmbeddingError."""
    return get_embedder().embed(texts)


def _build() -> Embedder:
    config = settings.MEMORYHUB.embedding
    if config.embedder == "hashing":
        from apps.llm.domain.hashing import HashingEmbedder

        return HashingEmbedder()
    if config.embedder == "openai":
        from apps.llm.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder.from_config(config)
    from apps.llm.minilm import MiniLMEmbedder

    return MiniLMEmbedder(settings.MODELS_DIR, config.minilm_precision, config.threads)
