"""The list of models that a server says it has, in either wire format."""

import logging

import pytest

from apps.llm.domain.chat import (
    MAX_MODELS,
    ChatAuthError,
    ChatBadRequestError,
    ChatBadResponseError,
    ChatConnectionError,
    ChatError,
    ChatTimeoutError,
    TimeoutPhase,
    Timeouts,
)
from apps.llm.providers.scripted import ScriptedChat
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.providers.conftest import KEY


def test_models_of_server_are_listed_in_its_order(server, connect, service):
    server.say(Reply(models=("zeta", "alpha", "zeta", "gpt-5")))
    assert connect(service).models() == ("zeta", "alpha", "gpt-5")
    [asked] = server.received
    assert asked.path.partition("?")[0] == "/v1/models"
    assert asked.headers["authorization"] == f"Bearer {KEY}"


def test_no_more_is_asked_for_and_taken_than_one_page(server, connect, service):
    server.say(Reply(models=tuple(f"model-{number}" for number in range(MAX_MODELS + 5))))
    assert len(connect(service).models()) == MAX_MODELS
    assert len(server.received) == 1


def test_name_that_nobody_could_configure_is_left_out(server, connect, service):
    server.say(Reply(models=("", "  ", "x" * 201, "a\x00b", "\ud800", "a\nb", 7, None, ["a"], "good")))
    assert connect(service).models() == ("good",)


def test_server_without_models_has_empty_list(server, connect, service):
    server.say(Reply(models=()))
    assert connect(service).models() == ()


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ChatAuthError), (404, ChatBadRequestError)],
)
def test_a_refusal_is_told_as_that_of_a_call(server, connect, service, status, error):
    server.say(Reply(status=status))
    with pytest.raises(error) as caught:
        connect(service).models()
    assert caught.value.status == status
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'"models"', b'{"data": {"id": "a"}}', b"<html>", b'{"data": null}']
)
def test_answer_that_holds_no_list_is_unreadable(server, connect, service, body):
    server.say(Reply(body=body))
    with pytest.raises(ChatBadResponseError):
        connect(service).models()


def test_list_that_does_not_come_is_given_up_in_time(server, connect, service):
    server.say(Reply(stall_after=0, comments=0.02))
    with pytest.raises(ChatTimeoutError) as caught:
        connect(service).models(Timeouts(total=0.2))
    assert caught.value.phase is TimeoutPhase.TOTAL


def test_a_server_that_is_not_there_is_told(connect, service):
    with pytest.raises(ChatConnectionError):
        connect(service, base_url="http://127.0.0.1:1/v1").models()


def test_neither_logs_nor_errors_tell_the_key(server, connect, service, caplog):
    server.say(Reply(status=500), Reply(body=b"{"), Reply())
    with caplog.at_level(logging.DEBUG):
        for _ in range(2):
            with pytest.raises(ChatError) as caught:
                connect(service).models()
            assert KEY not in f"{caught.value!r} {vars(caught.value)!r}"
        connect(service).models()
    assert KEY not in caplog.text


def test_a_script_has_one_model():
    assert ScriptedChat([], model="script").models() == ("script",)
