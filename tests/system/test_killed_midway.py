"""What was answered survives: parts of a hub are killed while applications save through it."""

import http.client
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.hub import Hub, unlike, wait_for

pytestmark = pytest.mark.xdist_group("hub")

KEY = "the-key-of-this-test-0123456789abcdef"
BATCH = 40
WRITERS = 3


@pytest.fixture(scope="module")
def hub(make_place: Callable[[], Path]) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub", MEMORYHUB_API_KEY=KEY)
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


def call(hub: Hub, method: str, path: str, body: Any = None) -> tuple[int, Any] | None:
    """Status and answer, or None when the connection broke before the answer was whole."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=30)
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


class Writer(threading.Thread):
    """Saves batch after batch and keeps the ids of everything that was answered."""

    def __init__(self, hub: Hub, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.hub, self.answered, self.refused = hub, set[str](), 0
        self.stopped = threading.Event()

    def run(self) -> None:
        for _ in range(10_000):
            if self.stopped.is_set():
                return
            contents = [unlike() for _ in range(BATCH)]
            memories = [{"content": content, "user_id": self.name} for content in contents]
            answer = call(self.hub, "POST", "/api/semantic/memories/batch", {"memories": memories})
            if answer is None or answer[0] >= 500:
                self.refused += 1
                self.stopped.wait(0.05)
            else:
                assert answer[0] == 200
                self.answered |= {item["memory"]["id"] for item in answer[1]["results"]}


def stored(hub: Hub, user: str) -> list[str]:
    """The ids of all memories of a user, page by page."""
    ids: list[str] = []
    path = f"/api/semantic/memories?user_id={user}&limit=200"
    while path:
        status, page = call(hub, "GET", path) or (0, {})
        assert status == 200
        ids += [memory["id"] for memory in page["results"]]
        path = (page["next"] or "").partition(f":{hub.port}")[2]
    return ids


def kill_web(hub: Hub) -> None:
    web = hub.part("web")
    for process in [*web.children(recursive=True), web]:
        process.kill()


def kill_database(hub: Hub) -> None:
    os.kill(hub.database.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_web, kill_database])
def test_killing_part_in_middle_of_batches_loses_nothing_that_was_answered(
    hub: Hub, kill: Callable[[Hub], None]
) -> None:
    writers = [Writer(hub, f"{kill.__name__}-{n}") for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    wait_for(lambda: all(len(writer.answered) >= 2 * BATCH for writer in writers), "the first answers")
    kill(hub)
    wait_for(lambda: any(writer.refused for writer in writers), "somebody to notice")
    before = [len(writer.answered) for writer in writers]
    wait_for(lambda: all(len(w.answered) > n + BATCH for w, n in zip(writers, before, strict=True)), "recovery")
    for writer in writers:
        writer.stopped.set()
    for writer in writers:
        writer.join(60)
        ids = stored(hub, writer.name)
        assert len(ids) == len(set(ids))
        assert len(ids) % BATCH == 0, "a batch is stored whole or not at all"
        assert writer.answered <= set(ids)
