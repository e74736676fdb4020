"""Two hosts of one hub: two data directories and ports, one database, one Redis, one bucket, one folder of notes.

Without a Redis server each host listens itself, and without moto the hosts share the folder of the timeline.
"""

import contextlib
import http.client
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase, database_settings
from tests.api import MEMORIES, SEARCH
from tests.buckets import new_bucket, running_store
from tests.nginx import ANSWERED_BY, Proxy, needs_nginx, proxy_before
from tests.redis_server import REDIS, Redis
from tests.system.hub import Hub, unlike, wait_for
from tests.system.test_backup import MOVE
from tests.system.test_live_processes import ROOM, SIGN_IN, save, socket_to, wait_for_memories
from tests.system.test_web_processes import ask
from tests.system.test_web_server import KEY

pytestmark = pytest.mark.xdist_group("hub")

ENTRIES = "/api/memory/main/entries"
# What is mounted into each data directory.
SHARED = ("prompts",)
AT_ONCE, ENTRIES_OF_EACH = 4, 10

Hosts = tuple[Hub, Hub]
# What is written while hosts are killed: where, and how a text is sent.
WRITES: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "memories": (MEMORIES, lambda text: {"content": text}),
    "events": (
        "/api/episodic/events",
        lambda text: {"content": text, "event_type": "message", "timestamp": "2026-03-04T12:00:00Z"},
    ),
    "notes": (ENTRIES, lambda text: {"entry": text}),
    "conversations": (
        "/api/auto-memory/sessions/talk/messages",
        lambda text: {"messages": [{"role": "user", "content": text}]},
    ),
}
KEPT = """
import json
from apps.episodic.models import TimelineEvent
from apps.notes.models import ConversationMessage
from apps.semantic.models import Memory
tables = {"memories": Memory, "events": TimelineEvent, "conversations": ConversationMessage}
rows = {name: table.objects.filter(user_id="dora") for name, table in tables.items()}
print(json.dumps({name: list(found.values_list("content", flat=True)) for name, found in rows.items()}))
"""


@pytest.fixture(scope="module")
def url(make_place: Any) -> Iterator[str]:
    """The address of a database that has nothing but its tables."""
    place = Hub(make_place() / "database")
    place.make_cluster()
    with DatabaseLease(EmbeddedDatabase(place.data_dir, durable=False)):
        known = database_settings(place.data_dir)
        yield f"postgresql://{known['USER']}@{quote(known['HOST'], safe='')}/{known['NAME']}"


@pytest.fixture(scope="module")
def engines(url: str) -> Iterator[dict[str, str]]:
    """What both hosts are told of the engines that they share, as far as these are here."""
    shared = {"DATABASE_URL": url, "MEMORYHUB_API_KEY": KEY, "MEMORYHUB_SECRET_KEY": "secret " * 10}
    with contextlib.ExitStack() as stack:
        if REDIS is not None:
            redis = Redis()
            redis.start()
            stack.callback(redis.end)
            shared["REDIS_URL"] = redis.url
        if find_spec("moto") is not None:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            port = stack.enter_context(running_store())
            name = new_bucket(patch, port)
            shared |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
            shared["MEMORYHUB_FILES_URL"] = f"s3://{name}/hub"
        yield shared


@pytest.fixture(scope="module")
def hosts(engines: dict[str, str], make_place: Any) -> Iterator[Hosts]:
    place = make_place()
    made = []
    for name in ("first", "second"):
        for folder in (*SHARED, *(() if "MEMORYHUB_FILES_URL" in engines else ("timeline",))):
            (place / "shared" / folder).mkdir(parents=True, exist_ok=True)
            (place / name).mkdir(exist_ok=True)
            (place / name / folder).symlink_to(place / "shared" / folder)
        hub = Hub(place / name, **engines)
        hub.key = KEY
        hub.make_static()
        made.append(hub)
    first, second = made
    try:
        first.start()
        second.start()
        yield first, second
    finally:
        for hub in made:
            hub.end()


@pytest.fixture(scope="module")
def proxy(hosts: Hosts, make_place: Any) -> Iterator[Proxy]:
    """The proxy of `deploy/` before both hosts."""
    with proxy_before(hosts, make_place()) as proxy:
        yield proxy


