"""Vectors of the active embedding space, for writing and for searching."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apps.core.domain.errors import InvalidInputError, UnavailableError
from apps.llm.domain.embedder import EmbeddingError, normalise
from apps.llm.embedding import embed_texts, get_embedder
from apps.llm.models import EmbeddingSpace
from apps.llm.services import EmbeddingSpaceMismatchError, ensure_space

Vector = npt.NDArray[np.float32]


def current_space() -> EmbeddingSpace:
    """The active space. Raises UnavailableError when the configured model makes vectors of another one."""
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
