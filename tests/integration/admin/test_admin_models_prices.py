"""Prices of models in the admin: entered with a day and a source, and doubted when they are old."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.llm.admin import prices
from apps.llm.admin.prices import source_link
from apps.llm.models import Price
from apps.llm.pricing.prices import COMES_WITH_THE_HUB, OLD_AFTER, prices_ensure, tariff_of
from tests.integration.admin.pages import address, text_of
from tests.integration.llm.configuring import FALLBACK, MODEL, call, configured, price

pytestmark = pytest.mark.django_db

HERE = address(Price, "changelist")
ADD = address(Price, "add")
SCRIPT = "<script>alert(1)</script>"
ENTERED = {
    "provider": "openai@127.0.0.1:11434",
    "model": "*",
    "input_per_million": "0",
    "output_per_million": "0.5",
    "above_input_tokens": "0",
    "valid_from": "2026-05-10",
    "source": "our own machine",
}


def states(client: Client) -> dict[str, str]:
    """The state of each price that a list shows, by model and first day."""
    shown = client.get(HERE).context["cl"]
    return {f"{one.model} {one.valid_from}": str(shown.model_admin.state(one)[1]) for one in shown.result_list}


def today() -> date:
    return utcnow(SYSTEM_CLOCK).date()


# --- entering -----------------------------------------------------------------------------------------


def test_a_price_is_entered_and_counts_for_calls(operator: Client) -> None:
    assert operator.post(ADD, ENTERED).status_code == 302
    one = Price.objects.get()
    assert (one.edited_by, one.source, one.currency) == ("admin:operator", "our own machine", "USD")
    assert abs(utcnow(SYSTEM_CLOCK) - one.edited_at) < timedelta(minutes=5)
    tariff = tariff_of("openai@127.0.0.1:11434", "whatever")
    assert tariff is not None
    assert tariff.cost(1_000_000, 1_000_000) == Decimal("0.5")


def test_a_new_price_holds_from_today_by_default(operator: Client) -> None:
    assert f'value="{today().isoformat()}"' in text_of(operator, ADD)


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("source", "", "required"),
        ("source", "   ", "required"),
        ("source", "x" * 301, "at most 300"),
        ("valid_from", "", "required"),
        ("valid_from", "soon", "valid date"),
        ("provider", "", "required"),
        ("model", " ", "required"),
        ("model", "a\x00b", "Null characters"),
        ("input_per_million", "-1", "greater than or equal to 0"),
        ("output_per_million", "NaN", "Enter a number"),
        ("output_per_million", "Infinity", "Enter a number"),
        ("input_per_million", "0.0000001", "6 decimal places"),
        ("input_per_million", "1e20", "digits"),
        ("above_input_tokens", "-1", "greater than or equal to 0"),
        ("above_input_tokens", "99999999999", "less than or equal"),
    ],
)
def test_what_cannot_be_price_is_reported_at_its_field(operator: Client, field: str, value: str, shown: str) -> None:
    response = operator.post(ADD, {**ENTERED, field: value})
    assert response.status_code == 200
    assert shown in str(response.context["adminform"].form.errors[field])
    assert not Price.objects.exists()


def test_two_prices_for_same_model_and_day_are_refused(operator: Client) -> None:
    operator.post(ADD, ENTERED)
    response = operator.post(ADD, {**ENTERED, "output_per_million": "9"})
    assert "already exists" in response.content.decode()
    assert Price.objects.get().output_per_million == Decimal("0.5")
    assert operator.post(ADD, {**ENTERED, "above_input_tokens": "1000"}).status_code == 302


def test_price_entered_by_another_person_is_reported(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise ValidationError({"model": "There is one."})

    monkeypatch.setattr(prices, "price_save", refuse)
    response = operator.post(ADD, ENTERED, follow=True)
    assert "Another person entered a price" in response.content.decode()


def test_price_is_corrected_under_name_of_who_did_it(operator: Client) -> None:
    prices_ensure()
    one = Price.objects.get(provider="openai", model="gpt-5", above_input_tokens=0)
    entered = {**ENTERED, "provider": "openai", "model": "gpt-5", "valid_from": one.valid_from.isoformat()}
    operator.post(address(Price, "change", one.pk), entered)
    one.refresh_from_db()
    assert (one.output_per_million, one.edited_by) == (Decimal("0.5"), "admin:operator")
    assert prices_ensure() == 0
    one.refresh_from_db()
    assert one.output_per_million == Decimal("0.5")


def test_a_price_is_never_deleted(operator: Client) -> None:
    one = price()
    assert operator.post(address(Price, "delete", one.pk), {"post": "yes"}).status_code == 403
    answer = operator.post(HERE, {"action": "delete_selected", "_selected_action": [one.pk], "post": "yes"})
    assert answer.status_code in {200, 302}
    assert Price.objects.count() == 1


@pytest.mark.parametrize(
    ("permissions", "status"),
    [(("view_price",), (403, 403)), (("view_price", "change_price"), (403, 302)), (("add_price",), (302, 403))],
)
def test_prices_are_entered_by_those_who_may(
    staff: Callable[..., Client], permissions: tuple[str, ...], status: tuple[int, int]
) -> None:
    one = price()
    client = staff(*permissions)
    change = address(Price, "change", one.pk)
    assert (client.post(ADD, ENTERED).status_code, client.post(change, {**ENTERED, "model": "m"}).status_code) == status


# --- which ones hold ----------------------------------------------------------------------------------


def test_each_price_says_whether_it_holds(operator: Client) -> None:
    price(model="a", valid_from=date(2025, 1, 1))
    price(model="a", valid_from=today())
    price(model="a", valid_from=today() + timedelta(days=1))
    old = today() - OLD_AFTER - timedelta(days=1)
    price(model="b", valid_from=old, edited_by=COMES_WITH_THE_HUB)
    price(model="unused", valid_from=old, edited_by=COMES_WITH_THE_HUB)
    call(model="b", started_at=utcnow(SYSTEM_CLOCK))
    assert states(operator) == {
        "a 2025-01-01": "Replaced",
        f"a {today()}": "In effect",
        f"a {today() + timedelta(days=1)}": "Not yet in effect",
        f"b {old}": "Old",
        f"unused {old}": "In effect",
    }


def test_old_price_of_configured_model_is_warned_of_by_name(operator: Client, settings: Any) -> None:
    old = today() - OLD_AFTER - timedelta(days=1)
    price(edited_by=COMES_WITH_THE_HUB, valid_from=old)
    price(model="gpt-4o", edited_by=COMES_WITH_THE_HUB, valid_from=old)
    price(provider="anthropic", model="claude-haiku-4-5", edited_at=utcnow(SYSTEM_CLOCK))
    with configured(settings, MODEL, FALLBACK):
        text = text_of(operator, HERE)
    assert "The price of openai gpt-5 has not been confirmed for half a year." in text
    assert "1 price of models in use has not been confirmed for half a year" in text


def test_fresh_hub_has_no_old_price(operator: Client) -> None:
    prices_ensure()
    found = states(operator)
    assert len(found) > 30
    assert "Old" not in found.values()
    assert "not confirmed for half a year" not in text_of(operator, HERE)


def test_saving_a_price_confirms_it(operator: Client) -> None:
    old = today() - OLD_AFTER - timedelta(days=1)
    one = price(edited_by=COMES_WITH_THE_HUB, valid_from=old)
    call(started_at=utcnow(SYSTEM_CLOCK))
    assert list(states(operator).values()) == ["Old"]
    entered = {**ENTERED, "provider": "openai", "model": "gpt-5", "valid_from": old.isoformat()}
    operator.post(address(Price, "change", one.pk), entered)
    assert list(states(operator).values()) == ["In effect"]


@pytest.mark.parametrize(("budget", "shown"), [("10", "every call to it is refused"), ("0", "so its cost is unknown")])
def test_configured_model_without_price_is_named(operator: Client, settings: Any, budget: str, shown: str) -> None:
    price(provider="anthropic", model="claude-haiku-4-5")
    with configured(settings, MODEL, FALLBACK, budget=budget):
        text = text_of(operator, HERE)
    assert "openai gpt-5 has no price" in text
    assert shown in text


def test_with_fresh_prices_for_all_nothing_is_warned_of(operator: Client, settings: Any) -> None:
    price(edited_at=utcnow(SYSTEM_CLOCK))
    with configured(settings, MODEL, budget="10"):
        text = text_of(operator, HERE)
    assert 'class="mh-warning"' not in text
    assert "half a year" not in text


def test_amounts_are_shown_as_they_are(operator: Client) -> None:
    price(input_per_million=Decimal("0.000001"), output_per_million=Decimal("1234.5"), above_input_tokens=272_000)
    text = text_of(operator, HERE)
    assert "$0.000001" in text
    assert "$1,234.50" in text
    assert "openai, above 272,000 input tokens" in text


def test_prices_that_come_with_hub_are_list(operator: Client, django_assert_max_num_queries: Any) -> None:
    prices_ensure()
    text_of(operator, HERE)
    with django_assert_max_num_queries(14):
        text_of(operator, HERE)


# --- hostile text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("the invoice", "the invoice"),
        (
            "https://example.org/prices (2026)",
            '<a class="mh-link" href="https://example.org/prices" rel="noopener noreferrer">example.org</a> (2026)',
        ),
        ("http://example.org", "http://example.org"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("https://", "https://"),
        (
            'https://a"onmouseover=alert(1)/',
            '<a class="mh-link" href="https://a&quot;onmouseover=alert(1)/" rel="noopener noreferrer">'
            "a&quot;onmouseover=alert(1)</a> ",
        ),
    ],
)
def test_source_is_link_only_when_it_is_address_of_web(source: str, shown: str) -> None:
    assert str(source_link(source)) == shown


def test_what_people_enter_is_escaped(operator: Client, settings: Any) -> None:
    one = price(provider=SCRIPT, model=SCRIPT, source=SCRIPT, edited_by=SCRIPT)
    with configured(settings):
        pages = (text_of(operator, HERE), text_of(operator, address(Price, "change", one.pk)))
    for text in pages:
        assert "<script>alert(1)" not in text
        assert "&lt;script&gt;alert(1)" in text