def answered_by(proxy: Proxy, key: str) -> str:
    """Return the address of the host that answers requests of a key, which nobody has."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", "/api/semantic/status", headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        assert response.status == 401, response.read()
        return response.headers[ANSWERED_BY]


@pytest.fixture(scope="module")
def session(hosts: Hosts) -> str:
    """A browser's session of an operator."""
    return hosts[0].shell(SIGN_IN)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [done.result() for done in [threads.submit(call) for call in calls]]


def found(hub: Hub, query: str, user: str) -> list[str]:
    status, answer = ask(hub, "POST", SEARCH, {"query": query, "user_id": user, "limit": 50})
    assert status == 200, answer
    return [one["memory"]["content"] for one in answer["results"]]


def test_what_one_host_saves_the_other_finds_at_once(hosts: Hosts) -> None:
    for number in range(10):
        here, there = hosts if number % 2 else hosts[::-1]
        content = unlike()
        assert ask(here, "POST", MEMORIES, {"content": content, "user_id": "ana"})[0] == 201
        assert content in found(there, content, "ana")


def test_equal_saves_on_both_hosts_are_one_memory(hosts: Hosts) -> None:
    contents = [unlike() for _ in range(5)]
    for number in range(5):
        body = {"content": contents[number], "user_id": "ben"}
        answers = at_once(*[partial(ask, hub, "POST", MEMORIES, body) for hub in (*hosts, *hosts)])
        assert {status for status, _ in answers} <= {200, 201, 503}, answers
        assert [status for status, _ in answers].count(201) <= 1
    for hub in hosts:
        _, listed = ask(hub, "GET", f"{MEMORIES}?user_id=ben", None)
        assert sorted(one["content"] for one in listed["results"]) == sorted(contents)


def test_entries_of_both_hosts_are_all_in_the_note(hosts: Hosts) -> None:
    def write(hub: Hub, name: str) -> list[int]:
        return [
            ask(hub, "POST", ENTRIES, {"user_id": "cleo", "entry": f"{name} {number}"})[0]
            for number in range(ENTRIES_OF_EACH)
        ]

    writers = [(hub, f"writer {number} of port {hub.port}") for hub in hosts for number in range(AT_ONCE)]
    statuses = list(chain(*at_once(*[partial(write, *one) for one in writers])))
    assert set(statuses) == {201}, statuses
    for hub in hosts:
        _, note = ask(hub, "GET", "/api/memory/main?user_id=cleo", None)
        for _, name in writers:
            assert all(note["text"].count(f"{name} {number}\n") == 1 for number in range(ENTRIES_OF_EACH))


def test_of_two_hosts_that_undo_the_same_one_does(hosts: Hosts) -> None:
    first, second = hosts
    for content in ("Ana lives in Lisbon.", "Ana does not live in Lisbon."):
        status, saved = ask(first, "POST", MEMORIES, {"content": content, "user_id": "erin"})
        assert status in {200, 201}, saved
    receipt = saved["conflict"]
    for path, body in (("override", {"winner": "existing"}), ("revert", {})):
        address = f"/api/semantic/conflicts/{receipt}/{path}"
        answers = at_once(*[partial(ask, hub, "POST", address, body) for hub in (*hosts, *hosts)])
        [done] = [answer for status, answer in answers if status < 300]
        refused = {answer["errors"][0]["code"] for status, answer in answers if status >= 300}
        assert refused <= {"already_overridden", "already_reverted", "changed_since"}, answers
        receipt = done["id"]
    assert found(first, "where does Ana live?", "erin") == found(second, "where does Ana live?", "erin")


def recorded(hub: Hub, query: dict[str, Any]) -> list[str]:
    """Return the events that a host answers."""
    status, answer = ask(hub, "POST", "/api/episodic/query", {"user_id": "fay", "top_k": 100, **query})
    assert status == 200, answer
    return [one["content"] for one in answer["results"]]


