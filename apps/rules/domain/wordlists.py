"""Lists of words, written as text, and patterns of them."""

from collections.abc import Iterable


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def longest_first(alternatives: Iterable[str]) -> str:
    """Return alternatives of a pattern, the longest first, so that none hides one that it begins."""
    return "|".join(sorted(alternatives, key=len, reverse=True))
