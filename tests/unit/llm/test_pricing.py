from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.budget import MAX_AMOUNT, InvalidAmountError
from apps.llm.domain.pricing import Tariff, TokenPrice, list_price_names
from apps.llm.pricing.defaults import KNOWN_PRICES

FLAT = Tariff((TokenPrice(Decimal("2.5"), Decimal(10)),))
TIERED = Tariff((TokenPrice(Decimal("0.5"), Decimal("2.5"), 100_000), TokenPrice(Decimal("0.1"), Decimal("0.5"))))


def test_a_call_costs_its_tokens_of_both_kinds() -> None:
    assert FLAT.cost(1_000_000, 1_000_000) == Decimal("12.5")
    assert FLAT.cost(1_000, 200) == Decimal("0.0045")
    assert FLAT.cost(0, 0) == 0


def test_a_cost_is_rounded_up_to_the_nano_dollar() -> None:
    assert Tariff((TokenPrice(Decimal("0.0375"), Decimal(0)),)).cost(1, 0) == Decimal("0.000000038")


def test_longer_prompt_costs_price_for_longer_prompts_as_whole() -> None:
    assert TIERED.cost(100_000, 10) == Decimal("0.010005")
    assert TIERED.cost(100_001, 10) == Decimal("0.0500255")


def test_tokens_are_never_negative() -> None:
    with pytest.raises(ValueError, match="0 tokens or more"):
        FLAT.cost(-1, 0)
    with pytest.raises(ValueError, match="0 tokens or more"):
        FLAT.cost(0, -1)


def test_a_price_is_never_negative() -> None:
    with pytest.raises(InvalidAmountError):
        TokenPrice(Decimal(-1), Decimal(0))
    with pytest.raises(InvalidAmountError):
        TokenPrice(Decimal(0), MAX_AMOUNT + 1)
    with pytest.raises(ValueError, match="above 0 tokens or more"):
        TokenPrice(Decimal(0), Decimal(0), -1)


@pytest.mark.parametrize("above", [(), (1,), (0, 0), (0, 5, 5)])
def test_tariff_says_for_every_call_what_it_costs_and_never_two_things(above: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="one price above 0"):
        Tariff(tuple(TokenPrice(Decimal(1), Decimal(1), tokens) for tokens in above))


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_more_output_never_costs_less(input_tokens: int, output_tokens: int, more: int) -> None:
    assert TIERED.cost(input_tokens, output_tokens + more) >= TIERED.cost(input_tokens, output_tokens)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("gpt-4o", ("gpt-4o", "*")),
        ("gpt-4o-2024-11-20", ("gpt-4o-2024-11-20", "gpt-4o", "*")),
        ("claude-haiku-4-5-20251001", ("claude-haiku-4-5-20251001", "claude-haiku-4-5", "*")),
        ("llama3.1-8b", ("llama3.1-8b", "*")),
        ("*", ("*",)),
    ],
)
def test_a_price_is_looked_for_under_these_names(model: str, names: tuple[str, ...]) -> None:
    assert list_price_names(model) == names


def test_every_known_price_has_date_and_source_and_is_there_once() -> None:
    keys = [(known.provider, known.model, known.valid_from, known.price.above_input_tokens) for known in KNOWN_PRICES]
    assert len(set(keys)) == len(keys)
    assert all(date(2024, 1, 1) < known.valid_from <= date(2026, 11, 21) for known in KNOWN_PRICES)
    assert all(known.source.startswith("https://") for known in KNOWN_PRICES)
    assert {known.provider for known in KNOWN_PRICES} == {"anthropic", "openai"}


def test_known_prices_are_those_of_pages_they_name() -> None:
    def dollars(model: str) -> list[tuple[int, str, str]]:
        prices = [known.price for known in KNOWN_PRICES if known.model == model]
        return [
            (price.above_input_tokens, str(price.input_per_million), str(price.output_per_million)) for price in prices
        ]

    assert dollars("claude-haiku-5-5") == [(0, "0.10", "0.50"), (100_000, "0.50", "2.50")]
    assert dollars("claude-opus-5-5") == [(0, "4", "20")]
    assert dollars("gpt-5.6-sol") == [(0, "4", "20"), (272_000, "8", "30")]
    assert dollars("gpt-5-nano") == [(0, "0.05", "0.40")]
