"""The processes of the web server: large bodies do not end them, and one that is stuck is replaced, and logged."""

import contextlib
import http.client
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.system.hub import Hub, wait_for

pytestmark = pytest.mark.xdist_group("another hub")

KEY = "a-key-of-an-operator-0123456789-0123456789"
PATIENCE_SECONDS = 5
SEARCH, BATCH = "/api/semantic/search", "/api/semantic/memories/batch"
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def hub(make_place: Any) -> Iterator[Hub]:
    hub = Hub(
        make_place() / "hub",
        MEMORYHUB_WEB_PROCESSES="2",
        MEMORYHUB_WEB_PATIENCE_SECONDS=str(PATIENCE_SECONDS),
        MEMORYHUB_API_KEY=KEY,
    )
    hub.make_cluster()
    hub.start()
    yield hub
    hub.end()


def web_processes(hub: Hub) -> list[psutil.Process]:
    """The processes that answer requests."""
    return hub.part("web").children()


def pids(hub: Hub) -> set[int]:
    return {process.pid for process in web_processes(hub)}


def call(hub: Hub, path: str, body: Any, key: str = KEY) -> tuple[int, Any]:
    """Status and answer to a POST; a body of bytes is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=120)
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with contextlib.closing(connection):
        with contextlib.suppress(ConnectionError):
            connection.request("POST", path, payload, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_every_address_that_up_prints_is_there(hub: Hub) -> None:
    printed = re.findall(r"https?://\S+", hub.said())
    assert len(printed) == 3
    for address in printed:
        assert hub.get(address.partition(f":{hub.port}")[2]) in {200, 301, 302}, address


def test_large_bodies_of_a_key_that_only_reads_end_no_process(hub: Hub) -> None:
    _, made = call(hub, "/api/keys", {"name": "reader", "permissions": "read", "unbound": True})
    before = pids(hub)
    for unit, size in ((b"[],", 57_000_000), (b"[],", 19_000_000), (b'"w",', 40_000_000), (b"[" * 100, 19_000_000)):
        body = b'{"query": [' + unit * (size // len(unit)) + b"0]}"
        assert call(hub, SEARCH, body, made["key"])[0] == 413
        assert hub.get("/healthz") == 200
    assert pids(hub) == before


def test_the_memory_of_a_large_batch_is_given_back(hub: Hub) -> None:
    text = "\U0001f642" * 5_000  # four bytes of a text for each character in it
    batch = json.dumps({"memories": [{"content": text, "user_id": 7}] * 900}, ensure_ascii=False).encode()
    assert len(batch) > 17 * MEGABYTE
    call(hub, BATCH, {"memories": [{"content": "tea", "user_id": "ana"}]})
    before = {process.pid: process.memory_info().rss for process in web_processes(hub)}
    for _ in range(6):
        assert call(hub, BATCH, batch)[0] == 200

    def is_given_back() -> bool:
        taken = [process.memory_info().rss - before[process.pid] for process in web_processes(hub)]
        return max(taken) < 100 * MEGABYTE

    wait_for(is_given_back, "the memory to come back", patience=20)


def test_a_stuck_process_is_replaced_and_the_log_says_why(hub: Hub) -> None:
    stuck, other = web_processes(hub)
    stuck.suspend()
    began = time.monotonic()
    wait_for(lambda: stuck.pid not in pids(hub), "the end of the stuck process")
    assert time.monotonic() - began > PATIENCE_SECONDS - 1
    wait_for(lambda: len(pids(hub)) == 2, "another process")
    assert other.pid in pids(hub)
    log = (hub.data_dir / "logs" / "web.log").read_text()
    assert f"web process {stuck.pid} is killed with the requests that it was answering" in log
    assert "MEMORYHUB_WEB_PATIENCE_SECONDS" in log
    wait_for(lambda: hub.get("/readyz") == 200, "readiness")


def test_a_killed_process_is_replaced_and_logged(hub: Hub) -> None:
    killed = web_processes(hub)[0]
    os.kill(killed.pid, signal.SIGKILL)
    wait_for(lambda: killed.pid not in pids(hub) and len(pids(hub)) == 2, "another process")
    assert f"web process {killed.pid} was ended by SIGKILL" in (hub.data_dir / "logs" / "web.log").read_text()
