import socket
from email.utils import format_datetime

import pytest

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.llm.domain.chat import (
    ChatAuthError,
    ChatBadRequestError,
    ChatBadResponseError,
    ChatConnectionError,
    ChatError,
    ChatMessage,
    ChatOverloadedError,
    ChatRateLimitedError,
    ChatRequest,
    ChatTimeoutError,
    ErrorKind,
    MessageRole,
    TextChunk,
    TimeoutPhase,
    Timeouts,
)
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.openai_chat import OpenAIChat
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import QUESTION

NOW = 1_790_000_000_000


def failure(provider, *, stream: bool, request: ChatRequest = QUESTION) -> ChatError:
    with pytest.raises(ChatError) as caught:
        list(provider.stream(request)) if stream else provider.complete(request)
    return caught.value


@pytest.fixture(params=[True, False], ids=["streamed", "in one piece"])
def stream(request) -> bool:
    return request.param


@pytest.mark.parametrize(
    ("status", "error", "retryable", "counts"),
    [
        (400, ChatBadRequestError, False, False),
        (401, ChatAuthError, False, True),
        (402, ChatAuthError, False, True),
        (403, ChatAuthError, False, True),
        (404, ChatBadRequestError, False, False),
        (408, ChatOverloadedError, True, True),
        (409, ChatOverloadedError, True, True),
        (413, ChatBadRequestError, False, False),
        (422, ChatBadRequestError, False, False),
        (429, ChatRateLimitedError, True, False),
        (500, ChatOverloadedError, True, True),
        (502, ChatOverloadedError, True, True),
        (503, ChatOverloadedError, True, True),
        (529, ChatOverloadedError, True, True),
    ],
)
def test_a_status_tells_what_went_wrong(server, connect, service, stream, status, error, retryable, counts):
    server.say(Reply(status=status))
    raised = failure(connect(service), stream=stream)
    assert type(raised) is error
    assert (raised.status, raised.retryable, raised.counts_against_breaker) == (status, retryable, counts)
    assert raised.usage is None
    assert str(status) in str(raised)


def test_every_call_is_tried_once(server, connect, service, stream):
    server.say(Reply(status=503, headers={"Retry-After": "0", "X-Should-Retry": "true"}))
    failure(connect(service), stream=stream)
    assert len(server.received) == 1


@pytest.mark.parametrize("settings", ["MEMORYHUB_CHAT", "MEMORYHUB_CHAT_FALLBACK"])
@pytest.mark.parametrize(("status", "variable"), [(401, "API_KEY"), (404, "BASE_URL"), (404, "MODEL")])
def test_a_refusal_names_the_variable_to_check(server, connect, service, settings, status, variable):
    server.say(Reply(status=status))
    assert f"{settings}_{variable}" in str(failure(connect(service, settings=settings), stream=True))


def test_a_redirect_is_not_followed(server, connect, service, stream):
    server.say(Reply(status=307, headers={"Location": f"{server.address}/elsewhere"}))
    raised = failure(connect(service), stream=stream)
    assert (type(raised), raised.status) == (ChatBadRequestError, 307)
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_pause_that_provider_asks_for_is_told(server, connect, service, stream, status):
    server.say(Reply(status=status, headers={"Retry-After": "7"}))
    raised = failure(connect(service), stream=stream)
    assert (raised.retry_after_ms, raised.retry_after) == (7_000, 7)


def test_a_pause_until_a_date_is_told(server):
    clock = DeterministicClock(NOW)
    provider = OpenAIChat(Endpoint("openai", "m", server.base_url("openai")), clock=clock)
    server.say(Reply(status=429, headers={"Retry-After": format_datetime(to_datetime(NOW + 90_000), usegmt=True)}))
    assert failure(provider, stream=False).retry_after_ms == 90_000
    provider.close()


def test_pause_in_milliseconds_is_more_exact_one(server, connect, service):
    server.say(Reply(status=429, headers={"Retry-After": "1", "Retry-After-Ms": "250"}))
    raised = failure(connect(service), stream=True)
    assert (raised.retry_after_ms, raised.retry_after) == (250, 1)


@pytest.mark.parametrize("said", [{}, {"Retry-After": "soon"}, {"Retry-After-Ms": "-5"}])
def test_no_pause_is_told_where_none_can_be_read(server, connect, service, said):
    server.say(Reply(status=429, headers=said))
    assert failure(connect(service), stream=True).retry_after_ms is None


@pytest.mark.parametrize(("status", "kind"), [(429, "insufficient_quota"), (400, "billing_error")])
def test_account_without_credit_is_not_asked_again(server, connect, service, stream, status, kind):
    server.say(Reply(status=status, error_type=kind))
    raised = failure(connect(service), stream=stream)
    assert (raised.kind, raised.retryable) == (ErrorKind.AUTH, False)


