"""The process's one embedder, created from the settings at the first use."""

from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from apps.core.per_process import PerProcess
from apps.llm.domain.embedder import Embedder, TextRole, Vectors
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import Precision


def get_embedder() -> Embedder:
    """Return the configured embedder, always the same object in one process. Raises EmbeddingUnavailableError."""
    return _embedder.get()


def embed_texts(texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
    """Return vectors of `texts` by the configured embedder; see `Embedder.embed`."""
    return get_embedder().embed(texts, role)


def known_share(text: str) -> float:
    """Return the share of a text that the configured embedder knows; see `Embedder.known_share`."""
    return get_embedder().known_share(text)


def reset_embedder() -> None:
    """Forget the embedder, so that the next use reads the settings again (for tests)."""
    _embedder.forget()


def build_embedder() -> Embedder:
    """Create the embedder of the settings. Raises EmbeddingUnavailableError."""
    config = settings.MEMORYHUB.embedding
    match config.embedder:
        case "e5":
            return E5Embedder(config.threads)
        case "minilm":
            return MiniLMEmbedder(Path(settings.MODELS_DIR), Precision(config.minilm_precision), config.threads)
        case "hashing":
            return HashingEmbedder()
        case "openai":
            # The SDK takes most of a second to import.
            from apps.llm.embedding.openai import OpenAIEmbedder

            return OpenAIEmbedder(
                base_url=config.openai_base_url,
                api_key=config.openai_api_key,
                model=config.openai_model,
                dimension=config.openai_dimension,
                timeout_seconds=config.openai_timeout_seconds,
            )
        case unknown:
            raise ValueError(f"MEMORYHUB_EMBEDDER is {unknown!r}; it must be minilm, e5, openai or hashing.")


_embedder = PerProcess(build_embedder)
