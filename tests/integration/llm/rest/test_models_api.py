"""The models of the configured providers over REST: what a real server says, with the prices that are known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from apps.core.domain.scope import Permission, Scope
from apps.llm.domain.chat import Timeouts
from apps.llm.providers import model_lists
from tests.api import Api, api_for
from tests.integration.llm.chat_server import ChatServer, Received, Reply, running_chat_server
from tests.integration.llm.configuring import FALLBACK, KEY, MODEL, configured, price

pytestmark = pytest.mark.django_db

MODELS = "/api/llm/models"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with running_chat_server() as running:
        yield running


@pytest.fixture
def local(server: ChatServer, settings: Any) -> Iterator[str]:
    """The name of a server that speaks OpenAI's format, whose model is gpt-5."""
    with configured(settings, replace(MODEL, base_url=server.base_url("openai"))):
        yield f"openai@{server.address.removeprefix('http://')}"


@pytest.fixture
def both(server: ChatServer, settings: Any) -> Iterator[None]:
    """A model in each format, on the same server."""
    primary = replace(MODEL, base_url=server.base_url("openai"))
    with configured(settings, primary, replace(FALLBACK, base_url=server.base_url("anthropic"))):
        yield


def listed(api: Api | None = None) -> dict[str, Any]:
    response = (api or api_for(Scope(), Permission.READ)).get(MODELS)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def names(answer: dict[str, Any]) -> list[tuple[str, str | None, bool]]:
    return [(model["id"], model["role"], model["listed"]) for model in answer["models"]]


def test_without_chat_model_there_is_nothing_to_list() -> None:
    assert listed() == {"configured": False, "providers": [], "models": [], "count": 0}


def test_models_of_server_follow_configured_one(server: ChatServer, local: str) -> None:
    server.say(Reply(models=("gpt-4o", "gpt-5", "gpt-5-mini")))
    answer = listed()
    assert names(answer) == [("gpt-5", "primary", True), ("gpt-4o", None, True), ("gpt-5-mini", None, True)]
    [provider] = answer["providers"]
    assert (provider["name"], provider["role"], provider["count"], provider["problem"]) == (local, "primary", 3, None)
    assert provider["asked_at"].endswith("Z")
    assert answer["count"] == 3


def test_prices_stand_beside_the_models(server: ChatServer, local: str) -> None:
    price(provider=local)
    price(provider=local, above_input_tokens=272_000, input_per_million="2.5", output_per_million="15")
    server.say(Reply(models=("gpt-5-2025-08-07", "unheard-of")))
    configured_one, dated, unknown = listed()["models"]
    assert configured_one["prices"] == dated["prices"]
    assert [tuple(one.values()) for one in dated["prices"]] == [
        (0, "1.250000", "10.000000", "2026-01-01", "the price page"),
        (272_000, "2.500000", "15.000000", "2026-01-01", "the price page"),
    ]
    assert unknown["prices"] == []


def test_price_for_any_model_is_listed_with_each(server: ChatServer, local: str) -> None:
    price(provider=local, model="*", input_per_million="0", output_per_million="0")
    server.say(Reply(models=("whatever",)))
    assert [model["prices"][0]["input_per_million_usd"] for model in listed()["models"]] == ["0.000000", "0.000000"]


@pytest.mark.usefixtures("both")
def test_both_providers_are_asked_and_both_configured_models_come_first(server: ChatServer) -> None:
    server.say(Reply(models=("one",)), Reply(models=("two",)))
    answer = listed()
    assert names(answer)[:2] == [("gpt-5", "primary", False), ("claude-haiku-4-5", "fallback", False)]
    assert {model["id"] for model in answer["models"][2:]} == {"one", "two"}
    assert sorted(request.path.partition("?")[0] for request in server.received) == ["/v1/models", "/v1/models"]


@pytest.mark.parametrize("status", [401, 404, 500])
def test_trouble_of_provider_is_answer_with_configured_model(server: ChatServer, local: str, status: int) -> None:
    server.say(Reply(status=status))
    answer = listed()
    assert names(answer) == [("gpt-5", "primary", False)]
    assert answer["providers"][0]["problem"]
    assert answer["providers"][0]["asked_at"] is None
    assert KEY not in str(answer)


def test_a_server_that_stalls_is_given_up(server: ChatServer, local: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_lists, "LIST_TIMEOUTS", Timeouts(total=0.2))
    server.say(Reply(stall_after=0))
    answer = listed()
    assert names(answer) == [("gpt-5", "primary", False)]
    assert "longer than the call may take" in answer["providers"][0]["problem"]


@pytest.mark.usefixtures("both")
def test_trouble_of_one_provider_does_not_hide_other(server: ChatServer) -> None:
    def choose(number: int, received: Received) -> Reply:
        return Reply(models=("two",)) if "anthropic-version" in received.headers else Reply(status=503)

    server.choose = choose
    answer = listed()
    assert [bool(provider["problem"]) for provider in answer["providers"]] == [True, False]
    assert ("two", None, True) in names(answer)


def test_the_server_is_not_asked_again_at_once(server: ChatServer, local: str) -> None:
    assert listed() == listed()
    assert len(server.received) == 1


def test_names_come_as_data_whatever_server_calls_its_models(server: ChatServer, local: str) -> None:
    server.say(Reply(models=(SCRIPT, "\ud800", "模型 a/b:c")))
    response = api_for(Scope()).get(MODELS)
    assert response["Content-Type"] == "application/json"
    assert [model["id"] for model in response.json()["models"]][1:] == [SCRIPT, "模型 a/b:c"]


@pytest.mark.parametrize("bound", [Scope(user_id="ana"), Scope(household_id="home")])
def test_a_key_with_a_bound_sees_the_same(server: ChatServer, local: str, bound: Scope) -> None:
    """Models and prices belong to the hub: they hold no count of any user's calls."""
    assert listed(api_for(bound, Permission.READ)) == listed()


def test_no_transaction_is_open_while_provider_is_asked(
    server: ChatServer, local: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths: list[int] = []
    ask = model_lists.ModelLists._ask

    def watched(*args: Any) -> Any:
        depths.append(len(connection.savepoint_ids))
        return ask(*args)

    monkeypatch.setattr(model_lists.ModelLists, "_ask", watched)
    listed()
    assert depths == [0]
