"""Exports over real connections: sent while they are read, beside other requests, and given up with their clients."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from pathlib import Path

import pytest
from django.db import connection

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.pages import streams
from apps.core.rest.export import EXPORTS_AT_ONCE
from apps.episodic.domain.event import EventDraft
from apps.episodic.services import events_record
from tests.api import MEMORIES, api_for
from tests.integration.memoryhub.web import PATIENCE, WebServer, head_of, serving
from tests.integration.personal.hubs import NOW, exported

pytestmark = pytest.mark.django_db(transaction=True)
# More than sockets hold, so that a client who takes nothing keeps the server waiting.
LARGE, EVENTS = "x" * 90_000, 120
PATH = "/api/export?user_id=ana"
# A slow client takes so much slowly, and then the rest.
SLOWLY = 4_000_000
IN_EXPORT = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE 'FETCH%%'"


@pytest.fixture
def bearer(timeline_dir: Path) -> dict[str, str]:
    """The header of a key of ana's, who has events of ten megabytes."""
    drafts = [EventDraft(NOW, "note", f"{number} {LARGE}", Scope("ana")) for number in range(EVENTS)]
    events_record(access=system_access("test"), drafts=drafts)
    return another_key()


def another_key() -> dict[str, str]:
    """The header of one more key of ana's."""
    return {"Authorization": f"Bearer {api_for(Scope(user_id='ana'), Permission.READ).key}"}


def begin(server: WebServer, bearer: dict[str, str]) -> tuple[HTTPConnection, HTTPResponse]:
    """Begin an export, once the one before has given its place back."""
    deadline = time.monotonic() + PATIENCE
    while True:
        client = ask(server, bearer)
        answer = client.getresponse()
        if answer.status == 200:
            return client, answer
        assert (answer.status, time.monotonic() < deadline) == (503, True)
        time.sleep(0.05)


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving() as server:
        yield server


def ask(server: WebServer, bearer: dict[str, str], path: str = PATH) -> HTTPConnection:
    """Return a connection over which a request was sent."""
    client = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    client.request("GET", path, headers=bearer)
    return client


def running_exports() -> int:
    with connection.cursor() as cursor:
        cursor.execute(IN_EXPORT)
        return int(cursor.fetchone()[0])


def await_exports(count: int) -> None:
    """Wait until so many exports read the database."""
    deadline = time.monotonic() + PATIENCE
    while running_exports() != count:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_export_over_http_is_the_one_of_the_command(server: WebServer, bearer: dict[str, str]) -> None:
    answer = ask(server, bearer).getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/x-ndjson")
    assert answer.read() == exported(Scope("ana"))
    await_exports(0)


def test_other_requests_are_answered_while_clients_take_nothing(server: WebServer, bearer: dict[str, str]) -> None:
    stalled = [ask(server, bearer), *(ask(server, another_key()) for _ in range(EXPORTS_AT_ONCE - 1))]
    answers = [client.getresponse() for client in stalled]
    refused = ask(server, another_key()).getresponse()
    assert (refused.status, refused.headers["Retry-After"]) == (503, "10")
    assert json.loads(refused.read())["errors"][0]["code"] == "unavailable"
    assert ask(server, bearer, MEMORIES).getresponse().status == 200
    # Those who waited get the rest, which is still of the moment at which they began.
    events_record(access=system_access("test"), drafts=[EventDraft(NOW, "note", "later", Scope("ana"))])
    for answer in answers:
        assert json.loads(answer.read().splitlines()[-1])["lines"] == {"event": EVENTS}
    await_exports(0)
    begin(server, bearer)


def test_a_key_has_one_export_at_a_time(server: WebServer, bearer: dict[str, str]) -> None:
    _, stalled = begin(server, bearer)
    refused = ask(server, bearer).getresponse()
    assert (refused.status, refused.headers["Retry-After"]) == (503, "10")
    _, other = begin(server, another_key())
    assert stalled.read() == other.read() == exported(Scope("ana"))
    begin(server, bearer)


def test_a_client_that_leaves_takes_its_export_along(server: WebServer, bearer: dict[str, str]) -> None:
    for _ in range(EXPORTS_AT_ONCE + 1):
        client, answer = begin(server, bearer)
        assert answer.read(100_000)
        answer.close()
        client.close()
        await_exports(0)


def test_a_client_that_takes_nothing_for_too_long_is_cut_off(
    server: WebServer, bearer: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "STALLED_SECONDS", 3.0)
    client = ask(server, bearer)
    answer = client.getresponse()
    await_exports(1)
    await_exports(0)
    with pytest.raises((IncompleteRead, ConnectionError)):
        answer.read()


def read_slowly(server: WebServer, bearer: dict[str, str]) -> bytes:
    """Take an export in small parts over a socket that holds little, never pausing for long, as far as it comes."""
    received = b""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", server.port))
        client.sendall(head_of("GET", PATH, connection="close", **bearer).encode())
        with suppress(ConnectionError):
            while part := client.recv(65_536):
                received += part
                if len(received) < SLOWLY:
                    time.sleep(0.02)
    return received


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_client_that_reads_too_slowly_is_cut_off(
    server: WebServer,
    bearer: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_cut: bool,
) -> None:
    monkeypatch.setattr(streams, "STALLED_SECONDS", 2.0 if is_cut else 60.0)
    monkeypatch.setattr(streams, "LEAST_BYTES_PER_SECOND", 1e9)
    received = read_slowly(server, bearer)
    assert (b'"kind":"end"' in received) is not is_cut
    assert ("a stream is ended: its client took" in caplog.text) is is_cut
    await_exports(0)
    begin(server, bearer)


def test_what_is_taken_earns_patience() -> None:
    patience = streams.Patience()
    for _ in range(1_000):
        patience.note(waited=9.9, size=64 * 1024)
    assert patience.seconds == streams.STALLED_SECONDS
    for _ in range(40):
        patience.note(waited=12.0, size=64 * 1024)
    assert patience.seconds < 0
