"""Vectors of the texts of an index, found by sqlite-vec (spec 001, vector search)."""

import apsw


def prepare_vectors(connection: apsw.Connection) -> None:
    """Load the extension into a new connection."""


def vectors_problem() -> str:
    """Return why vectors are not used; nothing where they are."""
    return "vectors are not made yet"


def vectors_missing(connection: apsw.Connection) -> int:
    """Return how many texts have no vector."""
    return 0
