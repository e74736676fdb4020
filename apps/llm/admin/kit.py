"""What the admin pages about models have in common: money and times for people, and who may do what."""

from decimal import ROUND_UP, Decimal
from typing import Any

from django.http import HttpRequest

from apps.llm.domain.budget import WARNING_THRESHOLDS
from apps.llm.selectors import ConfiguredModel

CENT, SMALLEST = Decimal("0.01"), Decimal("0.000001")
UNKNOWN_COST = "unknown"
# What to set when there is no chat model, in the order in which people need it.
SETTINGS = (
    ("MEMORYHUB_CHAT_PROVIDER", "openai or anthropic: the wire format; most local servers speak the first one"),
    ("MEMORYHUB_CHAT_MODEL", "the name of the model, as the provider spells it"),
    ("MEMORYHUB_CHAT_API_KEY", "the key, unless a server of your own asks for none"),
    ("MEMORYHUB_CHAT_BASE_URL", "only for another server, such as http://127.0.0.1:11434/v1"),
    ("MEMORYHUB_CHAT_DAILY_BUDGET_USD", "what may be spent in a day of UTC; 0 is no limit"),
)


def dollars(amount: Decimal | None) -> str:
    """US dollars to the cent, and small amounts to the millionth, never looking like less; for None, unknown."""
    if amount is None:
        return UNKNOWN_COST
    if amount == 0 or amount >= 1:
        return f"${amount.quantize(CENT, ROUND_UP):,}"
    shown = f"{amount.quantize(SMALLEST, ROUND_UP):f}".rstrip("0")
    return f"${shown}{'0' * max(0, 4 - len(shown))}"


def took(milliseconds: float) -> str:
    """A duration in three digits or so."""
    if milliseconds < 1_000:
        return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
    return f"{milliseconds / 1_000:,.1f} s"


def budget_tone(percent: float) -> str:
    """How bad it is that so much of a budget is spent: good, warn or bad, by the first two warnings."""
    warning, last_warning, _ = WARNING_THRESHOLDS
    return "bad" if percent >= last_warning else "warn" if percent >= warning else "good"


def may(request: HttpRequest, permission: str) -> bool:
    """Whether the person has a permission of this app, such as `change_breaker`."""
    return bool(request.user.has_perm(f"llm.{permission}"))


def models_context(configured: list[ConfiguredModel]) -> dict[str, Any]:
    """What `llm/not_configured.html` shows where there is no chat model."""
    return {"is_configured": bool(configured), "settings": SETTINGS}
