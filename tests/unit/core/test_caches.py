"""Caches that are bounded in bytes."""

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain import caches
from apps.core.domain.caches import MB, CacheState, SizedCache, cache_states, remember_words


@pytest.fixture(scope="module", autouse=True)
def own_list() -> Iterator[None]:
    """Leave no cache of these tests among those of the process, which other tests read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caches, "_states", [])
        yield


def shout(text: str) -> str:
    return text.upper() * 2


@given(texts=st.lists(st.text(max_size=400), max_size=200))
def test_cache_stays_under_its_bound(texts: list[str]) -> None:
    cache = SizedCache("test", 0.01, entry_bytes=100, char_bytes=10)
    remembered = cache.remember(shout)
    for text in texts:
        assert remembered(text) == shout(text)
        assert cache.state().bytes <= cache.bound
    assert cache.state().entries <= len(set(texts))


def test_result_is_worked_out_once() -> None:
    calls: list[str] = []
    remembered = SizedCache("test", 1).remember(lambda text: calls.append(text))
    for _ in range(3):
        remembered("tea")
    assert calls == ["tea"]


def test_what_was_asked_last_is_kept() -> None:
    calls: list[str] = []

    def measure(text: str) -> int:
        calls.append(text)
        return len(text)

    cache = SizedCache("test", 1_000 / MB, entry_bytes=100, char_bytes=0)
    remembered = cache.remember(measure)
    for number in range(10):
        remembered(f"text {number}")
    remembered("text 0")
    remembered("one more")
    remembered("text 0")
    remembered("text 1")
    assert calls[10:] == ["one more", "text 1"]


def test_large_result_drives_nothing_out() -> None:
    cache = SizedCache("test", 1_000 / MB, entry_bytes=100, char_bytes=1)
    remembered = cache.remember(shout)
    remembered("small")
    remembered("x" * 500)
    assert cache.state() == CacheState("test", 1, 105, 1_000)


def test_functions_of_one_cache_share_its_bound() -> None:
    cache = SizedCache("test", 1_000 / MB, entry_bytes=100, char_bytes=0)
    first, second = cache.remember(str.upper), cache.remember(str.lower)
    for number in range(20):
        assert (first(f"Tea {number}"), second(f"Tea {number}")) == (f"TEA {number}", f"tea {number}")
    assert cache.state().entries == 10


def test_many_threads_leave_the_count_right() -> None:
    cache = SizedCache("test", 5_000 / MB, entry_bytes=100, char_bytes=0)
    remembered = cache.remember(shout)

    def work(seed: int) -> None:
        for number in range(3_000):
            text = str(number * seed % 97)
            assert remembered(text) == shout(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.state().entries == 50
    assert cache.state().bytes == 5_000


def test_words_are_counted_by_the_largest() -> None:
    remembered = remember_words("test of words", entries=10, entry_bytes=100)(shout)
    for number in range(30):
        remembered(str(number))
    (state,) = [one for one in cache_states() if one.name == "test of words"]
    assert state == ("test of words", 10, 1_000, 1_000)
