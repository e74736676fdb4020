import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from apps.core.per_process import PerProcess
from apps.llm.domain.chat import Timeouts
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import QUESTION

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def succeeds_in_child(work: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether `work` is true in a forked child; one that does not end is killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_value_is_made_at_its_first_use_and_once():
    made: list[object] = []
    value = PerProcess(lambda: made.append(object()) or made[-1])
    assert made == []
    assert value.get() is value.get() is made[0]
    assert len(made) == 1


def test_threads_that_come_at_once_share_one_value():
    together = threading.Barrier(16)
    made: list[object] = []
    got: list[object] = []

    def make() -> object:
        time.sleep(0.01)
        made.append(object())
        return made[-1]

    value = PerProcess(make)

    def use() -> None:
        together.wait()
        got.append(value.get())

    threads = [threading.Thread(target=use) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(got)) == (1, 16)


def test_value_that_could_not_be_made_is_tried_again():
    attempts = iter([ValueError("not yet"), None])

    def make() -> str:
        trouble = next(attempts)
        if trouble:
            raise trouble
        return "made"

    value = PerProcess(make)
    with pytest.raises(ValueError, match="not yet"):
        value.get()
    assert value.get() == "made"


def test_child_makes_value_of_its_own_and_leaves_parents_alone():
    closed: list[str] = []

    class Client:
        def __del__(self) -> None:
            closed.append("closed")

    value = PerProcess(Client)
    parents = id(value.get())
    assert succeeds_in_child(lambda: id(value.get()) != parents and closed == [])


def test_child_does_not_wait_for_thread_that_it_does_not_have():
    began, may_end = threading.Event(), threading.Event()

    def make() -> int:
        if threading.current_thread() is not threading.main_thread():
            began.set()
            may_end.wait(30)
        return os.getpid()

    value = PerProcess(make)
    thread = threading.Thread(target=value.get)
    thread.start()
    began.wait(30)
    try:
        assert succeeds_in_child(lambda: value.get() == os.getpid(), seconds=10)
    finally:
        may_end.set()
        thread.join()


def test_forked_worker_asks_by_connections_of_its_own(server, connect, service):
    server.say(Reply())
    provider = connect(service, Timeouts(total=10))
    provider.complete(QUESTION)
    assert succeeds_in_child(lambda: provider.complete(QUESTION).text == "Hello there")
    provider.complete(QUESTION)
    first, childs, last = [received.connection for received in server.received]
    assert first == last != childs


def test_many_threads_ask_at_once(server, connect, service):
    server.choose = lambda number, received: Reply(chunks=(received.body["messages"][0]["content"],) * 3)
    provider = connect(service, Timeouts(total=30))
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(provider.complete(QUESTION).text), daemon=True)
        for _ in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [QUESTION.messages[0].content * 3] * 24
