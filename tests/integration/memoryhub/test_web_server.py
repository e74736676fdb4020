"""The web server over real connections: trailers, upgrades, proxies, ids of requests, and the first pages."""

import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from apps.core.domain.scope import Permission, Scope
from apps.core.rest import index
from tests.api import MEMORIES, api_for
from tests.integration.memoryhub.web import WebServer, head_of, read_reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

HANDSHAKE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec_websocket_version": "13",
}


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    with serving() as server:
        yield server


@pytest.fixture
def bearer() -> str:
    return f"Bearer {api_for(Scope(), Permission.READ).key}"


# --- trailers -----------------------------------------------------------------------------------------


def test_a_key_in_a_trailer_opens_nothing(server: WebServer, bearer: str) -> None:
    chunked = head_of("GET", MEMORIES, connection="close", transfer_encoding="chunked", trailer="Authorization")
    refused = server.send(f"{chunked}0\r\nAuthorization: {bearer}\r\n\r\n")
    assert refused.status == 401
    assert server.get(MEMORIES, authorization=bearer).status == 200


def test_a_trailer_replaces_no_header(server: WebServer, bearer: str) -> None:
    head = head_of("GET", MEMORIES, connection="close", transfer_encoding="chunked", authorization=bearer)
    trailers = "Authorization: Bearer wrong\r\nHost: elsewhere\r\nX-Request-ID: trailing\r\n"
    reply = server.send(f"{head}0\r\n{trailers}\r\n")
    assert reply.status == 200
    assert reply.headers["x-request-id"] != "trailing"


def test_the_head_of_a_request_is_bounded(server: WebServer) -> None:
    head = head_of("GET", "/healthz", connection="close")[:-2]
    assert server.send(f"{head}X-Small: {'x' * 30_000}\r\n\r\n").status == 200
    assert server.send(f"{head}X-Large: {'x' * 70_000}").status == 431


# --- upgrades -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/api/semantic/search", "/static/x", "/nothing"])
def test_a_websocket_is_refused_without_a_fault(server: WebServer, caplog: Any, path: str) -> None:
    with caplog.at_level(logging.WARNING):
        reply = server.send(head_of("GET", path, **HANDSHAKE))
    assert (reply.status, reply.headers["connection"]) == (403, "close")
    assert caplog.text == ""


def test_a_handshake_that_is_none_is_refused(server: WebServer, caplog: Any) -> None:
    with caplog.at_level(logging.ERROR):
        assert server.send(head_of("GET", "/", connection="Upgrade", upgrade="websocket")).status == 400
    assert caplog.text == ""


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
@pytest.mark.parametrize("cut", [0, 10, 31])
@pytest.mark.parametrize("framing", ["content-length: 31", "transfer-encoding: chunked"])
def test_an_upgrade_of_a_post_is_ignored_and_its_body_read(
    server: WebServer, bearer: str, upgrade: str, cut: int, framing: str
) -> None:
    body = '{"query": "tea", "nonsense": 1}'
    if framing.endswith("chunked"):
        body = f"1f\r\n{body}\r\n0\r\n\r\n"
    headers = {**HANDSHAKE, "upgrade": upgrade, "authorization": bearer, "content_type": "application/json"}
    head = head_of("POST", "/api/semantic/search", **headers)[:-2] + f"{framing}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall((head + body[:cut]).encode())
        time.sleep(0.05)  # so that the rest arrives in a part of its own
        connection.sendall(body[cut:].encode())
        reply = read_reply(connection)
        assert reply.status == 400
        assert json.loads(reply.body)["errors"][0]["attr"] == "nonsense"
        connection.sendall(head_of("GET", "/api/nothing", connection="close").encode())
        assert read_reply(connection).status == 404


def test_a_body_after_an_upgrade_is_no_request(server: WebServer) -> None:
    smuggled = head_of("GET", "/healthz", connection="close")
    headers = {"connection": "Upgrade", "upgrade": "h2c", "content_length": str(len(smuggled))}
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall((head_of("POST", "/api/nothing", **headers) + smuggled).encode())
        assert read_reply(connection).status == 404
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)


