import logging

import pytest

from apps.core.http_calls import SENT_HEADERS
from apps.llm.domain.chat import JSON_INSTRUCTION, ChatBadRequestError, ChatMessage, ChatRequest, MessageRole
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.openai_chat import OpenAIChat
from tests.integration.llm.chat_server import Received, Reply
from tests.integration.llm.providers.conftest import KEY, QUESTION

TALK = ChatRequest(
    (
        ChatMessage(MessageRole.USER, "Will it rain?"),
        ChatMessage(MessageRole.ASSISTANT, "Yes."),
        ChatMessage(MessageRole.USER, "How long?"),
    ),
    max_tokens=30,
    system="Be brief.",
    temperature=0.3,
    expects_json=True,
)
TURNS = [
    {"role": "user", "content": "Will it rain?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "How long?"},
]
OTHER_KEY = "sk-of-the-environment"


@pytest.fixture(autouse=True)
def other_account(monkeypatch) -> None:
    """Variables that the SDKs read when nobody tells them better."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, OTHER_KEY)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"org-{OTHER_KEY}")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/v1")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"Authorization: Bearer {OTHER_KEY}\nX-Api-Key: {OTHER_KEY}\nX-More: {OTHER_KEY}")


def asked(server, provider, request: ChatRequest = TALK, *, stream: bool = True) -> Received:
    list(provider.stream(request)) if stream else provider.complete(request)
    return server.received[-1]


def test_openai_is_asked_in_its_format(server, connect):
    received = asked(server, connect("openai"))
    assert received.path == "/v1/chat/completions"
    assert received.body == {
        "model": "some-model",
        "messages": [{"role": "system", "content": f"Be brief.\n\n{JSON_INSTRUCTION}"}, *TURNS],
        "max_tokens": 30,
        "temperature": 0.3,
        "response_format": {"type": "json_object"},
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_anthropic_is_asked_in_its_format_and_without_temperature(server, connect):
    received = asked(server, connect("anthropic"))
    assert received.path == "/v1/messages"
    assert received.body == {
        "model": "some-model",
        "system": f"Be brief.\n\n{JSON_INSTRUCTION}",
        "messages": TURNS,
        "max_tokens": 30,
        "stream": True,
    }


def test_what_a_request_does_not_say_is_not_sent(server, connect):
    body = asked(server, connect("openai"), QUESTION, stream=False).body
    assert set(body) == {"model", "messages", "max_tokens", "stream"}
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert set(asked(server, connect("anthropic"), QUESTION, stream=False).body) == {"model", "messages", "max_tokens"}


def test_a_request_may_name_another_model(server, connect, service):
    request = ChatRequest(QUESTION.messages, max_tokens=5, model="another-model")
    server.say(Reply(model=""))
    provider = connect(service)
    assert asked(server, provider, request).body["model"] == "another-model"
    assert provider.complete(request).model == "another-model"


@pytest.mark.parametrize("stream", [True, False])
def test_key_is_configured_one_whatever_environment_says(server, connect, service, stream):
    headers = asked(server, connect(service), stream=stream).headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert [name for name, value in headers.items() if OTHER_KEY in value] == []


def test_nothing_is_told_about_the_machine(server, connect, service):
    headers = asked(server, connect(service)).headers
    assert set(headers) <= SENT_HEADERS
    assert "python" in headers["user-agent"].lower()


def test_a_server_that_asks_for_no_key_gets_none(server, connect, service):
    headers = asked(server, connect(service, api_key=None)).headers
    assert headers["authorization"] == "Bearer none"
    assert [name for name, value in headers.items() if "sk-" in value] == []


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        (None, "openai"),
        ("http://127.0.0.1:11434/v1", "openai@127.0.0.1:11434"),
        ("https://llm.example.org/v1", "openai@llm.example.org"),
    ],
)
def test_provider_is_named_by_its_service_and_address(base_url, name):
    provider = OpenAIChat(Endpoint("openai", "m", base_url))
    assert (provider.name, provider.model) == (name, "m")


def refusing(parameter: str, message: str):
    """A server that refuses a parameter."""

    def reply(number: int, received: Received) -> Reply:
        return Reply(status=400, message=message) if parameter in received.body else Reply()

    return reply


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("response_format", "'response_format.type' must be 'json_schema' or 'text'"),
        ("stream_options", "[{'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]"),
        ("temperature", "Unsupported value: 'temperature' does not support 0.3 with this model."),
    ],
)
def test_parameter_that_server_refuses_is_left_out_from_then_on(server, connect, caplog, parameter, message):
    server.choose = refusing(parameter, message)
    provider = connect("openai")
    with caplog.at_level(logging.INFO, "apps.llm"):
        assert [parameter in asked(server, provider).body for _ in range(2)] == [False, False]
    assert len(server.received) == 3
    assert set(server.received[0].body) - set(server.received[1].body) == {parameter}
    assert [f"does not take {parameter}" in record.message for record in caplog.records] == [True]


def test_several_parameters_may_be_refused_one_after_another(server, connect):
    def reply(number: int, received: Received) -> Reply:
        refused = [name for name in ("temperature", "response_format") if name in received.body]
        return Reply(status=422, message=f"Unknown parameter: {refused[0]}") if refused else Reply()

    server.choose = reply
    assert {"temperature", "response_format"} & set(asked(server, connect("openai")).body) == set()


def test_model_that_knows_only_new_limit_gets_it(server, connect):
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    server.choose = refusing("max_tokens", message)
    body = asked(server, connect("openai")).body
    assert (body["max_completion_tokens"], "max_tokens" in body) == (30, False)


def test_openai_itself_gets_the_new_limit_at_once(server, connect, monkeypatch):
    monkeypatch.setattr("apps.llm.providers.openai_chat.OPENAI_BASE_URL", server.base_url("openai"))
    body = asked(server, connect("openai", base_url=None)).body
    assert (body["max_completion_tokens"], "max_tokens" in body) == (30, False)


def test_what_one_model_refuses_another_still_gets(server, connect):
    server.choose = lambda number, received: (
        Reply(status=400, message="temperature is not supported")
        if received.body["model"] == "some-model" and "temperature" in received.body
        else Reply()
    )
    provider = connect("openai")
    asked(server, provider)
    other = ChatRequest(TALK.messages, max_tokens=5, temperature=0.3, model="another-model")
    assert asked(server, provider, other).body["temperature"] == 0.3


def test_leaving_out_what_does_not_help_is_not_remembered(server, connect):
    server.say(Reply(status=400, message="The temperature of this conversation is too long."))
    provider = connect("openai")
    for _ in range(2):
        with pytest.raises(ChatBadRequestError):
            provider.complete(TALK)
    assert ["temperature" in received.body for received in server.received] == [True, False, True, False]


def test_refusal_that_names_nothing_that_can_be_left_out_is_final(server, connect):
    server.say(Reply(status=400, message="The model does not exist."))
    with pytest.raises(ChatBadRequestError):
        connect("openai").complete(TALK)
    assert len(server.received) == 1
