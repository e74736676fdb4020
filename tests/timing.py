"""Limits of time that hold beside other work, and on machines of another speed."""

import re
import time
from collections import Counter
from collections.abc import Callable

TRIES = 5
# What `floor_seconds` took on the cores on which the limits were chosen: two, with little beside.
FLOOR_SECONDS = 0.055
_WORD = re.compile(r"\w+")


def floor_seconds() -> float:
    """Return how long this machine takes now for a fixed piece of work of Python, in seconds of the processor."""
    began = time.thread_time()
    text = " ".join(f"word{number} {number:x}" for number in range(15_000))
    counted = Counter(_WORD.findall(text.casefold()))
    sorted(counted, key=lambda word: (counted[word], word))
    return time.thread_time() - began


def assert_quick(work: Callable[[str], object], text: str, seconds: float) -> None:
    """Fail unless working on the text once takes at most so many seconds of this thread's processor.

    A neighbour that takes the caches of the processor away makes any single measurement several times as long. Later
    tries work on texts of their own, which no cache of the program knows. Where a fixed piece of work takes longer than
    it did where the limits were chosen, so may this.
    """
    taken = []
    for number in range(TRIES):
        taken.append(seconds_of(lambda number=number: work("x " * number + text)))  # type: ignore[misc]
        if taken[-1] <= seconds:
            return
        if taken[-1] <= seconds * floor_seconds() / FLOOR_SECONDS:
            return
    raise AssertionError(f"took {min(taken):.2f} seconds at best, more than {seconds}")


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long work takes, in seconds of this thread's processor."""
    began = time.thread_time()
    work()
    return time.thread_time() - began
