"""The state of the chat models over REST (DESIGN section 5, D1, D11)."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope
from apps.llm.guards.rules import guard_rules
from apps.llm.tools.requests import output_parse
from tests.api import Api, api_for
from tests.hostile.support import assert_refused, stored
from tests.hostile.world import BOUNDS
from tests.integration.llm.configuring import FALLBACK, KEY, MODEL, breaker, call, configured, price, spent
from tests.integration.llm.single_guards import budget_reserve
from tests.unit.llm.protocol.outputs import abp, vcp

pytestmark = pytest.mark.django_db

STATUS = "/api/llm/status"


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


@pytest.fixture
def used(settings: Any) -> Iterator[None]:
    """Two models of ten dollars a day, which were used today, and the first of which fails."""
    now = utcnow(SYSTEM_CLOCK)
    price()
    price(provider="anthropic", model="claude-haiku-4-5")
    with configured(settings, MODEL, FALLBACK, budget="10", tokens={"anthropic": 0}):
        spent("7.25", now.date(), warned=[70])
        budget_reserve(amount=Decimal("0.5"), rules=guard_rules())
        breaker("openai", "open", now)
        for number in range(40):
            call(started_at=now, latency_ms=100 + number)
        output_parse(text=abp("memory_search", "{}"))
        output_parse(text=vcp("memory_search"))
        yield


def asked(api: Api) -> dict[str, Any]:
    response = api.get(STATUS)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_without_chat_model_everything_else_is_calm(operator: Api) -> None:
    answer = asked(operator)
    assert (answer["configured"], answer["status"]) == (False, "not_configured")
    assert (answer["providers"], answer["breaker"], answer["tokens"], answer["latency"]) == ([], [], [], [])
    assert answer["budget"]["limit_usd"] is None
    assert (answer["budget"]["percent"], answer["budget"]["warned"]) == (0.0, [])
    assert Decimal(answer["budget"]["spent_usd"]) == 0
    assert (answer["tools"]["outputs"], answer["tools"]["fallback_rate"], answer["tools"]["runs"]) == (0, 0.0, [])


@pytest.mark.usefixtures("used")
def test_an_operator_sees_guards_and_records(operator: Api) -> None:
    answer = asked(operator)
    assert (answer["configured"], answer["status"]) == (True, "degraded")
    assert answer["providers"] == [
        {"name": "openai", "model": "gpt-5", "role": "primary", "available": False, "priced": True},
        {"name": "anthropic", "model": "claude-haiku-4-5", "role": "fallback", "available": True, "priced": True},
    ]
    openai, anthropic = answer["breaker"]
    assert (openai["provider"], openai["state"], openai["failures"]) == ("openai", "open", 10)
    assert openai["since"] < openai["retry_at"]
    assert anthropic == {
        "provider": "anthropic", "state": "closed", "since": None, "retry_at": None, "failures": 0
    }  # fmt: skip
    assert answer["tokens"] == [
        {"provider": "openai", "window_seconds": 60, "limit": 90_000, "used": 0, "percent": 0.0},
        {"provider": "anthropic", "window_seconds": 60, "limit": None, "used": None, "percent": None},
    ]


@pytest.mark.usefixtures("used")
def test_money_is_decimal_text(operator: Api) -> None:
    budget = asked(operator)["budget"]
    amounts = {name: budget[f"{name}_usd"] for name in ("limit", "spent", "reserved", "remaining", "waived")}
    assert amounts == {
        "limit": "10", "spent": "7.250000000", "reserved": "0.500000000", "remaining": "2.250000000",
        "waived": "0.000000000",
    }  # fmt: skip
    assert (budget["percent"], budget["warned"]) == (72.5, [70])
    assert budget["resets_at"].endswith("T00:00:00Z")


@pytest.mark.usefixtures("used")
def test_latencies_are_percentiles_with_their_quality(operator: Api) -> None:
    [latency] = asked(operator)["latency"]
    assert (latency["provider"], latency["quality"]) == ("openai", "sufficient")
    assert (latency["count"], latency["warmup"], latency["trimmed"]) == (37, 3, 0)
    assert (latency["min"], latency["p50"], latency["p90"], latency["max"]) == (103, 121, 136, 139)


@pytest.mark.usefixtures("used")
def test_too_few_calls_have_no_percentiles(operator: Api) -> None:
    call(provider="anthropic", started_at=utcnow(SYSTEM_CLOCK))
    latency = asked(operator)["latency"][1]
    assert (latency["provider"], latency["quality"], latency["count"]) == ("anthropic", "insufficient", 0)
    assert (latency["p50"], latency["max"]) == (None, None)


@pytest.mark.usefixtures("used")
def test_requests_for_tools_are_counted(operator: Api) -> None:
    tools = asked(operator)["tools"]
    assert (tools["outputs"], tools["abp"], tools["vcp"], tools["fallback_to_vcp"]) == (2, 1, 1, 1)
    assert tools["fallback_rate"] == 0.5


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())
def test_key_with_bound_learns_no_count_and_no_amount_of_everybody(bound: Scope) -> None:
    """A key never counts what is outside its bound (DESIGN D1): it learns only whether its own calls get through."""
    answer = asked(api_for(bound, Permission.READ))
    assert answer == {
        "configured": True,
        "status": "degraded",
        "providers": [
            {"name": "openai", "model": "gpt-5", "role": "primary", "available": False, "priced": True},
            {"name": "anthropic", "model": "claude-haiku-4-5", "role": "fallback", "available": True, "priced": True},
        ],
        "breaker": [
            {"provider": name, "state": state, "since": None, "retry_at": None, "failures": None}
            for name, state in (("openai", "open"), ("anthropic", "closed"))
        ],
        "budget": None,
        "tokens": None,
        "latency": None,
        "tools": None,
    }


@pytest.mark.usefixtures("used")
def test_a_key_without_a_bound_sees_everything() -> None:
    assert asked(api_for(Scope(), Permission.READ))["budget"]["percent"] == 72.5


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("scope", [Scope(), Scope(user_id="ana")])
def test_no_answer_holds_a_key_of_a_provider(scope: Scope) -> None:
    assert KEY not in json.dumps(asked(api_for(scope)))


@pytest.mark.usefixtures("used")
def test_asking_changes_nothing_and_takes_few_queries(operator: Api, django_assert_max_num_queries: Any) -> None:
    before = stored()
    asked(operator)
    assert stored() == before
    with django_assert_max_num_queries(16):
        asked(operator)


def test_a_query_string_is_refused(operator: Api) -> None:
    assert_refused(operator.get(f"{STATUS}?days=7"), 400, "days")
