import socket
import threading
import time
from collections.abc import Iterator

import httpcore2
import pytest

from apps.core.http_calls import CallConnection
from apps.llm.domain.chat import ChatMessage, ChatRequest, ChatTimeoutError, MessageRole, TimeoutPhase, Timeouts
from apps.llm.providers.sdk_chat import http_timeout
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import QUESTION

# Far below the time for which servers stall, far above every deadline here, however busy the machine is.
SOON = 120.0
# Of calls that must succeed. Only the call that is to end at its deadline has a short one.
PATIENT = Timeouts(connect=SOON, idle=SOON, total=SOON)


class OpenStream(httpcore2.NetworkStream):
    """What httpcore reports when a connection is open."""

    def __init__(self, opened: socket.socket) -> None:
        self.opened = opened

    def get_extra_info(self, info: str) -> socket.socket:
        assert info == "socket"
        return self.opened


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection, whose reads fail the test rather than block it for ever."""
    ours, theirs = socket.socketpair()
    ours.settimeout(SOON)
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a server that takes connections, and neither reads nor writes."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def timeout_of(provider, request: ChatRequest = QUESTION, timeouts: Timeouts | None = None) -> ChatTimeoutError:
    began = time.monotonic()
    with pytest.raises(ChatTimeoutError) as caught:
        list(provider.stream(request, timeouts))
    assert time.monotonic() - began < SOON
    return caught.value


@pytest.mark.parametrize("event", ["connection.connect_tcp.complete", "connection.start_tls.complete"])
def test_a_read_ends_when_the_deadline_passes(ends, event):
    connection = CallConnection()
    connection.trace(event, {"return_value": OpenStream(ends[0])})
    with connection.watch(time.monotonic() + 0.2):
        assert ends[0].recv(1) == b""
    assert connection.is_interrupted


@pytest.mark.parametrize("event", ["connection.connect_tcp.complete", "connection.start_tls.complete"])
def test_connection_opened_after_deadline_is_useless(ends, event):
    connection = CallConnection()
    with connection.watch(time.monotonic()):
        until = time.monotonic() + SOON
        while not connection.is_interrupted and time.monotonic() < until:
            time.sleep(0.01)
    connection.trace(event, {"return_value": OpenStream(ends[0])})
    assert ends[0].recv(1) == b""


def test_a_call_that_is_over_is_not_interrupted(ends):
    connection = CallConnection()
    connection.trace("connection.connect_tcp.complete", {"return_value": OpenStream(ends[0])})
    with connection.watch(time.monotonic() + 0.1):
        pass
    time.sleep(0.3)
    ends[1].send(b"x")
    assert ends[0].recv(1) == b"x"
    assert not connection.is_interrupted


def test_deadline_may_be_moved_while_call_is_under_way(ends):
    connection = CallConnection()
    connection.trace("connection.connect_tcp.complete", {"return_value": OpenStream(ends[0])})
    with connection.watch(time.monotonic() + 600):
        connection.deadline = time.monotonic() + 0.1
        assert ends[0].recv(1) == b""


def test_stream_may_pause_for_idle_time_and_another_answer_for_all_of_it():
    timeouts = Timeouts(connect=1, idle=2, total=3)
    assert http_timeout(timeouts, streams=True).as_dict() == {"connect": 1, "read": 2, "write": 2, "pool": 1}
    assert http_timeout(timeouts, streams=False).read == 3
    assert http_timeout(timeouts.within(0.5), streams=True).connect == 0.5


def test_headers_that_trickle_over_used_connection_end_at_deadline(server, connect, service):
    server.say(Reply(), Reply(header_delay=0.02))
    provider = connect(service, PATIENT)
    provider.complete(QUESTION)
    assert timeout_of(provider, timeouts=PATIENT.within(1.5)).phase is TimeoutPhase.TOTAL
    assert len({received.connection for received in server.received}) == 1


def test_request_that_server_does_not_read_ends_at_deadline(silent_server, connect):
    address = f"http://127.0.0.1:{silent_server}/v1"
    provider = connect("openai", Timeouts(idle=60, total=0.5), base_url=address)
    request = ChatRequest((ChatMessage(MessageRole.USER, "x" * 32_000_000),), max_tokens=5)
    assert timeout_of(provider, request).phase is TimeoutPhase.TOTAL


def test_tls_handshake_that_stalls_ends_at_timeout_for_connecting(silent_server, connect):
    address = f"https://127.0.0.1:{silent_server}/v1"
    error = timeout_of(connect("openai", Timeouts(connect=0.3), base_url=address))
    assert (error.phase, error.usage) == (TimeoutPhase.CONNECT, None)


def test_call_at_its_deadline_does_not_disturb_others(server, connect, service):
    slow = ChatRequest((ChatMessage(MessageRole.USER, "slow"),), max_tokens=5)
    long, stalled = Reply(chunks=("word ",) * 40, delay=0.05), Reply(stall_after=1)
    server.choose = lambda _, received: long if received.body["messages"][0]["content"] == "slow" else stalled
    provider = connect(service, PATIENT)
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(provider.complete(slow).text), daemon=True)
    thread.start()
    with pytest.raises(ChatTimeoutError):
        list(provider.stream(QUESTION, provider.timeouts.within(0.3)))
    thread.join(SOON)
    assert answers == ["word " * 40]


def test_interrupted_connection_is_not_used_again(server, connect, service):
    server.say(Reply(stall_after=1), Reply())
    provider = connect(service, PATIENT)
    stream = provider.stream(QUESTION)
    next(stream)  # so the server has the request, however late
    with pytest.raises(ChatTimeoutError):
        stream.send(0.3)
    assert provider.complete(QUESTION).text == "Hello there"
    assert len({received.connection for received in server.received}) == 2


def test_proxy_of_environment_is_used_and_cannot_stretch_deadline_either(server, connect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.address)
    provider = connect("openai", PATIENT, base_url="http://models.example.org/v1")
    assert provider.complete(QUESTION).text == "Hello there"
    assert server.received[0].path == "http://models.example.org/v1/chat/completions"
    server.say(Reply(stall_after=1))
    assert timeout_of(provider, timeouts=PATIENT.within(0.5)).phase is TimeoutPhase.TOTAL
    stream = provider.stream(QUESTION)
    next(stream)
    with pytest.raises(ChatTimeoutError) as caught:
        stream.send(0.3)
    assert caught.value.phase is TimeoutPhase.TOTAL
