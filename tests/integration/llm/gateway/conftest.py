"""A gateway whose time passes only while it sleeps, with all guards on."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.randomness import DeterministicRNG
from apps.llm.domain.outcome import ChatResult
from apps.llm.gateway.chat import chat
from apps.llm.gateway.context import GatewayPolicy
from apps.llm.guards.rules import GuardRules
from apps.llm.models import BudgetReservation, Price, TokenUse
from apps.llm.pricing.prices import price_save
from apps.llm.providers.anthropic_chat import AnthropicChat
from apps.llm.providers.openai_chat import OpenAIChat
from tests.integration.llm.chat_server import ChatServer, running_chat_server
from tests.integration.llm.gateway.support import QUESTION, endpoint_of
from tests.integration.llm.guards.rules import noon, rules

Ask = Callable[..., ChatResult[Any]]


@pytest.fixture
def clock() -> DeterministicClock:
    return noon()


@pytest.fixture
def slept(clock) -> list[float]:
    """The seconds that the gateway slept."""
    return []


@pytest.fixture
def ours() -> GuardRules:
    """Ten dollars a day; a hundred thousand tokens a minute for every provider of the tests."""
    return rules(10, tokens_per_minute={"scripted": 100_000, "second": 100_000})


@pytest.fixture
def price(db) -> Callable[..., None]:
    """`price("own")`: a million tokens of any of its models cost a dollar, unless said otherwise."""

    def save(provider: str, per_million: int = 1) -> None:
        row = Price(provider=provider, model="*", input_per_million=per_million, output_per_million=per_million)
        row.source, row.valid_from = "the invoice", date(2026, 1, 1)
        price_save(price=row, actor="operator")

    return save


@pytest.fixture
def ask(clock, slept, ours, price) -> Ask:
    """`ask(provider, ...)` puts a question to providers; what else is given goes to `chat`."""
    for name in ("scripted", "second"):
        price(name)

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(round(seconds * 1_000))

    def put(*providers: Any, **options: Any) -> ChatResult[Any]:
        given = {
            "actor": "key:app",
            "purpose": "test",
            "request": QUESTION,
            "rules": ours,
            "policy": GatewayPolicy(),
            "clock": clock,
            # Right in the middle, so no jitter.
            "rng": DeterministicRNG(1),
            "sleep": sleep,
            **options,
        }
        given["rng"].set_sequence((0.5,))
        return chat(providers=providers, **given)

    return put


@pytest.fixture(autouse=True)
def nothing_stays_set_aside(request) -> Iterator[None]:
    """Whatever came of the calls of a test, no reservation of theirs is left."""
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("transactional_db" if _is_transactional(request) else "db")
    yield
    if request.node.get_closest_marker("django_db"):
        assert not BudgetReservation.objects.exists()
        assert not TokenUse.objects.filter(settled_at=None).exists()


def _is_transactional(request: pytest.FixtureRequest) -> bool:
    marker = request.node.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with running_chat_server() as server:
        yield server


@pytest.fixture
def second_server() -> Iterator[ChatServer]:
    with running_chat_server() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def service(request) -> str:
    """Tests that ask for it run once with each wire format."""
    return request.param


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def connect(price) -> Iterator[Callable[..., OpenAIChat | AnthropicChat]]:
    """`connect(server, "openai", ...)` is a provider, whose tokens cost a dollar a million."""
    made: list[OpenAIChat | AnthropicChat] = []

    def provider(server: ChatServer, service: str = "openai", **changes: Any) -> OpenAIChat | AnthropicChat:
        endpoint = endpoint_of(server, service, **changes)
        made.append(OpenAIChat(endpoint) if service == "openai" else AnthropicChat(endpoint))
        price(endpoint.name)
        return made[-1]

    yield provider
    for each in made:
        each.close()
