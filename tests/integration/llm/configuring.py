"""Chat models of the settings, and rows about calls, for tests of what is told about them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from apps.core.domain.clock import DeterministicClock
from apps.llm.models import Breaker, BreakerPhase, BudgetDay, ModelCall, Price
from apps.llm.providers.configured import chat_providers, reset_chat_providers
from memoryhub.config.chat import ChatConfig, ChatModelConfig

KEY = "sk-secret-0123456789"
NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)
TODAY = NOON.date()
MODEL = ChatModelConfig(
    provider="openai",
    model="gpt-5",
    base_url=None,
    api_key=KEY,
    connect_timeout_seconds=1.0,
    idle_timeout_seconds=2.0,
    timeout_seconds=3.0,
    settings="MEMORYHUB_CHAT",
)
FALLBACK = replace(MODEL, provider="anthropic", model="claude-haiku-4-5", settings="MEMORYHUB_CHAT_FALLBACK")


def noon() -> DeterministicClock:
    return DeterministicClock(milliseconds(NOON))


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)


@contextmanager
def configured(
    settings: Any, *models: ChatModelConfig, budget: str = "0", tokens: Mapping[str, int] | None = None, **guards: Any
) -> Iterator[None]:
    """The primary model and its fallback, a budget of dollars a day, and limits of tokens a minute."""
    primary, fallback = (*models, None, None)[:2]
    changed = {"daily_budget_usd": Decimal(budget), "tokens_per_minute": tokens or {}, **guards}
    hub = settings.MEMORYHUB
    settings.MEMORYHUB = replace(hub, chat=ChatConfig(primary, fallback), guards=replace(hub.guards, **changed))
    reset_chat_providers()
    yield
    for provider in chat_providers():
        provider.close()  # type: ignore[attr-defined]
    reset_chat_providers()


def call(**fields: Any) -> ModelCall:
    """A call of the key app to gpt-5 that succeeded at noon."""
    given = {
        "actor": "key:app", "purpose": "extract", "provider": "openai", "model": "gpt-5", "input_tokens": 1_200,
        "output_tokens": 300, "cost_usd": Decimal("0.0045"), "latency_ms": 850.5, "attempts": 1,
        "outcome": "succeeded", "started_at": NOON, **fields,
    }  # fmt: skip
    return ModelCall.objects.create(**given)


def spent(amount: str, day: date = TODAY, **fields: Any) -> BudgetDay:
    """A day on which so many dollars were spent, of ten."""
    return BudgetDay.objects.create(day=day, **{"spent_usd": Decimal(amount), "limit_usd": Decimal(10), **fields})


def breaker(provider: str = "openai", phase: str = "open", changed_at: datetime = NOON, failures: int = 10) -> Breaker:
    """A breaker that opened, or changed otherwise, after so many failures, a second apart."""
    moments = [changed_at - timedelta(seconds=failures - 1 - number) for number in range(failures)]
    attempts = [[milliseconds(moment), True] for moment in moments]
    return Breaker.objects.create(
        provider=provider, phase=BreakerPhase(phase), changed_at=changed_at, term=1, attempts=attempts
    )


def price(**fields: Any) -> Price:
    """A price of gpt-5 that holds since the beginning of 2026."""
    given = {
        "provider": "openai", "model": "gpt-5", "input_per_million": Decimal("1.25"), "source": "the price page",
        "output_per_million": Decimal(10), "valid_from": date(2026, 1, 1), "edited_by": "admin:operator",
        "edited_at": NOON, **fields,
    }  # fmt: skip
    return Price.objects.create(**given)
