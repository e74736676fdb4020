"""How large bodies may be at each address, and what a large one costs the others."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from django.conf import settings

from apps.core.domain.scope import Permission, Scope
from apps.core.rest.index import api_routes
from apps.core.schemas.bodies import BASE_BYTES, KIB, batch_limit, item_limit, lines_limit, search_limit, upload_limit
from memoryhub.web.queue import Lane
from memoryhub.web.routes import body_limit_of, lane_of
from tests.api import MEMORIES, SEARCH, Api, api_for
from tests.integration.memoryhub.web import Reply, WebServer, head_of, read_reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

BATCH = f"{MEMORIES}/batch"
IMPORT = "/api/episodic/events/import"
NOWHERE = "00000000-0000-0000-0000-000000000000"
ID = f"{MEMORIES}/{NOWHERE}"
# A character that takes the most bytes in JSON, and the longest number.
WIDE = "\U0001f642"
NUMBER = -1.2345678901234567e-300
OTHER_FIELDS = {
    "metadata": {"text": WIDE * 19_990},
    "context": WIDE * 10_000,
    "keywords": [WIDE * 100] * 50,
    "agent": WIDE * 200,
    "user_id": WIDE * 200,
    "embedding": [NUMBER] * 384,
}


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    with serving() as server:
        yield server


@pytest.fixture
def reader() -> Api:
    return api_for(Scope(), Permission.READ)


def post(server: WebServer, api: Api, path: str, body: bytes) -> Reply:
    """Send a body of known length, also when the answer comes before its end."""
    headers = {"authorization": f"Bearer {api.key}", "content_type": "application/json"}
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head_of("POST", path, connection="close", content_length=str(len(body)), **headers).encode())
        with contextlib.suppress(OSError):
            connection.sendall(body)
        return read_reply(connection)


# --- limits -------------------------------------------------------------------------------------------


def test_a_search_takes_kilobytes_and_a_batch_what_its_items_may() -> None:
    assert search_limit().size < 200 * KIB
    assert item_limit().size < 2_048 * KIB
    assert batch_limit().size < 32_768 * KIB
    assert body_limit_of(SEARCH) == search_limit()
    assert body_limit_of(MEMORIES) == item_limit()
    assert body_limit_of(BATCH) == batch_limit()
    assert body_limit_of(IMPORT) == lines_limit()
    assert lines_limit().size == batch_limit().size
    assert body_limit_of("/bring/") == upload_limit()
    assert upload_limit().size == settings.MEMORYHUB.upload_mb * 1024 * KIB + BASE_BYTES
    for path in (
        "/api/nothing",
        "/",
        f"/bring/{NOWHERE}/confirm/",
        ID,
        f"{ID}/restore",
        "/api/keys",
        "/" + "x" * 5_000,
    ):
        assert body_limit_of(path).size <= 2_560 * KIB


def test_what_may_be_saved_fits_into_its_limit() -> None:
    item = {"content": WIDE * settings.MEMORYHUB.max_content_chars, **OTHER_FIELDS}
    assert len(json.dumps(item)) <= item_limit().size
    small = {"content": "x" * 2_000, "embedding": [NUMBER] * 384, "metadata": {"text": "x" * 1_000}, "user_id": "ana"}
    batch = json.dumps({"memories": [small] * 1_000}, indent=1)
    assert len(batch) <= batch_limit().size
    assert batch.count(",") + batch.count("[") + batch.count("{") <= batch_limit().values


def test_longest_query_with_a_vector_fits_into_a_search(reader: Api) -> None:
    body = {"query": WIDE * 10_000, "embedding": [NUMBER] * 384, "top_k": 5}
    assert len(json.dumps(body)) <= search_limit().size
    assert reader.post(SEARCH, {**body, "embedding": [-0.012345678901234567] * 384}).status_code == 200


def test_every_address_of_the_api_has_a_limit() -> None:
    for path, _methods in api_routes():
        limit = body_limit_of("/" + path.replace("{uuid}", NOWHERE).replace("{name}", "x"))
        assert 0 < limit.size <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def test_only_requests_of_many_items_wait_behind_others() -> None:
    assert lane_of("/readyz") is Lane.READINESS
    assert lane_of(BATCH) is lane_of("/api/episodic/events/batch") is lane_of(IMPORT) is Lane.HEAVY
    assert lane_of(MEMORIES) is lane_of(SEARCH) is lane_of("/admin/") is lane_of("/nothing") is Lane.USUAL


# --- refused before they cost anything ----------------------------------------------------------------


@pytest.mark.parametrize("unit", [b"[],", b'"word",', b'{"a":1},', b"1,"])
def test_a_large_search_of_a_reader_is_refused_unread(server: WebServer, reader: Api, unit: bytes) -> None:
    body = b'{"query": [' + unit * (19_000_000 // len(unit)) + b"0]}"
    began = time.monotonic()
    reply = post(server, reader, SEARCH, body)
    assert reply.status == 413
    assert f"at most {search_limit().size} bytes at this address" in reply.body.decode()
    assert time.monotonic() - began < 10


def test_a_large_search_in_chunks_is_read_to_its_limit_only(server: WebServer, reader: Api) -> None:
    part = b"x" * 60_000
    chunk = f"{len(part):x}\r\n".encode() + part + b"\r\n"
    headers = {"authorization": f"Bearer {reader.key}", "transfer_encoding": "chunked"}
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head_of("POST", SEARCH, **headers).encode())
        sent = 0
        with contextlib.suppress(OSError):
            for _ in range(1_000):
                connection.sendall(chunk)
                sent += len(chunk)
        assert sent < 60_000_000
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"memories": [' + b"[]," * 4_000_000 + b"0]}", "too many values"),
        (b'{"memories": [' + b"0," * 8_000_000 + b"0]}", "too many values"),
        (b'{"memories": ' + b"[" * 10_000_000, "nested too deeply"),
        (b'{"memories": [' + b'{"a":' * 200 + b"0" + b"}" * 200 + b"]}", "nested too deeply"),
    ],
)
def test_a_batch_too_wide_or_too_deep_is_refused_and_others_are_answered(
    server: WebServer, body: bytes, problem: str
) -> None:
    writer, slowest, done = api_for(Scope()), [0.0], threading.Event()

    def ask() -> None:
        while not done.is_set():
            began = time.monotonic()
            assert server.get("/healthz").status == 200
            slowest.append(time.monotonic() - began)

    asking = threading.Thread(target=ask)
    asking.start()
    reply = post(server, writer, BATCH, body)
    done.set()
    asking.join()
    assert reply.status == 400
    assert problem in json.loads(reply.body)["errors"][0]["detail"]
    assert max(slowest) < 4


def test_a_bounded_number_of_bytes_is_kept_for_all_requests(
    server: WebServer, reader: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.web.handler.MAX_BODY_BYTES", 50_000)
    assert post(server, reader, SEARCH, b"x" * 60_000).status == 503
    assert post(server, reader, SEARCH, b"x" * 40_000).status == 400
    deadline = time.monotonic() + 30
    while server.handler._body_bytes and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.handler._body_bytes == 0
