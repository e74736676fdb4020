"""Prices of models: lookup, and the rows that come with the hub.

A model is looked up by its own name, then without the date of its snapshot, then as any model (`*`) of its provider.
Where nothing is found the price is unknown: the guards then refuse a call as long as there is a budget, because they
could not say what it may cost, and make it without a known cost when there is none (docs/decisions/0016).
"""

from itertools import groupby

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.core.db.statements import Result, Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.pricing import Tariff, TokenPrice, list_price_names
from apps.llm.models import Price
from apps.llm.pricing.defaults import KNOWN_PRICES

COMES_WITH_THE_HUB = "comes with the hub"
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
