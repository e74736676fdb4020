from collections.abc import Callable, Iterator

import pytest

from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole, Timeouts
from apps.llm.providers.anthropic_chat import AnthropicChat
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.openai_chat import OpenAIChat
from tests.integration.llm.chat_server import ChatServer, running_chat_server

KEY = "sk-secret-0123456789"
QUESTION = ChatRequest((ChatMessage(MessageRole.USER, "What stands in my diary?"),), max_tokens=50)
Connect = Callable[..., OpenAIChat | AnthropicChat]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with running_chat_server() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def service(request) -> str:
    """Tests that ask for it run once with each wire format."""
    return request.param


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch) -> None:
    """Whatever the environment of the tests says."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def connect(server) -> Iterator[Connect]:
    """`connect("openai", Timeouts(...))` is a provider for the server."""
    made: list[OpenAIChat | AnthropicChat] = []

    def provider(service: str, timeouts: Timeouts | None = None, **changes) -> OpenAIChat | AnthropicChat:
        settings = {"base_url": server.base_url(service), "api_key": KEY, "timeouts": timeouts or Timeouts()}
        endpoint = Endpoint(service, "some-model", **(settings | changes))
        made.append(OpenAIChat(endpoint) if service == "openai" else AnthropicChat(endpoint))
        return made[-1]

    yield provider
    for each in made:
        each.close()
