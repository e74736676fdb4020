"""The prices that come with the hub: list prices for a million tokens, without discounts for caches and batches.

`valid_from` is the first day on which the price is known to have held: that of the model's release or of the change of
its price where the source names it, else the day of the source. Nothing is ever changed in here: a new price is a new
line, with the day from which it holds.
"""

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from apps.llm.domain.pricing import TokenPrice

ANTHROPIC, OPENAI = "anthropic", "openai"
_ANTHROPIC_DOCS = "https://platform.claude.com/docs/models/{}/overview"
_OPENAI_DOCS = "https://developers.openai.com/api/docs/models/{}"
_LIST = "https://github.com/simonw/llm-prices (data/{}.json)"
_LITELLM = "https://docs.litellm.ai/blog/gpt-6-1-terra"
_GPT_6 = "https://github.com/merefield/codexometer/releases/tag/v0.18.4 (OpenAI's prices of 2026-09-22)"
_GPT_5_6 = "https://docs.laozhang.ai/en/announcements/gpt-5-6-pricing-2026-07.md (OpenAI's price cut of 2026-07-30)"


class KnownPrice(NamedTuple):
    """One price of one model."""

    provider: str
    model: str
    valid_from: date
    price: TokenPrice
    source: str


def list_prices(provider: str, model: str, valid_from: str, prices: str, source: str) -> list[KnownPrice]:
    """Return the prices of a model. prices: `input/output`, and `above:input/output` for longer prompts."""
    known = []
    for text in prices.split():
        above, _, amounts = text.rpartition(":")
        dollars_in, dollars_out = amounts.split("/")
        price = TokenPrice(Decimal(dollars_in), Decimal(dollars_out), int(above or 0))
        known.append(KnownPrice(provider, model, date.fromisoformat(valid_from), price, source))
    return known


def anthropic(model: str, valid_from: str, prices: str, page: str) -> list[KnownPrice]:
    """Return prices of Anthropic. page: of its documentation, or a whole address."""
    return list_prices(ANTHROPIC, model, valid_from, prices, page if "/" in page else _ANTHROPIC_DOCS.format(page))


def openai(model: str, valid_from: str, prices: str, source: str = _LIST.format(OPENAI)) -> list[KnownPrice]:
    """Return prices of OpenAI."""
    return list_prices(OPENAI, model, valid_from, prices, source)


KNOWN_PRICES: tuple[KnownPrice, ...] = (
    *anthropic("claude-fable-5-1", "2026-09-03", "10/50", "opus-5"),
    *anthropic("claude-opus-5-5", "2026-09-23", "4/20", "opus-5-5"),
    *anthropic("claude-opus-5", "2026-07-24", "5/25", "opus-5"),
    *anthropic("claude-opus-4-8", "2026-07-24", "5/25", _LIST.format(ANTHROPIC)),
    *anthropic("claude-opus-4-7", "2026-04-30", "5/25", _LIST.format(ANTHROPIC)),
    *anthropic("claude-opus-4-6", "2026-03-21", "5/25", _LIST.format(ANTHROPIC)),
    *anthropic("claude-opus-4-5", "2025-11-24", "5/25", "opus-4-5"),
    *anthropic("claude-sonnet-5-5", "2026-09-28", "2/10", "sonnet-5-5"),
    *anthropic("claude-sonnet-5", "2026-07-24", "2/10", "sonnet-5"),
    *anthropic("claude-sonnet-4-6", "2026-03-21", "3/15", "https://deploybase.ai/articles/claude-api-pricing"),
    *anthropic("claude-sonnet-4-5", "2025-09-29", "3/15", _LIST.format(ANTHROPIC)),
    *anthropic("claude-haiku-5-5", "2026-10-07", "0.10/0.50 100000:0.50/2.50", "haiku-5-5"),
    *anthropic("claude-haiku-4-5", "2025-10-15", "1/5", "haiku-4-5"),
    *openai("gpt-6.1-sol", "2026-09-29", "2/10 272000:4/15", _LITELLM),
    *openai("gpt-6.1-terra", "2026-10-26", "1/5 272000:2/7.5", _LITELLM),
    *openai("gpt-6-sol", "2026-09-22", "2/10 272000:4/15", _GPT_6),
    *openai("gpt-6-luna", "2026-09-22", "0.10/0.50 272000:0.20/0.75", _GPT_6),
    *openai("gpt-5.6-sol", "2026-08-21", "4/20 272000:8/30", _OPENAI_DOCS.format("gpt-5.6-sol")),
    *openai("gpt-5.6-terra", "2026-07-30", "2/12 272000:4/18", _GPT_5_6),
    *openai("gpt-5.6-luna", "2026-07-30", "0.20/1.20 272000:0.40/1.80", _OPENAI_DOCS.format("gpt-5.6-luna")),
    *openai("gpt-5.5", "2026-04-23", "5/30 272000:10/45"),
    *openai("gpt-5.4", "2026-03-21", "2.5/15 272000:5/22.5"),
    *openai("gpt-5.4-mini", "2026-03-17", "0.75/4.5"),
    *openai("gpt-5.4-nano", "2026-03-17", "0.20/1.25"),
    *openai("gpt-5.2", "2025-12-11", "1.75/14"),
    *openai("gpt-5.1", "2025-11-13", "1.25/10"),
    *openai("gpt-5", "2025-08-07", "1.25/10"),
    *openai("gpt-5-mini", "2025-08-07", "0.25/2"),
    *openai("gpt-5-nano", "2025-08-07", "0.05/0.40", _OPENAI_DOCS.format("gpt-5-nano")),
    *openai("gpt-4.1", "2025-04-14", "2/8"),
    *openai("gpt-4.1-mini", "2025-04-14", "0.40/1.60"),
    *openai("gpt-4.1-nano", "2025-04-14", "0.10/0.40"),
    *openai("gpt-4o", "2024-11-20", "2.5/10"),
    *openai("gpt-4o-mini", "2024-07-18", "0.15/0.60"),
)
