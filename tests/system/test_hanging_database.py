"""A database that hangs: every answer comes in time, and the hub recovers when the database does."""

import http.client
import json
import re
import signal
import threading
import time

import psutil
import pytest

from tests.system.hub import Hub, wait_for

pytestmark = pytest.mark.xdist_group("hub")

# What an answer may take while the database hangs; the watch decides after 2.25 seconds.
SECONDS = 3.0
# A machine that is busy with other tests.
ROOM = 2.0


@pytest.fixture(scope="module")
def hub(make_place):
    hub = Hub(make_place() / "hub", MEMORYHUB_WEB_PROCESSES="2")
    hub.make_cluster()
    hub.start()
    printed = re.search(r"Operator API key\s+(\S+)", hub.said())
    assert printed
    hub.key = printed[1]
    yield hub
    hub.end()


@pytest.fixture
def servers(hub):
    """The server and all its processes, which go on afterwards whatever happened."""
    top = psutil.Process(hub.database.pid)

    def everything() -> list[psutil.Process]:
        return [top, *top.children(recursive=True)]

    yield everything
    for process in everything():
        process.send_signal(signal.SIGCONT)


def ask(hub: Hub, path: str, body: object = None) -> tuple[int, float, bytes]:
    """Return status, seconds and text of an answer, on a connection of its own."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    headers = {"Authorization": f"Bearer {hub.key}", "Content-Type": "application/json"}
    try:
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, headers)
        response = connection.getresponse()
        return response.status, time.monotonic() - began, response.read()
    finally:
        connection.close()


def stop(servers) -> None:
    for process in servers():
        process.send_signal(signal.SIGSTOP)


def test_database_that_hangs_is_answered_503_in_three_seconds_and_recovers(hub, servers):
    assert ask(hub, "/readyz")[0] == 200
    stop(servers)
    answers: list[tuple[str, int, float]] = []

    def keep(path: str, body: object = None) -> None:
        answers.append((path, *ask(hub, path, body)[:2]))

    # More than have a thread, so that some wait for others.
    asked = [threading.Thread(target=keep, args=(path,)) for path in ["/readyz", "/api/semantic/status"] * 12]
    asked += [threading.Thread(target=keep, args=("/api/semantic/memories", {"content": "tea", "user_id": "ana"}))]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join()
    assert {status for _, status, _ in answers} == {503}
    assert max(seconds for *_, seconds in answers) < SECONDS + ROOM, sorted(answers, key=lambda one: one[2])[-5:]
    status, seconds, text = ask(hub, "/readyz")  # known by now
    assert (status, json.loads(text)["checks"]["database"]) == (503, "the database does not answer")
    assert seconds < 1 + ROOM
    assert ask(hub, "/healthz")[0] == 200

    for process in servers():
        process.send_signal(signal.SIGCONT)
    wait_for(lambda: ask(hub, "/readyz")[0] == 200, "recovery", patience=60)
    assert ask(hub, "/api/semantic/status")[0] == 200
    assert ask(hub, "/api/semantic/memories", {"content": "tea", "user_id": "ana"})[0] in (200, 201)
    wait_for(lambda: {ask(hub, "/readyz")[0] for _ in range(10)} == {200}, "all processes", patience=60)


def test_statement_that_takes_long_on_database_that_answers_is_not_ended(hub):
    code = (
        "from apps.core.db.watch import database_watch as w; from django.db import connection as c\n"
        "w().begin(); k = c.cursor(); k.execute('SELECT pg_sleep(5)'); print('slept', w().is_hanging)"
    )
    answer = hub.command("shell", "-v", "0", "-c", code)
    assert answer.stdout.strip() == "slept False", answer.stderr
