import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from apps.llm.domain.chat import Timeouts
from apps.llm.providers import configured
from apps.llm.providers.anthropic_chat import AnthropicChat
from apps.llm.providers.configured import chat_providers, reset_chat_providers
from apps.llm.providers.openai_chat import OpenAIChat
from memoryhub.config.chat import ChatConfig, ChatModelConfig
from tests.integration.llm.providers.conftest import KEY, QUESTION

LIGHT = """
import sys, django
django.setup()
from apps.llm.providers import configured
from apps.llm.providers.configured import chat_providers
print(chat_providers(), sorted({"openai", "anthropic"} & set(sys.modules)))
"""
MODEL = ChatModelConfig(
    provider="openai",
    model="some-model",
    base_url=None,
    api_key=KEY,
    connect_timeout_seconds=1.0,
    idle_timeout_seconds=2.0,
    timeout_seconds=3.0,
    settings="MEMORYHUB_CHAT",
)
FALLBACK = replace(MODEL, provider="anthropic", model="another-model", settings="MEMORYHUB_CHAT_FALLBACK")


@pytest.fixture
def configure(settings):
    def change(primary: ChatModelConfig | None, fallback: ChatModelConfig | None = None) -> None:
        settings.MEMORYHUB = replace(settings.MEMORYHUB, chat=ChatConfig(primary, fallback))
        reset_chat_providers()

    yield change
    reset_chat_providers()


def test_hub_without_chat_model_has_no_provider_and_loads_no_sdk():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYHUB_CHAT_")}
    told = subprocess.run(
        [sys.executable, "-c", LIGHT], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout.strip() == "() []"


def test_primary_provider_comes_before_its_fallback(configure):
    configure(MODEL, FALLBACK)
    primary, fallback = chat_providers()
    assert (type(primary), primary.name, primary.model) == (OpenAIChat, "openai", "some-model")
    assert (type(fallback), fallback.name, fallback.model) == (AnthropicChat, "anthropic", "another-model")
    assert primary.timeouts == fallback.timeouts == Timeouts(1.0, 2.0, 3.0)


def test_provider_asks_configured_server_with_configured_key(configure, server, service):
    configure(replace(MODEL, provider=service, base_url=server.base_url(service)))
    [provider] = chat_providers()
    assert provider.complete(QUESTION).text == "Hello there"
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.received[0].body["model"] == "some-model"


def test_a_process_has_one_pair_of_providers(configure):
    configure(MODEL, FALLBACK)
    together = threading.Barrier(16)
    got: list[tuple[int, ...]] = []

    def use() -> None:
        together.wait()
        got.append(tuple(map(id, chat_providers())))

    threads = [threading.Thread(target=use) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(set(got))) == (16, 1)


def test_providers_are_made_in_the_background(configure, monkeypatch):
    configure(MODEL)
    made = threading.Event()
    monkeypatch.setattr(configured, "chat_providers", made.set)
    configured.warm_up_chat_providers()
    assert made.wait(30)


def test_without_a_model_there_is_nothing_to_make(configure, monkeypatch):
    configure(None)
    monkeypatch.setattr(threading, "Thread", None)
    configured.warm_up_chat_providers()


def test_after_reset_settings_are_read_again(configure):
    configure(MODEL)
    assert len(chat_providers()) == 1
    configure(None)
    assert chat_providers() == ()
