"""The threads of a web process, and the requests that wait for one."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

MAX_WAITING = 64
# Threads that requests of many items leave to the others, where there are enough.
KEPT_FREE = 2
T = TypeVar("T")


class Lane(IntEnum):
    """Which requests go first. READINESS has a thread of its own; HEAVY leaves some threads to the others."""

    READINESS = 0
    USUAL = 1
    HEAVY = 2


class OverloadedError(Exception):
    """A request waited too long for a thread, or too many are waiting. Nothing was done for it."""


@dataclass(eq=False)
class Waiting(Generic[T]):
    """A request that waits for a thread."""

    work: Callable[[], T]
    lane: Lane
    answer: Future[T] = field(default_factory=Future)


class RequestQueue(Generic[T]):
    """Runs requests in a fixed number of threads, by lane and then in their order.

    At most MAX_WAITING wait, each at most so many seconds: a client can handle a refusal better than an answer after
    its own timeout. Requests of many items fill at most half of the places, and those about readiness none of them.
    """

    def __init__(self, threads: int, wait_seconds: float) -> None:
        self.wait_seconds = wait_seconds
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads + 1, thread_name_prefix="request")
        self._lock = threading.Lock()
        self._waiting: dict[Lane, deque[Waiting[T]]] = {lane: deque() for lane in Lane}
        self._running: dict[Lane, int] = dict.fromkeys(Lane, 0)

    @property
    def waiting(self) -> int:
        """Return how many requests wait."""
        return sum(map(len, self._waiting.values()))

    @property
    def running(self) -> int:
        """Return how many requests have a thread."""
        return sum(self._running.values())

    def is_full(self, lane: Lane) -> bool:
        """Return whether no more requests may wait in a lane."""
        usual, heavy = len(self._waiting[Lane.USUAL]), len(self._waiting[Lane.HEAVY])
        if lane is Lane.READINESS:
            return len(self._waiting[lane]) >= MAX_WAITING
        return usual + heavy >= MAX_WAITING or (lane is Lane.HEAVY and heavy >= MAX_WAITING // 2)

    async def run(self, work: Callable[[], T], lane: Lane) -> T:
        """Run work in a thread and return its result. Raises OverloadedError before it was begun."""
        entry = self._enter(work, lane)
        timer = asyncio.get_running_loop().call_later(self.wait_seconds, self._refuse, entry)
        try:
            return await asyncio.wrap_future(entry.answer)
        except asyncio.CancelledError:  # The client went away.
            self._withdraw(entry)
            raise
        finally:
            timer.cancel()

    def close(self, work: Callable[[], object]) -> None:
        """End the threads, after each has run some last work."""
        barrier = threading.Barrier(self.threads + 1)

        def last() -> None:
            barrier.wait()
            work()

        for future in [self._pool.submit(last) for _ in range(self.threads + 1)]:
            future.result()
        self._pool.shutdown()

    def _enter(self, work: Callable[[], T], lane: Lane) -> Waiting[T]:
        entry = Waiting(work, lane)
        with self._lock:
            if self.is_full(lane):
                raise OverloadedError
            self._waiting[lane].append(entry)
            self._start_next()
        return entry

    def _start_next(self) -> None:
        """Give free threads to those who wait; with the lock held."""
        for lane, entries in self._waiting.items():
            while entries and self._has_room(lane):
                entry = entries.popleft()
                if entry.answer.set_running_or_notify_cancel():
                    self._running[lane] += 1
                    self._pool.submit(self._run, entry)

    def _has_room(self, lane: Lane) -> bool:
        if lane is Lane.READINESS:
            return self._running[lane] < 1
        others = self._running[Lane.USUAL] + self._running[Lane.HEAVY]
        if lane is Lane.HEAVY and self._running[lane] >= max(1, self.threads - KEPT_FREE):
            return False
        return others < self.threads

    def _run(self, entry: Waiting[T]) -> None:
        try:
            result, error = entry.work(), None
        except BaseException as raised:  # noqa: BLE001  (it belongs to the one who waits for the answer)
            result, error = None, raised
        with self._lock:
            self._running[entry.lane] -= 1
            self._start_next()
        if error is not None:
            entry.answer.set_exception(error)
        else:
            entry.answer.set_result(result)  # type: ignore[arg-type]

    def _withdraw(self, entry: Waiting[T]) -> bool:
        """Take a request out of its lane; return whether it still waited there."""
        with self._lock:
            try:
                self._waiting[entry.lane].remove(entry)
            except ValueError:
                return False
            return True

    def _refuse(self, entry: Waiting[T]) -> None:
        if self._withdraw(entry):
            entry.answer.set_exception(OverloadedError())
