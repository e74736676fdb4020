from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from apps.core.domain.clock import DeterministicClock
from apps.llm.models import Price
from apps.llm.pricing.defaults import KNOWN_PRICES
from apps.llm.pricing.prices import price_save, prices_ensure, tariff_of

pytestmark = pytest.mark.django_db

NOON = DeterministicClock(int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()) * 1_000)


def price(model: str, dollars: str, valid_from: str = "2026-01-01", *, above: int = 0, provider: str = "own") -> Price:
    return price_save(
        price=Price(
            provider=provider,
            model=model,
            above_input_tokens=above,
            input_per_million=Decimal(dollars),
            output_per_million=Decimal(dollars),
            valid_from=date.fromisoformat(valid_from),
            source="the invoice",
        ),
        actor="operator",
        clock=NOON,
    )


def cost(model: str, *, provider: str = "own", tokens: int = 1_000_000) -> Decimal | None:
    tariff = tariff_of(provider, model, clock=NOON)
    return tariff and tariff.cost(tokens, 0)


def test_the_known_prices_are_added_once() -> None:
    assert prices_ensure() == Price.objects.count() == len(KNOWN_PRICES)
    assert prices_ensure() == 0
    assert cost("gpt-4o-mini", provider="openai") == Decimal("0.15")
    assert cost("claude-haiku-4-5-20251001", provider="anthropic") == 1


def test_ensuring_puts_back_what_is_missing_and_leaves_what_was_edited() -> None:
    prices_ensure()
    Price.objects.filter(model="gpt-4o").delete()
    edited = Price.objects.get(model="gpt-4o-mini")
    edited.input_per_million = Decimal("0.2")
    price_save(price=edited, actor="operator", clock=NOON)
    assert prices_ensure() == 1
    assert cost("gpt-4o-mini", provider="openai") == Decimal("0.2")
    assert cost("gpt-4o", provider="openai") == Decimal("2.5")


def test_every_known_model_has_a_whole_tariff() -> None:
    prices_ensure()
    assert all(tariff_of(known.provider, known.model, clock=NOON) for known in KNOWN_PRICES)
    assert cost("claude-haiku-5-5", provider="anthropic", tokens=100_000) == Decimal("0.01")
    assert cost("claude-haiku-5-5", provider="anthropic", tokens=200_000) == Decimal("0.1")


def test_a_model_nobody_knows_has_no_price() -> None:
    assert tariff_of("own", "llama", clock=NOON) is None
    price("llama", "1", provider="other")
    assert tariff_of("own", "llama", clock=NOON) is None


def test_the_newest_price_that_is_valid_counts() -> None:
    price("llama", "1", "2026-01-01")
    price("llama", "2", "2026-11-21")
    price("llama", "3", "2026-11-22")
    assert cost("llama") == 2


def test_price_of_snapshot_goes_before_that_of_model_and_that_before_any_model_s() -> None:
    price("*", "9", "2026-10-01")
    assert cost("llama-2026-01-02") == 9
    price("llama", "2")
    assert cost("llama-2026-01-02") == 2
    price("llama-2026-01-02", "1")
    assert cost("llama-2026-01-02") == 1
    assert cost("other") == 9


def test_newer_price_for_long_prompts_alone_does_not_hide_older_ones() -> None:
    price("llama", "1", "2026-01-01")
    price("llama", "5", "2026-02-01", above=1_000)
    assert cost("llama") == 1


def test_a_price_of_zero_is_a_price() -> None:
    price("*", "0")
    assert cost("llama") == 0


def test_price_names_its_source_and_who_entered_it() -> None:
    assert (price("llama", "1").edited_by, price("other", "1").edited_at) == (
        "operator",
        datetime(2026, 11, 21, 12, tzinfo=UTC),
    )
    with pytest.raises(ValidationError, match="where the price was found"):
        price_save(price=Price(provider="own", model="x", source=" "), actor="operator")


def test_price_cannot_be_negative_or_be_there_twice() -> None:
    stored = price("llama", "1")
    with pytest.raises(ValidationError) as refusal:
        price("other", "-1")
    assert set(refusal.value.message_dict) >= {"input_per_million", "output_per_million"}
    with pytest.raises(ValidationError):
        price("llama", "2")
    for change in ({"input_per_million": -1}, {"currency": "EUR"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Price.objects.filter(pk=stored.pk).update(**change)