# --- proxies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("public_url", "scheme"), [(None, "http"), ("http://hub.example.org", "http"), ("https://hub.example.org", "https")]
)
def test_forwarded_scheme_counts_only_behind_a_configured_proxy(public_url: str | None, scheme: str) -> None:
    with serving(public_url=public_url) as server:
        reply = server.get("/api/", x_forwarded_proto="https")
    assert json.loads(reply.body)["schema"] == f"{scheme}://localhost/api/schema"


# --- ids of requests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/api/nothing", 404),
        ("GET", MEMORIES, 401),
        ("OPTIONS", "/healthz", 405),
        ("POST", "/api/semantic/search", 413),
        ("GET", "/nothing", 404),
    ],
)
def test_every_answer_carries_the_id_of_the_client(server: WebServer, method: str, path: str, status: int) -> None:
    length = {"content_length": str(10**9)} if status == 413 else {}
    reply = server.send(head_of(method, path, connection="close", x_request_id="from-a-client", **length))
    assert (reply.status, reply.headers["x-request-id"]) == (status, "from-a-client")


def test_a_request_without_a_usable_id_gets_a_new_one(server: WebServer) -> None:
    replies = [server.get("/healthz"), server.get("/healthz", x_request_id="not usable")]
    ids = {reply.headers["x-request-id"] for reply in replies}
    assert len(ids) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)


def test_a_fault_names_the_request_in_answer_and_log(
    server: WebServer, bearer: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("apps.semantic.selectors.memory_list", fail)
    seen: list[str] = []
    handler = next(h for h in logging.root.handlers if any(type(f).__name__ == "RequestIdFilter" for f in h.filters))
    monkeypatch.setattr(handler, "emit", lambda record: seen.append(handler.format(record)))
    reply = server.get(MEMORIES, authorization=bearer, x_request_id="the-one")
    assert (reply.status, reply.headers["x-request-id"]) == (500, "the-one")
    assert "the-one" in json.loads(reply.body)["errors"][0]["detail"]
    assert any("ERROR django.request [the-one]" in line for line in seen)


# --- a key that is missing ----------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, "Bearer wrong", "Basic YTpi"])
def test_a_401_names_the_header(server: WebServer, given: str | None) -> None:
    reply = server.get(MEMORIES, **({"authorization": given} if given else {}))
    assert (reply.status, reply.headers["www-authenticate"]) == (401, 'Bearer realm="MemoryHub"')
    assert "Authorization: Bearer <key>" in json.loads(reply.body)["errors"][0]["detail"]


# --- first pages --------------------------------------------------------------------------------------


def test_the_index_names_every_address_of_the_api(server: WebServer) -> None:
    reply = server.get("/api/")
    body = json.loads(reply.body)
    assert (reply.status, body["authentication"]) == (200, "Authorization: Bearer <key>")
    found = {address["url"].removeprefix("http://localhost/"): address["methods"] for address in body["addresses"]}
    assert found["api/semantic/memories"] == ["GET", "POST"]
    assert found["api/semantic/memories/{uuid}"][:1] == ["GET"]
    assert len(found) == len(list(index.api_routes()))
    for name in ("documentation", "schema"):
        assert server.get(body[name].removeprefix("http://localhost")).status == 200
    for path in found:
        if "{" not in path and path not in {"api/docs", "api/schema"}:
            assert server.get(f"/{path}").status in {401, 405}


def test_the_first_page_links_to_what_there_is(server: WebServer) -> None:
    reply = server.get("/")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    links = re.findall(r'href="([^"]+)"', reply.body.decode())
    pages = {link for link in links if not link.startswith("/static/")}
    assert pages == {"#main", "/", "/accounts/login/", "/admin/", "/api/docs"}
    # Without a worker the hub of a test is not ready.
    assert all(server.get(link).status in {200, 302, 503} for link in pages - {"#main"})
