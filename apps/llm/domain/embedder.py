"""The interface of an embedder: texts in, vectors of one space out (DESIGN section 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class EmbeddingError(Exception):
    """Texts could not be turned into vectors. Its text never holds an embedded text or a key."""


class EmbeddingInputError(EmbeddingError):
    """The texts themselves cannot be embedded, by any model."""


class EmbeddingUnavailableError(EmbeddingError):
    """The model cannot be reached or loaded.

    retryable: the same call may succeed later with the same configuration.
    """

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class EmbeddingResponseError(EmbeddingError):
    """The model answered something that is not one vector per text, or a vector that cannot be compared."""


class EmbeddingDimensionError(EmbeddingResponseError):
    """Vectors have another length than the space of the embedder."""

    def __init__(self, expected: int, received: int) -> None:
        super().__init__(f"The embedding has {received} dimensions; {expected} are configured.")
        self.expected = expected
        self.received = received


@dataclass(frozen=True)
class EmbeddingSpaceId:
    """Vectors can be compared only inside one space: the same model (with its precision) and dimension."""

    model: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension} dimensions)"


class TextRole(StrEnum):
    """What a text is in a search: a question that is asked, or a passage that is stored and may answer it.

    Texts that are compared with each other, as in the detection of conflicts, are passages both.
    """

    PASSAGE = "passage"
    QUERY = "query"


class Embedder(Protocol):
    """Turns texts into vectors; safe to call from several threads at once."""

    @property
    def space(self) -> EmbeddingSpaceId:
        """Return the space of the vectors; known before any model is loaded."""
        ...

    def embed(self, texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> Vectors:
        """Return the vectors of `texts`, in their order: float32, shape (len(texts), dimension), rows of length 1.

        Every text has a vector, the empty one too. A model that knows no roles ignores it. Raises EmbeddingError.
        """
        ...

    def known_share(self, text: str) -> float:
        """Return the share of a text that the embedder's vocabulary knows, in [0, 1]; 1 where it does not say.

        Of a text that is mostly unknown the vector says little: texts with other words have nearly the same one.
        """
        ...


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` as a list.

    Raises EmbeddingInputError for a bare string (whose items would be its letters), for an item that is no
    string, and for one with a lone surrogate, which no encoding can carry.
    """
    if isinstance(texts, str):
        raise EmbeddingInputError("Give a list of texts, not one text.")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise EmbeddingInputError(f"Text {position} is a {type(text).__name__}, not a string.")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise EmbeddingInputError(f"Text {position} holds a lone surrogate at character {error.start}.") from None
    return list(texts)


def normalise(vectors: npt.ArrayLike) -> Vectors:
    """Return one vector or a matrix of row vectors as float32, scaled to length 1.

    Raises EmbeddingResponseError when a number is not finite or a vector is all zeros.
    """
    wide = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(wide).all():
        raise EmbeddingResponseError("The embedding holds a number that is not finite.")
    # Scaling by the largest component first keeps squares from overflowing or vanishing.
    largest = np.abs(wide).max(axis=-1, keepdims=True, initial=0.0)
    if not (largest > 0).all():
        raise EmbeddingResponseError("The embedding is all zeros, so it has no direction.")
    wide = wide / largest
    unit: Vectors = (wide / np.linalg.norm(wide, axis=-1, keepdims=True)).astype(np.float32)
    return unit
