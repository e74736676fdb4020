"""Calls to chat models in the admin: found without reading all of them, and shown without what was said."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core.admin.kit import dollars
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.llm.admin import calls
from apps.llm.admin.calls import call_summary
from apps.llm.domain.refusals import ADVICE
from apps.llm.models import ModelCall
from tests.integration.admin.pages import address, text_of
from tests.integration.llm.configuring import MODEL, NOON, call, configured, noon

pytestmark = pytest.mark.django_db

HERE = address(ModelCall, "changelist")
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def keeping(settings: Any) -> Callable[[bool], None]:
    """Turn the keeping of contents on or off."""

    def turn(on: bool) -> None:
        guards = replace(settings.MEMORYHUB.guards, keep_content=on)
        settings.MEMORYHUB = replace(settings.MEMORYHUB, guards=guards)

    return turn


def listed(client: Client, **query: Any) -> list[str]:
    """The purposes of the calls that a list shows, in its order."""
    response = client.get(HERE, query)
    assert response.status_code == 200
    return [one.purpose for one in response.context["cl"].result_list]


def shown(client: Client, one: ModelCall) -> str:
    return text_of(client, address(ModelCall, "change", one.pk))


# --- the list -----------------------------------------------------------------------------------------


def test_the_newest_calls_come_first(operator: Client) -> None:
    for purpose, ago in (("older", 2), ("newest", 0), ("old", 1)):
        call(purpose=purpose, started_at=NOON - timedelta(hours=ago))
    assert listed(operator) == ["newest", "old", "older"]


def test_row_says_who_what_how_much_and_how_it_ended(operator: Client) -> None:
    call(is_estimated=True, attempts=3, outcome="failed", reason="bad_response")
    text = text_of(operator, HERE)
    for part in ("extract", "key:app", "gpt-5", "openai", "1,200 + 300", "estimated", "$0.0045", "850 ms", "3 tries"):
        assert part in text
    assert "bad response" in text


def test_a_refused_call_names_its_guard(operator: Client) -> None:
    call(outcome="refused", guard="budget", reason="budget_exceeded", provider="", model="", attempts=0)
    text = text_of(operator, HERE)
    assert "budget: budget exceeded" in text
    assert "no model was asked" in text


@pytest.mark.parametrize(("guard", "reason"), ADVICE)
def test_page_of_refused_call_names_the_right_setting(operator: Client, guard: str, reason: str) -> None:
    text = shown(operator, call(outcome="refused", guard=guard, reason=reason, provider="", model="", attempts=0))
    advice = ADVICE[guard, reason]
    assert advice.remedy in unescape(text)
    assert set(re.findall(r"MEMORYHUB_\w+", text)) == {advice.setting} - {""}
    assert text.count("Nothing was sent: a guard refused the call") == 2


@pytest.mark.parametrize(
    ("query", "purposes"),
    [
        ({"outcome": "failed"}, ["failed"]),
        ({"outcome": "refused"}, ["refused"]),
        ({"guard": "rate"}, ["refused"]),
        ({"guard": "budget"}, []),
        ({"provider": "anthropic"}, ["failed"]),
        ({"provider": "anthro"}, []),
        ({"model": "gpt-5"}, ["plain", "refused"]),
        ({"actor": "key:other"}, ["refused"]),
        ({"purpose": "plain"}, ["plain"]),
        ({"outcome": "no such"}, []),
        ({"outcome": "fai\x00led"}, ["failed"]),
        ({"started_at_from_0": "2026-05-10", "started_at_from_1": "11:30:00"}, ["plain"]),
        ({"started_at_to_0": "2026-05-10", "started_at_to_1": "10:30:00"}, ["refused"]),
        ({"q": "key:other"}, ["refused"]),
        ({"q": "claude-haiku-4-5"}, ["failed"]),
        ({"q": "timeout"}, ["failed"]),
        ({"q": "time"}, []),
        ({"q": "\x00"}, ["plain", "failed", "refused"]),
    ],
)
def test_a_list_is_narrowed(operator: Client, query: dict[str, str], purposes: list[str]) -> None:
    call(purpose="plain")
    call(
        purpose="failed", outcome="failed", reason="timeout", provider="anthropic", model="claude-haiku-4-5",
        started_at=NOON - timedelta(hours=1),
    )  # fmt: skip
    call(
        purpose="refused", outcome="refused", guard="rate", reason="full", actor="key:other",
        started_at=NOON - timedelta(hours=2),
    )  # fmt: skip
    assert listed(operator, **query) == purposes


def test_a_call_is_found_by_its_id(operator: Client) -> None:
    one = call(purpose="this one")
    call()
    assert listed(operator, q=str(one.uuid)) == ["this one"]


def test_list_looks_among_latest_calls_unless_span_of_time_or_id_is_named(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "LATEST", 2)
    oldest, *_ = [call(purpose=f"call {number}", started_at=NOON + timedelta(seconds=number)) for number in range(4)]
    assert listed(operator) == ["call 3", "call 2"]
    assert listed(operator, actor="key:app") == ["call 3", "call 2"]
    assert listed(operator, q="key:app") == ["call 3", "call 2"]
    assert len(listed(operator, started_at_from_0="2026-05-10", started_at_from_1="00:00:00")) == 4
    assert listed(operator, q=str(oldest.uuid)) == ["call 0"]
    assert "Only among the latest" in text_of(operator, HERE)
    assert "Only among the latest" not in text_of(operator, HERE, q=str(oldest.uuid))


def test_page_reads_no_content_and_takes_same_number_of_queries_for_more_rows(operator: Client) -> None:
    call(prompt="what was asked", answer="what was answered")
    text_of(operator, HERE)
    with CaptureQueriesContext(connection) as few:
        text_of(operator, HERE)
    for _ in range(40):
        call()
    with CaptureQueriesContext(connection) as many:
        text_of(operator, HERE)
    assert len(few) == len(many) <= 14
    assert not any('"prompt"' in query["sql"] for query in many)


def test_rows_are_only_read(operator: Client) -> None:
    one = call()
    assert operator.post(address(ModelCall, "change", one.pk), {"purpose": "forged"}).status_code == 403
    assert operator.post(address(ModelCall, "delete", one.pk), {"post": "yes"}).status_code == 403
    assert operator.get(address(ModelCall, "add")).status_code == 403
    one.refresh_from_db()
    assert one.purpose == "extract"


def test_who_may_not_view_calls_sees_none(staff: Callable[..., Client]) -> None:
    one = call()
    client = staff("view_budgetday")
    assert client.get(HERE).status_code == 403
    assert client.get(address(ModelCall, "change", one.pk)).status_code == 403


def test_without_chat_model_list_says_what_to_set(operator: Client, settings: Any) -> None:
    assert "MEMORYHUB_CHAT_PROVIDER" in text_of(operator, HERE)
    with configured(settings, MODEL):
        assert "MEMORYHUB_CHAT_PROVIDER" not in text_of(operator, HERE)


# --- the last day at a glance -------------------------------------------------------------------------


def test_the_outcomes_of_the_last_day_have_shares() -> None:
    for outcome, ago in (("succeeded", 1), ("succeeded", 2), ("succeeded", 3), ("failed", 4), ("failed", 25)):
        call(outcome=outcome, started_at=NOON - timedelta(hours=ago))
    summary = call_summary(noon())
    assert summary["total"] == "4"
    assert [(row["label"], row["count"], row["share"]) for row in summary["outcomes"]] == [
        ("Succeeded", "3", 75.0),
        ("Refused", "0", 0.0),
        ("Failed", "1", 25.0),
        ("Unusable answer", "0", 0.0),
    ]
    assert summary["outcomes"][2]["link"] == f"{HERE}?outcome=failed"


def test_latencies_by_provider_say_how_reliable_they_are() -> None:
    for number in range(103):
        call(latency_ms=(number + 1) * 10, started_at=NOON - timedelta(minutes=103 - number))
    for number in range(5):
        call(provider="anthropic", latency_ms=100, started_at=NOON - timedelta(minutes=number))
    call(provider="few", started_at=NOON)
    anthropic, few, openai = call_summary(noon())["latencies"]
    assert [(bar["name"], bar["value"]) for bar in openai["bars"]] == [
        ("p50", "530 ms"), ("p90", "930 ms"), ("p95", "980 ms"), ("p99", "1.0 s"),
    ]  # fmt: skip
    assert (openai["note"], openai["bars"][-1]["share"]) == ("of 99 calls", "100.0")
    assert anthropic["note"] == "2 calls: too few to draw conclusions"
    assert (few["note"], few["bars"]) == ("only the first calls, which do not count", [])


def test_without_calls_there_is_nothing_to_look_at() -> None:
    assert call_summary(noon())["outcomes"] == []


# --- content ------------------------------------------------------------------------------------------

ASKED = '{"system": "Extract.", "messages": [{"role": "user", "content": "my diary"}]}'


def test_content_that_was_not_kept_is_said_not_to_be(operator: Client) -> None:
    assert "MEMORYHUB_CHAT_KEEP_CONTENT=true keeps" in shown(operator, call())


def test_content_is_shown_while_operator_has_it_kept(operator: Client, keeping: Callable[[bool], None]) -> None:
    one = call(prompt=ASKED, answer="a secret answer")
    keeping(True)
    text = shown(operator, one)
    assert "my diary" in text
    assert "a secret answer" in text


def test_content_is_not_shown_any_more_when_operator_turned_it_off(
    operator: Client, keeping: Callable[[bool], None]
) -> None:
    one = call(prompt=ASKED, answer="a secret answer")
    keeping(False)
    text = shown(operator, one)
    assert "my diary" not in text
    assert "a secret answer" not in text
    assert "Kept, but not shown" in text


@pytest.mark.parametrize("answer", ["{", "[" * 2_000, "7", "", "\ufffd", '{"a": "</pre><script>"}'])
def test_whatever_a_model_answered_is_a_page(operator: Client, keeping: Callable[[bool], None], answer: str) -> None:
    keeping(True)
    assert "</pre><script>" not in shown(operator, call(prompt=ASKED, answer=answer))


# --- hostile names ------------------------------------------------------------------------------------


def test_models_reasons_and_whatever_else_comes_from_outside_is_escaped(
    operator: Client, keeping: Callable[[bool], None]
) -> None:
    keeping(True)
    fields = dict.fromkeys(("actor", "purpose", "provider", "model", "reason", "prompt", "answer"), SCRIPT)
    one = call(outcome="failed", started_at=utcnow(SYSTEM_CLOCK), **fields)
    call(outcome="succeeded", provider=SCRIPT, started_at=utcnow(SYSTEM_CLOCK))
    for text in (text_of(operator, HERE), shown(operator, one), text_of(operator, HERE, q=SCRIPT, provider=SCRIPT)):
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text


# --- money and times ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (None, "unknown"),
        ("0", "$0.00"),
        ("0.000000001", "$0.000001"),
        ("0.0045", "$0.0045"),
        ("0.5", "$0.50"),
        ("0.999999999", "$1.00"),
        ("1", "$1.00"),
        ("1.001", "$1.01"),
        ("12345.6", "$12,345.60"),
    ],
)
def test_money_is_shown_to_cent_and_rounded_up(amount: str | None, expected: str) -> None:
    assert dollars(None if amount is None else Decimal(amount)) == expected


def test_the_page_of_a_call_tells_exact_amounts(operator: Client) -> None:
    text = shown(operator, call(cost_usd=Decimal("0.000000001")))
    assert "$0.000000001" in text
    assert "850.5 ms" in text


def test_an_unknown_cost_is_not_nothing(operator: Client) -> None:
    assert "unknown: the model had no price" in shown(operator, call(cost_usd=None))


def test_times_are_those_of_the_start(operator: Client) -> None:
    moment = datetime.fromisoformat("2026-05-10T08:09:10+00:00")
    assert "2026-05-10 08:09:10" in shown(operator, call(started_at=moment))
