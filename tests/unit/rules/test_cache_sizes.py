"""What the caches of read texts really take, filled far beyond their bounds."""

import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction import text
from apps.rules.domain.contradiction.english import updates
from apps.rules.domain.engine import detection, sentences
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import DetectionConfig
from benchmarks.texts import sentence

CACHES = {
    "analysed texts": text._cache,
    "statements": updates._claims,
    "sentences of texts": updates._sentences,
    "words of texts": sentences._cache,
}
# Of texts: several times what a twentieth of each cache takes.
MANY_CHARS = 40_000
SAID = datetime(2026, 1, 1, tzinfo=UTC)


def usual_texts() -> Iterator[str]:
    chance = random.Random(7)
    while True:
        yield " ".join(sentence(chance) for _ in range(chance.randint(1, 4)))


def texts_of_short_words() -> Iterator[str]:
    """Yield texts of which every word is new: nothing in them is shared with any other."""
    number = 0
    while True:
        number += 40
        words = [f"{value:x}q" for value in range(number, number + 40)]
        yield f"I {' '.join(words[:20])} is {' '.join(words[20:])}. My {words[0]} has {words[1]}."


def long_texts() -> Iterator[str]:
    chance = random.Random(8)
    while True:
        yield " ".join(sentence(chance) for _ in range(20))


def bytes_of(cache: SizedCache) -> int:
    """Return what is given back when a cache is cleared."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    cache.clear()
    gc.collect()
    return before - tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("texts", [usual_texts, texts_of_short_words, long_texts])
@pytest.mark.parametrize("name", CACHES)
def test_full_cache_takes_no_more_than_its_bound(
    name: str, texts: Callable[[], Iterator[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = CACHES[name]
    # A twentieth of the bound shows the same in less time: the sizes of entries are the same.
    monkeypatch.setattr(cache, "bound", cache.bound // 20)
    for one in CACHES.values():
        one.clear()
    tracemalloc.start()
    try:
        made, asked = texts(), 0
        records = (MemoryRecord(str(number), content, SAID) for number, content in enumerate(made))
        for one, other in pairwise(records):
            detection.detect(other, one, DetectionConfig())
            updates.claims_of(other.content)  # which texts of unknown words get to by themselves only seldom
            asked += len(other.content)
            if asked > MANY_CHARS:
                break
        assert cache.state().bytes > 0.8 * cache.bound
        assert bytes_of(cache) <= cache.bound
    finally:
        tracemalloc.stop()
