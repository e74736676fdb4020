"""The cost of a call to a model, from the price of a million of its tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.llm.domain.budget import check_amount

TOKENS_PER_PRICE = 1_000_000
ANY_MODEL = "*"
_SNAPSHOT_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$", re.ASCII)


@dataclass(frozen=True)
class TokenPrice:
    """Dollars for a million tokens, in calls with more than `above_input_tokens` of input."""

    input_per_million: Decimal
    output_per_million: Decimal
    above_input_tokens: int = 0

    def __post_init__(self) -> None:
        if self.above_input_tokens < 0:
            raise ValueError(f"A price holds above 0 tokens or more, not {self.above_input_tokens}.")
        check_amount(self.input_per_million)
        check_amount(self.output_per_million)


@dataclass(frozen=True)
class Tariff:
    """The prices of one model. Where there are several, the whole call costs what its amount of input costs."""

    prices: tuple[TokenPrice, ...]

    def __post_init__(self) -> None:
        above = [price.above_input_tokens for price in self.prices]
        if len(set(above)) != len(above) or 0 not in above:
            raise ValueError("A tariff has one price above 0 tokens, and no two above the same number.")

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return the dollars for these tokens, rounded up to a nano-dollar. Raises ValueError for negative numbers."""
        if input_tokens < 0 or output_tokens < 0:
            raise ValueError(f"A call uses 0 tokens or more, not {input_tokens} and {output_tokens}.")
        holding = [price for price in self.prices if price.above_input_tokens < max(input_tokens, 1)]
        price = max(holding, key=lambda price: price.above_input_tokens)
        total = input_tokens * price.input_per_million + output_tokens * price.output_per_million
        return check_amount(total / TOKENS_PER_PRICE)


def list_price_names(model: str) -> Sequence[str]:
    """Return the names under which the price of a model may be listed, the most specific first.

    They are its own; the one without the date of its snapshot (`gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`); the
    provider's for any model.
    """
    return tuple(dict.fromkeys((model, _SNAPSHOT_DATE.sub("", model), ANY_MODEL)))