STREAMED_ERRORS = {
    "openai": 'data: {{"error": {{"message": "my diary", "type": "{0}", "code": {1}}}}}\n\n',
    "anthropic": 'event: error\ndata: {{"type": "error", "error": {{"type": "{0}", "message": "my diary"}}}}\n\n',
}


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", ChatOverloadedError),
        ("api_error", ChatOverloadedError),
        ("something_new", ChatOverloadedError),
        ("rate_limit_error", ChatRateLimitedError),
        ("authentication_error", ChatAuthError),
        ("insufficient_quota", ChatAuthError),
        ("invalid_request_error", ChatBadRequestError),
    ],
)
def test_error_inside_stream_comes_after_what_came(server, connect, service, kind, error):
    server.say(Reply(chunks=("Rain",), events=(STREAMED_ERRORS[service].format(kind, "null"),)))
    stream = connect(service).stream(QUESTION)
    assert next(stream) == TextChunk("Rain")
    with pytest.raises(error) as caught:
        next(stream)
    assert "diary" not in str(caught.value)


def test_more_exact_of_two_words_inside_stream_counts(server, connect):
    server.say(Reply(events=(STREAMED_ERRORS["openai"].format("invalid_request_error", '"invalid_api_key"'),)))
    assert isinstance(failure(connect("openai"), stream=True), ChatAuthError)


def test_number_inside_stream_is_status_that_it_would_have_been(server, connect):
    server.say(Reply(events=(STREAMED_ERRORS["openai"].format("x", 429),)))
    assert isinstance(failure(connect("openai"), stream=True), ChatRateLimitedError)


GARBAGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"7",
    b"<html>busy</html>",
    b"\xff\xfe",
    b'{"choices": []}',
    b'{"choices": null}',
    b'{"choices": [{"message": null}]}',
    b'{"choices": [{"message": {"content": [1]}}]}',
    b'{"content": 3}',
    b'{"content": [{"type": "text", "text": 3}], "stop_reason": "end_turn"}',
    b"[" * 100_000,
    b"data: {\n\n",
    b"data: 7\n\n",
    b"data: [DONE]\n\n",
    b'data: {"choices": 3}\n\n',
    b"data: \xff\n\n",
    b"data: " + b"[" * 100_000 + b"\n\n",
    b"event: message_start\ndata: {\n\n",
    b"event: message_start\ndata: 7\n\n",
    b'event: message_start\ndata: {"type": "message_start"}\n\n',
    b'event: message_delta\ndata: {"type": "message_delta", "delta": 3}\n\n',
    b"event: message_start\ndata: " + b"[" * 100_000 + b"\n\n",
]


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/html", "nonsense"])
def test_an_answer_that_is_no_answer_is_refused(server, connect, service, stream, content_type):
    provider = connect(service)
    raised: dict[bytes, ChatError] = {}
    for body in GARBAGE:
        server.say(Reply(body=body, content_type=content_type))
        raised[body] = failure(provider, stream=stream)
    assert {body: error for body, error in raised.items() if not isinstance(error, ChatBadResponseError)} == {}
    assert all(error.retryable and error.usage.estimated for error in raised.values())


def test_answer_with_another_content_type_is_read_all_same(server, connect, service):
    server.say(Reply(content_type="text/plain"))
    assert connect(service).complete(QUESTION).text == "Hello there"
    assert TextChunk("Hello") in list(connect(service).stream(QUESTION))


def test_body_that_is_not_compressed_as_it_says_is_refused(server, connect, service, stream):
    server.say(Reply(headers={"Content-Encoding": "gzip"}))
    assert isinstance(failure(connect(service), stream=stream), ChatBadResponseError)


def test_server_that_is_not_there_is_error_that_passes(connect, service, stream):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    raised = failure(connect(service, base_url=nobody), stream=stream)
    assert isinstance(raised, ChatConnectionError)
    assert (raised.retryable, raised.counts_against_breaker, raised.usage) == (True, True, None)
    assert "cannot be reached" in str(raised)


def test_name_that_is_no_hosts_is_error_that_passes(connect, service):
    raised = failure(connect(service, base_url="http://nobody.invalid/v1"), stream=True)
    assert (raised.kind, raised.usage) == (ErrorKind.CONNECTION, None)


def test_server_that_does_not_take_connections_is_given_up(connect, service, stream):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen(0)
        # The one connection that may wait; further ones are not answered.
        with socket.create_connection(busy.getsockname()):
            address = f"http://127.0.0.1:{busy.getsockname()[1]}"
            raised = failure(connect(service, Timeouts(connect=0.2), base_url=address), stream=stream)
    assert isinstance(raised, ChatTimeoutError)
    assert (raised.phase, raised.usage) == (TimeoutPhase.CONNECT, None)


def test_text_that_no_encoding_can_carry_is_requests_fault(server, connect, service, stream):
    request = ChatRequest((ChatMessage(MessageRole.USER, "lone \ud83d"),), max_tokens=5)
    raised = failure(connect(service), stream=stream, request=request)
    assert isinstance(raised, ChatBadRequestError)
    assert server.received == []
