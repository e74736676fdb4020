"""The process's one embedder, created from the settings at the first use."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError, ProgrammingError, transaction

from apps.core.per_process import PerProcess
from apps.llm.domain.embedder import Embedder, EmbeddingUnavailableError, TextRole, Vectors
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.hashing import HashingEmbedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import MODEL as MINILM
from apps.llm.embedding.minilm.source import Precision
from apps.llm.embedding.scales import scale_of
from apps.llm.selectors import active_space
from apps.retrieval.domain.vectors.scale import Scale


def get_embedder() -> Embedder:
    """Return the configured embedder, always the same object in one process. Raises EmbeddingUnavailableError."""
    return _embedder.get()


def embed_texts(texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
    """Return vectors of `texts` by the configured embedder; see `Embedder.embed`."""
    return get_embedder().embed(texts, role)


def known_share(text: str) -> float:
    """Return the share of a text that the configured embedder knows; see `Embedder.known_share`."""
    return get_embedder().known_share(text)


def current_scale() -> Scale:
    """Return what cosines of the configured embedder mean."""
    return scale_of(get_embedder().space)


def reset_embedder() -> None:
    """Forget the embedder, so that the next use reads the settings again."""
    _embedder.forget()


def follow_recorded() -> bool:
    """Take the embedder of the active space, where the settings leave it to the hub.

    Return whether they do. Raises EmbeddingUnavailableError.
    """
    if settings.MEMORYHUB.embedding.embedder != "auto":
        return False
    if get_embedder().space != read_recorded().space:
        reset_embedder()
    return True


def read_recorded() -> Embedder:
    """Create the local embedder by which the hub has its vectors; e5 for one that has none yet.

    Raises EmbeddingUnavailableError when the database does not say.
    """
    config, space = settings.MEMORYHUB.embedding, None
    try:
        # Before the first migration there is no table. A transaction around this one goes on.
        with suppress(ProgrammingError), transaction.atomic():
            space = active_space()
    except (OperationalError, InterfaceError) as error:
        message = f"The database does not say which embedder the hub has ({type(error).__name__})."
        raise EmbeddingUnavailableError(message, retryable=True) from error
    model, _, precision = space.model.partition("/") if space else ("", "", "")
    if model == MINILM and precision in list(Precision):
        return MiniLMEmbedder(Path(settings.MODELS_DIR), Precision(precision), config.threads)
    return E5Embedder(config.threads)


def build_embedder(name: str | None = None) -> Embedder:
    """Create the embedder of the settings, or another one by the name that it has there.

    Raises EmbeddingUnavailableError.
    """
    config = settings.MEMORYHUB.embedding
    match name or config.embedder:
        case "auto":
            return read_recorded()
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
            raise ValueError(f"MEMORYHUB_EMBEDDER is {unknown!r}; it must be auto, e5, minilm, openai or hashing.")


_embedder = PerProcess(build_embedder)
