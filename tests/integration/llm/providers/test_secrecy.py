"""Neither keys nor what people said get into logs, errors or anything printed."""

import logging
import traceback

import pytest

from apps.llm.domain.chat import ChatError, ChatMessage, ChatRequest, MessageRole, TextChunk, Timeouts
from apps.llm.providers.endpoint import Endpoint
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import KEY

SECRETS = (KEY, "diary", "reproach")
REQUEST = ChatRequest((ChatMessage(MessageRole.USER, "my diary"),), max_tokens=5, system="a reproach")
TROUBLE = [
    Reply(status=400),
    Reply(status=401),
    Reply(status=429),
    Reply(status=500),
    Reply(body=b"my diary {", content_type="text/event-stream"),
    Reply(body=b'data: {"my diary\n\n', content_type="text/event-stream"),
    Reply(body=b"my diary", content_type="application/json"),
    Reply(chunks=("my diary", "x"), cut_after=1),
    Reply(chunks=("my diary", "x"), stall_after=1),
    Reply(chunks=("my diary",), finish=None),
]


def told(shown: str) -> list[str]:
    return [secret for secret in SECRETS if secret in shown]


def chain(error: BaseException | None) -> list[BaseException]:
    return [] if error is None else [error, *chain(error.__cause__), *chain(error.__context__)]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "in one piece"])
def test_neither_logs_nor_errors_tell_them(server, connect, service, stream, caplog):
    provider = connect(service, Timeouts(idle=0.2, total=0.5))
    errors: list[ChatError] = []
    with caplog.at_level(logging.DEBUG):
        connect(service).complete(REQUEST)
        for reply in TROUBLE:
            server.say(reply)
            try:
                list(provider.stream(REQUEST)) if stream else provider.complete(REQUEST)
            except ChatError as error:
                errors.append(error)
    assert len(errors) >= 8
    assert told(caplog.text) == []
    for error in errors:
        assert chain(error) == [error]
        assert told(f"{error!r} {vars(error)!r}") == []
        assert told("".join(traceback.format_exception(error))) == []


def test_what_is_printed_does_not_tell_them(connect, service):
    provider = connect(service)
    list(provider.stream(REQUEST))
    endpoint = Endpoint(service, "some-model", "http://127.0.0.1:9/v1", KEY)
    shown = [provider, vars(provider), provider.endpoint, endpoint, REQUEST, TextChunk("my diary")]
    assert told(" ".join(repr(each) for each in [*shown, provider.complete(REQUEST)])) == []
    assert "some-model" in repr(endpoint)
