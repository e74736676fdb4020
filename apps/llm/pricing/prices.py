"""Prices of models: lookup, and the rows that come with the hub.

A model is looked up by its own name, then without the date of its snapshot, then as any model (`*`) of its provider.
Where nothing is found the price is unknown: the guards then refuse a call as long as there is a budget, because they
could not say what it may cost, and make it without a known cost when there is none (docs/decisions/0016).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from itertools import groupby

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.words import gettext_noop
from apps.llm.domain.pricing import Tariff, TokenPrice, list_price_names
from apps.llm.models import ModelCall, Price
from apps.llm.pricing.defaults import KNOWN_PRICES

COMES_WITH_THE_HUB = gettext_noop("comes with the hub")
OLD_AFTER = timedelta(days=183)
USED_WITHIN = timedelta(days=30)
PriceTable = Mapping[tuple[str, str], tuple[Price, ...]]
"""By provider and model, the rows that hold: one, and others for longer prompts."""
PRICES_SQL = """
SELECT model, valid_from, above_input_tokens, input_per_million, output_per_million FROM llm_price
WHERE provider = %s AND model = ANY(%s) AND valid_from <= %s
"""


def tariff_of(provider: str, model: str, *, clock: Clock = SYSTEM_CLOCK) -> Tariff | None:
    """Return what the model costs today (UTC); None where no price is known."""
    [result] = run(select_prices(provider, model, clock=clock))
    return parse_tariff(result, model)


def select_prices(provider: str, model: str, *, clock: Clock = SYSTEM_CLOCK) -> Statement:
    """Return the statement whose result `parse_tariff` reads."""
    return Statement(PRICES_SQL, [provider, list(list_price_names(model)), utcnow(clock).date()])


def parse_tariff(result: Result, model: str) -> Tariff | None:
    """Return the newest price of the model; None where no price is known.

    A day without a price for short prompts is no tariff, so an older one holds.
    """
    newest: dict[str, Tariff] = {}
    for (name, _), same_day in groupby(sorted(result.rows), key=lambda row: row[:2]):
        prices = tuple(TokenPrice(dollars_in, dollars_out, above) for _, _, above, dollars_in, dollars_out in same_day)
        if prices[0].above_input_tokens == 0:
            newest[name] = Tariff(prices)
    return next((newest[name] for name in list_price_names(model) if name in newest), None)


@transaction.atomic
def prices_ensure(*, clock: Clock = SYSTEM_CLOCK) -> int:
    """Add the prices that come with the hub where they are missing; return how many were. Each start does it.

    A row that exists for the same model and day is never changed, so what an operator edited stays; one that was
    deleted comes back.
    """
    now, before = utcnow(clock), Price.objects.count()
    rows = [
        Price(
            provider=known.provider,
            model=known.model,
            above_input_tokens=known.price.above_input_tokens,
            input_per_million=known.price.input_per_million,
            output_per_million=known.price.output_per_million,
            valid_from=known.valid_from,
            source=known.source,
            edited_by=COMES_WITH_THE_HUB,
            edited_at=now,
        )
        for known in KNOWN_PRICES
    ]
    Price.objects.bulk_create(rows, ignore_conflicts=True)
    return Price.objects.count() - before


@transaction.atomic
def price_save(*, price: Price, actor: str, clock: Clock = SYSTEM_CLOCK) -> Price:
    """Store a new price, or a correction of one. Raises ValidationError, which names the fields."""
    price.edited_by, price.edited_at = actor, utcnow(clock)
    if not price.source.strip():
        raise ValidationError({"source": "Say where the price was found."})
    price.full_clean()
    price.save()
    return price


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


def old_prices(table: PriceTable, models: Iterable[tuple[str, str]], today: date) -> Iterator[Price]:
    """Return the prices by which these models are charged, as provider and name, that were not confirmed lately.

    The price of a model that is not used matters to none, so it is not old, however long ago it was confirmed.
    """
    used = {price.pk: price for provider, name in models for price in find_prices(table, provider, name)}
    return (price for price in used.values() if is_old(price, today))


def called_models(*, clock: Clock = SYSTEM_CLOCK) -> set[tuple[str, str]]:
    """Return the provider and the name of each model that was called within USED_WITHIN."""
    calls = ModelCall.objects.filter(started_at__gte=utcnow(clock) - USED_WITHIN, attempts__gt=0)
    return set(calls.order_by().values_list("provider", "model").distinct())
