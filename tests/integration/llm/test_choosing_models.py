"""A model chosen by its name: of the provider that is configured with it, else of one that lists it."""

from dataclasses import replace

import pytest

from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole
from apps.llm.domain.outcome import ChatAnswer
from apps.llm.model_catalogue import model_choose
from apps.llm.providers.configured import chat_providers
from apps.llm.providers.scripted import ScriptedChat
from apps.llm.services import chat
from tests.integration.llm.chat_server import Reply, running_chat_server
from tests.integration.llm.configuring import FALLBACK, MODEL, configured

ASKED = ChatRequest((ChatMessage(MessageRole.USER, "Say hello."),), max_tokens=50)


def test_model_of_a_configured_provider_is_asked_as_its_own() -> None:
    first, second = (ScriptedChat(["hello"], name=name, model=name) for name in ("large", "small"))
    chosen = model_choose("small", [first, second])
    assert chosen is not None
    assert (chosen.provider, chosen.ask(ASKED).model) == (second, None)


def test_model_that_no_provider_has_is_none() -> None:
    assert model_choose("small", [ScriptedChat([], model="large")]) is None
    assert model_choose("small", []) is None


@pytest.mark.django_db
def test_listed_model_is_asked_by_name_and_no_other_provider_answers_for_it(settings) -> None:
    with running_chat_server() as server:
        server.say(Reply(models=("some-model", "gpt-4o-mini")))
        primary = replace(MODEL, base_url=server.base_url("openai"))
        fallback = replace(FALLBACK, base_url=server.base_url("anthropic"))
        with configured(settings, primary, fallback):
            chosen = model_choose("gpt-4o-mini")
            assert chosen is not None
            assert chosen.provider is chat_providers()[0]
            server.say(Reply(chunks=("hello",), model="gpt-4o-mini"))
            answer = chat(actor="me", purpose="try", request=chosen.ask(ASKED), providers=(chosen.provider,))
    assert isinstance(answer, ChatAnswer)
    assert (answer.text, answer.model) == ("hello", "gpt-4o-mini")
    assert server.received[-1].body["model"] == "gpt-4o-mini"
