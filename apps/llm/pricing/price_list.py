"""The prices that hold today, for people to read; calls look theirs up by `prices`, in the same way."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.pricing import list_price_names
from apps.llm.models import Price
from apps.llm.pricing.prices import COMES_WITH_THE_HUB

OLD_AFTER = timedelta(days=183)
PriceTable = Mapping[tuple[str, str], tuple[Price, ...]]
"""By provider and model, the rows that hold: one, and others for longer prompts."""


def prices_in_force(*, clock: Clock = SYSTEM_CLOCK) -> PriceTable:
    """Return the newest valid prices of each model. A day without a price for short prompts does not count."""
    days: defaultdict[tuple[str, str], dict[date, list[Price]]] = defaultdict(dict)
    valid = Price.objects.filter(valid_from__lte=utcnow(clock).date())
    for price in valid.order_by("valid_from", "above_input_tokens"):
        days[price.provider, price.model].setdefault(price.valid_from, []).append(price)
    table = {}
    for model, by_day in days.items():
        whole = [day for day, prices in by_day.items() if prices[0].above_input_tokens == 0]
        if whole:
            table[model] = tuple(by_day[max(whole)])
    return table


def find_prices(table: PriceTable, provider: str, model: str) -> tuple[Price, ...]:
    """Return the prices of a model, as a call would find them; empty where none is known."""
    return next((table[provider, name] for name in list_price_names(model) if (provider, name) in table), ())


def confirmed_on(price: Price) -> date:
    """Return the last day on which a price was confirmed: by an edit, or by its source."""
    if price.edited_by == COMES_WITH_THE_HUB:
        return price.valid_from
    return max(price.valid_from, price.edited_at.date())


def is_old(price: Price, today: date) -> bool:
    """Return whether a price was not confirmed for half a year."""
    return today - confirmed_on(price) > OLD_AFTER


def old_prices(table: PriceTable, today: date) -> Iterator[Price]:
    """Return the prices that hold and were not confirmed for half a year."""
    return (price for prices in table.values() for price in prices if is_old(price, today))
