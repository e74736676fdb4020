"""Vectors of the active embedding space, for writing and for searching."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from apps.core.domain.errors import InvalidInputError, UnavailableError
from apps.llm.domain.embedder import EmbeddingError, normalise
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import EmbeddingSpaceMismatchError, embed_texts, ensure_space, get_embedder

Vector = npt.NDArray[np.float32]
T = TypeVar("T")


class SpaceChangedError(UnavailableError):
    """The active embedding space is not the one that this process knew."""

    def __init__(self) -> None:
        super().__init__("The embedding model is being changed. Try again shortly.", code="embedding_space_changed")


_space: EmbeddingSpace | None = None


def current_space() -> EmbeddingSpace:
    """The active space, as this process last knew it; who relies on it raises SpaceChangedError when it has changed.

    Raises UnavailableError when the configured model makes vectors of another space than the active one.
    """
    global _space
    space = _space
    if space is None:
        space = _space = _ask_for_space()
    return space


def forget_space() -> None:
    """Let the next use ask the database again."""
    global _space
    _space = None


def with_current_space(work: Callable[[EmbeddingSpace], T]) -> T:
    """Run `work` with the active space, and once more if that turns out to have changed. It must be safe to repeat."""
    with suppress(SpaceChangedError):
        return work(current_space())
    forget_space()
    return work(current_space())


def _ask_for_space() -> EmbeddingSpace:
    try:
        return ensure_space(get_embedder())
    except EmbeddingSpaceMismatchError as error:
        raise UnavailableError(str(error), retry_after=60, code="embedding_space_mismatch") from error
    except EmbeddingError as error:
        raise UnavailableError(str(error), code="embedding_unavailable") from error


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors, shape (len(texts), dimension). Raises UnavailableError when the model does not answer."""
    try:
        return embed_texts(texts)
    except EmbeddingError as error:
        raise UnavailableError("The embedding model does not answer.", code="embedding_unavailable") from error


def given_vector(vector: Vector, space: EmbeddingSpace) -> Vector:
    """A caller's vector at unit length. Raises InvalidInputError when its length is not the space's dimension."""
    if len(vector) != space.dimension:
        detail = f"Expected {space.dimension} numbers ({space.model}), got {len(vector)}."
        raise InvalidInputError(detail, attr="embedding", code="dimension")
    return normalise(vector)
