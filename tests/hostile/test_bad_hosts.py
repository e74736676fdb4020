"""Requests under a host that is not the hub's: refused, and one line each in the log, however they are made."""

import io
import logging
from collections.abc import Iterator

import pytest

from tests.integration.memoryhub.web import WebServer, head_of, serving

pytestmark = pytest.mark.django_db(transaction=True)

HOSTS = {
    "stranger": "evil.example",
    "stranger with port": "evil.example:8000",
    "no host": "in valid/..",
    "words of a log": "evil.example%0a2026-11-25 ERROR all is lost",
    "long": "a" * 20_000,
    "markup": "<script>alert(1)</script>",
}
PATHS = ("/", "/accounts/login/", "/admin/", "/api/keys", "/api/connect", "/no/such/page")


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    with serving() as server:
        yield server


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is written to the log, as it is written."""
    [handler] = [each for each in logging.getLogger().handlers if type(each) is logging.StreamHandler]
    written = io.StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_host_is_refused_in_one_line(
    server: WebServer, log: io.StringIO, host: str, path: str, method: str
) -> None:
    answer = server.send(head_of(method, path, connection="close", content_length="0", host=HOSTS[host]))
    assert answer.status == 400
    assert HOSTS[host].encode() not in answer.body
    [line] = log.getvalue().splitlines()
    assert " WARNING django.security.DisallowedHost " in line
    assert len(line) < 500


def test_the_line_names_the_setting(server: WebServer, log: io.StringIO) -> None:
    server.send(head_of("GET", "/", connection="close", host="hub.example.org"))
    assert "'hub.example.org'" in log.getvalue()
    assert "MEMORYHUB_ALLOWED_HOSTS" in log.getvalue()


def test_a_request_without_a_host_is_one_line_at_most(server: WebServer, log: io.StringIO) -> None:
    answer = server.send("GET / HTTP/1.0\r\n\r\n")
    assert answer.status < 500
    assert len(log.getvalue().splitlines()) <= 1
