"""Live push through a real Redis server: one process listens for all, another takes its place, outages are noticed."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from apps.live.listener import RELAY_LOCK
from tests.redis_server import Redis, needs_redis
from tests.system.hub import Hub, wait_for
from tests.system.test_live_processes import (
    SIGN_IN,
    save,
    socket_on_each,
    socket_to,
    wait_for_memories,
    wait_for_replacement,
)
from tests.system.test_web_server import KEY, web_processes

pytestmark = [
    pytest.mark.xdist_group("hub"),
    needs_redis,
]
ROOM = 3.0


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    redis = Redis()
    redis.start()
    yield redis
    redis.end()


@pytest.fixture(scope="module")
def hub(make_place: Any, redis: Redis) -> Iterator[Hub]:
    hub = Hub(make_place() / "hub", MEMORYHUB_WEB_PROCESSES="2", MEMORYHUB_API_KEY=KEY, REDIS_URL=redis.url)
    hub.make_cluster()
    hub.start()
    hub.key = KEY
    yield hub
    hub.end()


@pytest.fixture(scope="module")
def session(hub: Hub) -> str:
    return hub.shell(SIGN_IN)


def relays(hub: Hub) -> list[int]:
    """The processes of the database that hold the lock of the one that listens."""
    sql = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s"
    with hub.database.connect() as connection:
        return [pid for (pid,) in connection.execute(sql, [RELAY_LOCK]).fetchall()]


def test_one_process_listens_and_a_change_reaches_both(hub: Hub, session: str) -> None:
    wait_for(lambda: len(relays(hub)) == 1, "one process that listens", patience=30)
    with socket_on_each(hub, session) as sockets:
        save(hub)
        for socket in sockets.values():
            wait_for_memories(socket, 2 + ROOM)


def test_another_process_listens_when_the_one_that_did_is_killed(hub: Hub, session: str) -> None:
    for victim in [process.pid for process in web_processes(hub)]:
        with socket_on_each(hub, session) as sockets:
            [other] = [socket for pid, socket in sockets.items() if pid != victim]
            psutil.Process(victim).kill()
            time.sleep(2.5)  # a lock is asked for every two seconds
            while True:  # what was heard until now
                try:
                    other.recv(0)
                except TimeoutError:
                    break
            save(hub)
            wait_for_memories(other, 2 + ROOM)
        wait_for_replacement(hub, session, victim)
    wait_for(lambda: len(relays(hub)) == 1, "one process that listens", patience=30)


def test_sockets_end_while_redis_is_away_and_come_back_with_it(hub: Hub, session: str, redis: Redis) -> None:
    with socket_on_each(hub, session) as sockets:
        redis.end()
        for socket in sockets.values():
            with contextlib.suppress(Exception):
                while True:
                    socket.recv(30)
            assert socket.close_code == 1013
    redis.start()

    def is_open() -> bool:
        try:
            with socket_to(hub, session):
                return True
        except Exception:  # noqa: BLE001
            return False

    wait_for(is_open, "a socket", patience=30)
    with socket_on_each(hub, session) as sockets:
        save(hub)
        for socket in sockets.values():
            wait_for_memories(socket, 2 + ROOM)
    log = (hub.data_dir / "logs" / "web.log").read_text()
    assert "Traceback" not in log, log[-3_000:]
