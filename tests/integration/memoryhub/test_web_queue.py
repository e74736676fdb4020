"""The threads of a web process, and the requests that wait for one."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from memoryhub.web import queue
from memoryhub.web.queue import Lane, OverloadedError, RequestQueue

LONG = 30.0
Queue = RequestQueue[str]


class Work:
    """Work that notes when it runs, and lasts until it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._changed = threading.Condition()
        self._free = threading.Event()

    def named(self, name: str) -> Callable[[], str]:
        def run() -> str:
            with self._changed:
                self.begun.append(name)
                self._changed.notify_all()
            assert self._free.wait(LONG)
            return name

        return run

    def let_go(self) -> None:
        self._free.set()

    async def has_begun(self, count: int) -> None:
        def wait() -> None:
            with self._changed:
                assert self._changed.wait_for(lambda: len(self.begun) >= count, LONG)

        await asyncio.to_thread(wait)


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.let_go()


@pytest.fixture
def make_queue() -> Iterator[Callable[..., Queue]]:
    queues: list[Queue] = []

    def make(threads: int, wait_seconds: float = LONG) -> Queue:
        queues.append(RequestQueue(threads, wait_seconds))
        return queues[-1]

    yield make
    for one in queues:
        one.close(lambda: None)


def begin(queue: Queue, work: Work, name: str, lane: Lane = Lane.USUAL) -> asyncio.Task[str]:
    return asyncio.create_task(queue.run(work.named(name), lane))


MakeQueue = Callable[..., Queue]


def test_no_request_waits_longer_than_it_may(make_queue: MakeQueue, work: Work) -> None:
    waiting = make_queue(1, wait_seconds=0.05)

    async def scene() -> None:
        first = begin(waiting, work, "first")
        await work.has_begun(1)
        with pytest.raises(OverloadedError):
            await asyncio.wait_for(waiting.run(work.named("late"), Lane.USUAL), LONG)
        assert waiting.waiting == 0
        work.let_go()
        # What runs already is not ended by the limit of waiting.
        assert await first == "first"
        assert await waiting.run(work.named("next"), Lane.USUAL) == "next"

    asyncio.run(scene())
    assert work.begun == ["first", "next"]


def test_readiness_has_a_thread_when_all_others_are_busy(make_queue: MakeQueue, work: Work) -> None:
    waiting = make_queue(2)

    async def scene() -> None:
        busy = [begin(waiting, work, f"busy {number}") for number in range(4)]
        await work.has_begun(2)
        assert await asyncio.wait_for(waiting.run(lambda: "ready", Lane.READINESS), LONG) == "ready"
        assert len(work.begun) == 2
        work.let_go()
        await asyncio.gather(*busy)

    asyncio.run(scene())


def test_requests_of_many_items_leave_threads_to_others(make_queue: MakeQueue, work: Work) -> None:
    waiting = make_queue(4)

    async def scene() -> None:
        heavy = [begin(waiting, work, f"batch {number}", Lane.HEAVY) for number in range(6)]
        await work.has_begun(2)
        usual = [begin(waiting, work, f"save {number}") for number in range(2)]
        await work.has_begun(4)
        assert sorted(work.begun) == ["batch 0", "batch 1", "save 0", "save 1"]
        work.let_go()
        await asyncio.gather(*heavy, *usual)

    asyncio.run(scene())
    assert len(work.begun) == 8


def test_a_free_thread_goes_to_a_save_before_batches_that_came_earlier(make_queue: MakeQueue, work: Work) -> None:
    waiting = make_queue(1)

    async def scene() -> None:
        first = begin(waiting, work, "first")
        await work.has_begun(1)
        heavy = [begin(waiting, work, f"batch {number}", Lane.HEAVY) for number in range(2)]
        usual = [begin(waiting, work, f"save {number}") for number in range(2)]
        while waiting.waiting < 4:
            await asyncio.sleep(0)
        work.let_go()
        await asyncio.gather(first, *heavy, *usual)

    asyncio.run(scene())
    assert work.begun == ["first", "save 0", "save 1", "batch 0", "batch 1"]


def test_batches_fill_half_of_the_places_at_most(
    make_queue: MakeQueue, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 4)
    waiting = make_queue(1)

    async def scene() -> None:
        tasks = [begin(waiting, work, "first")]
        await work.has_begun(1)
        tasks += [begin(waiting, work, "batch", Lane.HEAVY) for _ in range(5)]
        tasks += [begin(waiting, work, "save") for _ in range(5)]
        while sum(task.done() for task in tasks) < 6:
            await asyncio.sleep(0.01)
        work.let_go()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(result, OverloadedError) for result in results] == (
            [False] + [False] * 2 + [True] * 3 + [False] * 2 + [True] * 3
        )

    asyncio.run(scene())


def test_one_who_goes_away_while_waiting_is_forgotten(make_queue: MakeQueue, work: Work) -> None:
    waiting = make_queue(1)

    async def scene() -> None:
        first = begin(waiting, work, "first")
        await work.has_begun(1)
        gone = begin(waiting, work, "gone")
        while not waiting.waiting:
            await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert waiting.waiting == 0
        work.let_go()
        await first

    asyncio.run(scene())
    assert work.begun == ["first"]


def test_an_error_reaches_the_one_who_waits_and_frees_the_thread(make_queue: MakeQueue) -> None:
    waiting = make_queue(1)

    def fail() -> str:
        raise ValueError("broken")

    async def scene() -> str:
        with pytest.raises(ValueError, match="broken"):
            await waiting.run(fail, Lane.USUAL)
        return await waiting.run(lambda: "fine", Lane.USUAL)

    assert asyncio.run(scene()) == "fine"
