"""The words by which two texts are compared, read once for each text."""

from apps.core.domain.caches import SizedCache
from apps.retrieval.domain.text.terms import query_terms

_cache = SizedCache("words of texts", megabytes=3, entry_bytes=700, char_bytes=12)


@_cache.remember
def distinct_terms(text: str) -> frozenset[str]:
    """Return the terms of a text. A text is compared with many others, so those of the last ones are remembered."""
    return frozenset(query_terms(text))
