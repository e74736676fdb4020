"""Problems that no change of a row reports are announced to browsers, by one process."""

import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.db import connection

from apps.core.models import HubProcess
from apps.monitor.watch import CHANNEL, ProblemWatch
from tests.integration.core.processes import beside

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heard() -> Iterator[Callable[[float], list[str]]]:
    """What browsers are told within some seconds, or until the first message."""
    parameters = connection.get_connection_params()
    with psycopg.connect(
        **{key: value for key, value in parameters.items() if key not in {"cursor_factory", "context"}}, autocommit=True
    ) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        yield lambda seconds: [one.payload for one in listener.notifies(timeout=seconds, stop_after=1)]


@pytest.fixture
def watch() -> Iterator[ProblemWatch]:
    watch = ProblemWatch()
    yield watch
    watch.let_go()


def test_change_is_announced_once(watch: ProblemWatch, heard: Callable[[float], list[str]]) -> None:
    beside("worker")
    assert watch.tick(), "what was wrong before is not known"
    assert heard(1.0) == ["health"]
    assert not watch.tick()
    HubProcess.objects.all().delete()
    assert watch.tick()
    assert heard(1.0) == ["health"]
    assert not watch.tick()


def test_one_process_judges_and_another_goes_on_when_it_ends(watch: ProblemWatch) -> None:
    assert watch.tick()
    other, judged = ProblemWatch(), []

    def tick() -> None:
        judged.append(other.tick())

    def in_thread(work: Callable[[], None]) -> None:
        thread = threading.Thread(target=lambda: (work(), connection.close()))
        thread.start()
        thread.join()

    in_thread(tick)
    watch.let_go()
    other = ProblemWatch()
    in_thread(tick)
    assert judged == [False, True]


def test_stopped_worker_reaches_browsers_in_two_seconds(heard: Callable[[float], list[str]]) -> None:
    beside("worker")
    watch = ProblemWatch()
    watch.begin()
    try:
        assert heard(10.0) == ["health"]
        HubProcess.objects.all().delete()
        assert heard(10.0) == ["health"]
    finally:
        watch.end(5.0)
