"""Vectors of the active embedding space, for writing and for searching."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from django.db import connection

from apps.core.domain.errors import InvalidInputError, UnavailableError
from apps.llm.domain.embedder import EmbeddingError, TextRole, normalise
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import EmbeddingSpaceMismatchError, configured_space, embed_texts

Vector = npt.NDArray[np.float32]
T = TypeVar("T")


class SpaceChangedError(UnavailableError):
    """The active embedding space is not the one that this process knew."""

    def __init__(self) -> None:
        super().__init__("The embedding model is being changed. Try again shortly.", code="embedding_space_changed")


class VectorsMissingError(Exception):
    """Nothing was written, because some texts have no vector yet; see `TextVectors.missing`."""


_space: EmbeddingSpace | None = None


def current_space() -> EmbeddingSpace:
    """Return the active space, as this process last knew it; what relies on it raises SpaceChangedError if it changed.

    Raises UnavailableError when the configured model makes vectors of another space than the active one.
    """
    global _space
    space = _space
    if space is None:
        try:
            space = _space = configured_space()
        except EmbeddingSpaceMismatchError as error:
            raise UnavailableError(str(error), retry_after=60, code="embedding_space_mismatch") from error
        except EmbeddingError as error:
            raise UnavailableError(str(error), code="embedding_unavailable") from error
    return space


def forget_space() -> None:
    """Let the next use query the database again."""
    global _space
    _space = None


def with_current_space(work: Callable[[EmbeddingSpace], T]) -> T:
    """Run `work` with the active space, and once more if that has changed since. It must be safe to repeat."""
    with suppress(SpaceChangedError):
        return work(current_space())
    forget_space()
    return work(current_space())


def hold_space(space: EmbeddingSpace) -> None:
    """Keep the active space from changing until the transaction ends. Raises SpaceChangedError if it has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM llm_embeddingspace WHERE id = %s AND is_active FOR SHARE", [space.pk])
        if cursor.fetchone() is None:
            raise SpaceChangedError


def embed(texts: Sequence[str], role: TextRole = TextRole.PASSAGE) -> npt.NDArray[np.float32]:
    """Return unit vectors, shape (len(texts), dimension). Raises UnavailableError when the model does not answer."""
    try:
        return embed_texts(texts, role)
    except EmbeddingError as error:
        raise UnavailableError("The embedding model does not answer.", code="embedding_unavailable") from error


def given_vector(vector: Vector, space: EmbeddingSpace) -> Vector:
    """Return a caller's vector at unit length.

    Raises InvalidInputError when its length is not the space's dimension.
    """
    if len(vector) != space.dimension:
        detail = f"Expected {space.dimension} numbers ({space.model}), got {len(vector)}."
        raise InvalidInputError(detail, attr="embedding", code="dimension")
    return normalise(vector)


@dataclass
class TextVectors:
    """Vectors of texts that arise inside a transaction, where no model may be called.

    missing: the texts that turned out to need one. While there are any, the transaction must not be committed. Until
    they are embedded, guesses take their place, so that further decisions are mostly about the right texts already and
    a chain of merges does not take a round for each link.
    """

    dimension: int
    missing: list[str] = field(default_factory=list)
    known: dict[str, Vector] = field(default_factory=dict)
    guessed: dict[str, Vector] = field(default_factory=dict)

    def of(self, text: str, parents: Sequence[Vector] = ()) -> Vector:
        """Return the vector of a text; while it is missing, the mean of those of the texts that it was made from.

        The mean has unit length, or is zero where they cancel each other out.
        """
        if text in self.known:
            return self.known[text]
        if text not in self.guessed:
            total: Vector = np.sum([np.zeros(self.dimension, dtype=np.float32), *parents], axis=0, dtype=np.float32)
            length = float(np.linalg.norm(total))
            self.guessed[text] = total / np.float32(length) if length > 0 else total
            self.missing.append(text)
        return self.guessed[text]

    def embed_missing(self) -> None:
        """Embed what is missing. Raises UnavailableError when the model does not answer."""
        self.known |= dict(zip(self.missing, embed(self.missing), strict=True))
        self.guessed, self.missing = {}, []
