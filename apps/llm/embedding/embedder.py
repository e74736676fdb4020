"""The process's one embedder, made from the settings at the first use."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from apps.llm.domain.embedder import Embedder, Vectors
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import Precision

_lock = threading.Lock()
_embedder: Embedder | None = None
_of_parents: list[Embedder] = []


def get_embedder() -> Embedder:
    """The configured embedder, always the same object in one process."""
    global _embedder
    if _embedder is None:
        with _lock:
            if _embedder is None:
                _embedder = _configured()
    return _embedder


def embed_texts(texts: Sequence[str]) -> Vectors:
    """Vectors of `texts` by the configured embedder; see `Embedder.embed`."""
    return get_embedder().embed(texts)


def reset_embedder() -> None:
    """Forget the embedder, so that the next use reads the settings again (for tests)."""
    global _embedder
    with _lock:
        _embedder = None


def _configured() -> Embedder:
    config = settings.MEMORYHUB.embedding
    match config.embedder:
        case "minilm":
            return MiniLMEmbedder(Path(settings.MODELS_DIR), Precision(config.minilm_precision), config.threads)
        case "openai":
            return _openai()
        case "hashing":
            return HashingEmbedder()
        case unknown:
            raise ValueError(f"MEMORYHUB_EMBEDDER is {unknown!r}; it must be minilm, openai or hashing.")


def _openai() -> Embedder:
    # The SDK takes most of a second to import.
    from apps.llm.embedding.openai import OpenAIEmbedder

    config = settings.MEMORYHUB.embedding
    return OpenAIEmbedder(
        base_url=config.openai_base_url,
        api_key=config.openai_api_key,
        model=config.openai_model,
        dimension=config.openai_dimension,
        timeout_seconds=config.openai_timeout_seconds,
    )


def _start_anew_in_child() -> None:
    """A forked child (a worker of django-q2) makes an embedder of its own.

    The parent's has threads and locks that did not come along; destroying it would wait for them, so it is
    kept unused.
    """
    global _embedder, _lock
    if _embedder is not None:
        _of_parents.append(_embedder)
    _lock, _embedder = threading.Lock(), None


os.register_at_fork(after_in_child=_start_anew_in_child)
