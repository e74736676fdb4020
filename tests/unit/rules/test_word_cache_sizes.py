"""What the caches of words really take when every word is as large as it can be."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from apps.retrieval.domain.text import terms
from apps.rules.domain.contradiction import lexicon, text

# As they are kept at the most, and of as many parts as fit.
CACHES: dict[str, tuple[Any, int, Callable[[int], tuple[Any, ...]]]] = {
    "tokens of the text pipeline": (terms._cached_token, 3_500, lambda n: (f"{n:05d}abBcCdDeEfFgGhHiIjJ"[:24],)),
    "hashes": (terms.term_hash, 600, lambda n: (f"{n:05d}" + "\N{GOTHIC LETTER AHSA}" * 59,)),
    "stems": (terms.language_term, 900, lambda n: (f"{n:05d}" + "\N{CYRILLIC SMALL LETTER YA}" * 59, "french")),
    "tokens of statements": (text._known_tokens, 3_500, lambda n: ("word", f"{n:05d}-a-b-c-d-e-f-g-h-i"[:24], True)),
    "keys": (lexicon.key_of, 900, lambda n: (f"{n:05d}" + "\N{GOTHIC LETTER AHSA}" * 59,)),
}


@pytest.mark.parametrize("name", CACHES)
def test_no_word_takes_more_than_is_counted(name: str) -> None:
    remembered, entry_bytes, arguments = CACHES[name]
    remembered.cache_clear()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(2_000):
            remembered(*arguments(number))
        gc.collect()
        kept = remembered.cache_info().currsize
        assert kept == 2_000
        assert tracemalloc.get_traced_memory()[0] - before <= kept * entry_bytes
    finally:
        tracemalloc.stop()
        remembered.cache_clear()
