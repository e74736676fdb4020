"""Limits of time that hold beside other work."""

import time
from collections.abc import Callable

TRIES = 5


def assert_quick(work: Callable[[str], object], text: str, seconds: float) -> None:
    """Fail unless working on the text once takes at most so many seconds of this thread's processor.

    A neighbour that takes the caches of the processor away makes any single measurement several times as long. Later
    tries work on texts of their own, which no cache of the program knows.
    """
    taken = []
    for number in range(TRIES):
        began = time.thread_time()
        work("x " * number + text)
        taken.append(time.thread_time() - began)
        if taken[-1] <= seconds:
            return
    raise AssertionError(f"took {min(taken):.2f} seconds at best, more than {seconds}")
