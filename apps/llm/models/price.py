"""Prices of models."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from apps.llm.models.fields import MAX_ACTOR_CHARS, MAX_MODEL_CHARS, MAX_PROVIDER_CHARS

CURRENCY = "USD"


def per_million(what: str) -> models.DecimalField[Decimal, Decimal]:
    """Build a field for the price of a million tokens."""
    return models.DecimalField(
        f"{what} price",
        max_digits=16,
        decimal_places=6,
        validators=[MinValueValidator(0)],
        help_text=f"US dollars for a million {what} tokens; 0 for a model that costs nothing.",
    )


class Price(models.Model):
    """What a million tokens of a model cost from a day on.

    Add a row for a new price rather than changing an old one, so that past costs can still be explained. Among the rows
    of a model, the newest that is valid counts. `prices.prices_ensure` adds the rows that come with the hub where they
    are missing, and never changes one.
    """

    provider = models.CharField(
        max_length=MAX_PROVIDER_CHARS,
        help_text="As calls name it: openai, anthropic, or openai@127.0.0.1:11434 for a server of your own.",
    )
    model = models.CharField(
        max_length=MAX_MODEL_CHARS,
        help_text="As the provider spells it, with or without the date of a snapshot. * is every model of the provider "
        "that has no price of its own.",
    )
    above_input_tokens = models.PositiveIntegerField(
        default=0, help_text="For models whose longer prompts cost more: the price of calls with more input than this."
    )
    input_per_million = per_million("input")
    output_per_million = per_million("output")
    currency = models.CharField(max_length=3, default=CURRENCY, editable=False)
    valid_from = models.DateField(help_text="The first day (UTC) on which the price is in effect.")
    source = models.CharField(max_length=300, help_text="Where the price was found.")
    edited_by = models.CharField(max_length=MAX_ACTOR_CHARS, editable=False)
    edited_at = models.DateTimeField(editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["provider", "model", "-valid_from", "above_input_tokens"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Which of two prices counts must never be a matter of chance. Finds prices of a model, too.
            models.UniqueConstraint(
                name="llm_price_once_a_day", fields=["provider", "model", "valid_from", "above_input_tokens"]
            ),
            # A negative price would make room in the budget.
            models.CheckConstraint(
                name="llm_price_not_negative", condition=Q(input_per_million__gte=0) & Q(output_per_million__gte=0)
            ),
            # The budget is in dollars, and nothing here converts.
            models.CheckConstraint(name="llm_price_in_dollars", condition=Q(currency=CURRENCY)),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} from {self.valid_from}"
