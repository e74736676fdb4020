"""Which prices hold today, for people to read; calls look theirs up by `prices`, in the same way."""

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
    """The newest prices of each model that are valid. A day without a price for short prompts is none."""
    days: defaultdict[tuple[str, str], dict[date, list[Price]]] = defaultdict(dict)
    valid = Price.objects.filter(valid_from__lte=utcnow(clock).date())
    for price in valid.order_by("valid_from", "above_input_tokens"):
        days[price.provider, price.model].setdefault(price.valid_from, []).append(price)
    return {model: prices for model, by_day in days.items() if (prices := _newest(by_day))}


def price_of(table: PriceTable, provider: str, model: str) -> tuple[Price, ...]:
    """The prices of a model, as a call would find them; empty where none is known."""
    return next((table[provider, name] for name in list_price_names(model) if (provider, name) in table), ())


def known_since(price: Price) -> date:
    """The last day on which somebody said that a price is right: who edited it, or its source."""
    if price.edited_by == COMES_WITH_THE_HUB:
        return price.valid_from
    return max(price.valid_from, price.edited_at.date())


def is_old(price: Price, today: date) -> bool:
    """Whether nobody has looked at a price for half a year."""
    return today - known_since(price) > OLD_AFTER


def old_prices(table: PriceTable, today: date) -> Iterator[Price]:
    """Those that hold, and at which nobody has looked for half a year."""
    return (price for prices in table.values() for price in prices if is_old(price, today))


def _newest(by_day: Mapping[date, list[Price]]) -> tuple[Price, ...]:
    whole = [day for day, prices in by_day.items() if prices[0].above_input_tokens == 0]
    return tuple(by_day[max(whole)]) if whole else ()