def test_archived_events_of_one_host_are_answered_by_the_other(hosts: Hosts) -> None:
    first, second = hosts
    contents = [unlike() for _ in range(40)]
    for number, content in enumerate(contents):
        event = {"timestamp": f"2026-03-04T12:{number:02}:00Z", "event_type": "message", "content": content}
        assert ask(hosts[number % 2], "POST", "/api/episodic/events", {**event, "user_id": "fay"})[0] == 201
    first.shell(MOVE, MEMORYHUB_TIMELINE_ARCHIVE_AFTER_HOURS="0")
    for hub in hosts:
        status, answer = ask(hub, "GET", "/api/episodic/status", None)
        assert (status, answer["events"]["archived"]) == (200, 40), answer
        assert sorted(recorded(hub, {})) == sorted(contents)
    assert recorded(first, {}) == recorded(second, {})


def test_pages_of_one_host_hear_of_what_another_saves(hosts: Hosts, session: str) -> None:
    for here, there in (hosts, hosts[::-1]):
        with socket_to(here, session) as socket:
            save(there)
            wait_for_memories(socket, 2 + ROOM)


@needs_nginx
def test_the_proxy_keeps_requests_of_one_key_on_one_host(proxy: Proxy, hosts: Hosts) -> None:
    places = [{answered_by(proxy, f"key-{number}") for _ in range(3)} for number in range(20)]
    assert {len(each) for each in places} == {1}
    assert set.union(*places) == {f"127.0.0.1:{hub.port}" for hub in hosts}


@needs_nginx
def test_pages_behind_the_proxy_hear_of_what_each_host_saves(proxy: Proxy, hosts: Hosts, session: str) -> None:
    for hub in hosts:
        with socket_to(proxy, session) as socket:
            save(hub)
            wait_for_memories(socket, 2 + ROOM)


def write_until(is_over: threading.Event, acknowledged: set[str], hub: Hub, kind: str) -> None:
    """Write one text after the other, and note those that were answered. The host may be gone in between."""
    path, body = WRITES[kind]
    while not is_over.is_set():
        content = unlike()
        try:
            status, answer = ask(hub, "POST", path, {**body(content), "user_id": "dora"})
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            is_over.wait(0.05)
            continue
        if status == 201:
            acknowledged.add(content)
        else:
            assert status == 503, (kind, status, answer)


def kill_host(hub: Hub) -> None:
    """Kill all processes of a host."""
    for process in hub.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    assert hub.process is not None
    hub.process.wait()


def test_nothing_acknowledged_is_missing_after_each_host_was_killed_in_turn(hosts: Hosts) -> None:
    """Memories, events, notes and conversations. The first host is gone afterwards."""
    first, second = hosts
    acknowledged: dict[str, set[str]] = {kind: set() for kind in WRITES}
    is_over = threading.Event()

    def wait_for_more() -> None:
        before = {kind: len(texts) for kind, texts in acknowledged.items()}
        wait_for(lambda: all(len(texts) >= before[kind] + 15 for kind, texts in acknowledged.items()), "more writes")

    def kill() -> None:
        try:
            wait_for_more()
            kill_host(second)
            wait_for_more()
            second.start()
            wait_for_more()
            kill_host(first)
            wait_for_more()
        finally:
            is_over.set()

    at_once(kill, *[partial(write_until, is_over, acknowledged[kind], hub, kind) for hub in hosts for kind in WRITES])
    kept = json.loads(second.shell(KEPT))
    _, note = ask(second, "GET", "/api/memory/main?user_id=dora", None)
    kept["notes"] = [text for text in acknowledged["notes"] for _ in range(note["text"].count(text))]
    for kind, texts in acknowledged.items():
        assert len(kept[kind]) == len(set(kept[kind])), kind
        assert texts <= set(kept[kind]), kind
    memories = sorted(acknowledged["memories"])
    for content in memories[:: len(memories) // 10]:
        assert content in found(second, content, "dora")
    print({kind: len(texts) for kind, texts in acknowledged.items()}, "were acknowledged, and are there once")


@needs_nginx
def test_the_proxy_sends_everything_to_the_host_that_is_left(proxy: Proxy, hosts: Hosts) -> None:
    """The last one, since a host was killed before it."""
    _, second = hosts
    assert {answered_by(proxy, f"key-{number}").split(", ")[-1] for number in range(20)} == {f"127.0.0.1:{second.port}"}
