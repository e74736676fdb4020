import time
from collections.abc import Iterable
from typing import Any

import httpcore2
import pytest

from apps.llm.domain.chat import ChatTimeoutError, TimeoutPhase, Timeouts
from apps.llm.providers.deadlines import Seconds, _Backend, bounded
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import QUESTION


class Network(httpcore2.NetworkBackend, httpcore2.NetworkStream):
    """A network, and its one connection, that note how long each operation may take."""

    def __init__(self) -> None:
        self.allowed: list[float | None] = []
        self.written: list[bytes] = []
        self.closed = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        self.allowed.append(timeout)
        return self

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.allowed.append(timeout)
        return b"x"

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.allowed.append(timeout)
        self.written.append(buffer)

    def start_tls(self, ssl_context, server_hostname=None, timeout=None) -> httpcore2.NetworkStream:
        self.allowed.append(timeout)
        return self

    def get_extra_info(self, info: str) -> str:
        return info

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def connection(network) -> httpcore2.NetworkStream:
    """Encrypted, as most are: what comes after the handshake must keep to the deadline too."""
    plain = _Backend(network).connect_tcp("example.org", 443, 1.0)
    encrypted = plain.start_tls(None, "example.org", 1.0)
    network.allowed.clear()
    return encrypted


def in_(seconds: float) -> float:
    return time.monotonic() + seconds


def test_an_operation_may_take_its_timeout_while_the_deadline_is_far(network, connection):
    connection.read(1, Seconds(5, in_(100)))
    connection.write(b"x", Seconds(6, in_(100)))
    assert network.allowed == [5, 6]


def test_an_operation_may_take_what_is_left_where_that_is_less(network, connection):
    connection.read(1, Seconds(100, in_(5)))
    connection.write(b"x", Seconds(100, in_(5)))
    assert all(0 < seconds <= 5 for seconds in network.allowed)


def test_after_the_deadline_nothing_is_begun(network, connection):
    late = Seconds(100, in_(-1))
    with pytest.raises(httpcore2.ReadTimeout):
        connection.read(1, late)
    with pytest.raises(httpcore2.WriteTimeout):
        connection.write(b"x", late)
    with pytest.raises(httpcore2.ConnectTimeout):
        connection.start_tls(None, "example.org", late)
    with pytest.raises(httpcore2.ConnectTimeout):
        _Backend(network).connect_tcp("example.org", 443, late)
    assert network.allowed == []


def test_other_timeouts_are_left_as_they_are(network, connection):
    connection.read(1, 5.0)
    connection.read(1, None)
    assert network.allowed == [5.0, None]


def test_a_long_request_is_written_whole_and_in_order(network, connection):
    sent = bytes(range(256)) * 1_000
    connection.write(sent, Seconds(5, in_(100)))
    assert b"".join(network.written) == sent
    assert len(network.written) == 4


def test_everything_else_is_the_networks(network, connection):
    assert connection.get_extra_info("server_addr") == "server_addr"
    connection.close()
    assert network.closed


def test_a_stream_may_stand_still_for_the_idle_time_and_another_answer_for_all_of_it():
    timeouts = Timeouts(connect=1, idle=2, total=3)
    assert bounded(timeouts, in_(3), streams=True).as_dict() == {"connect": 1, "read": 2, "write": 2, "pool": 1}
    assert bounded(timeouts, in_(3), streams=False).read == 3


def test_a_proxy_of_the_environment_is_used_and_cannot_stretch_a_deadline_either(server, connect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.address)
    provider = connect("openai", Timeouts(idle=60, total=0.5), base_url="http://models.example.org/v1")
    assert provider.complete(QUESTION).text == "Hello there"
    assert server.received[0].path == "http://models.example.org/v1/chat/completions"
    server.say(Reply(stall_after=1))
    with pytest.raises(ChatTimeoutError) as caught:
        list(provider.stream(QUESTION))
    assert caught.value.phase is TimeoutPhase.TOTAL
