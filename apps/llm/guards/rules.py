"""The rules of the guards, from the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings

from apps.llm.domain.breaker import DEFAULT_CIRCUIT_CONFIG, CircuitConfig
from apps.llm.domain.budget import Budget
from apps.llm.domain.rate import TOKENS_PER_MINUTE, RateLimit

# How the spec calls providers that have another name here.
SPEC_NAMES = {"anthropic": "claude"}
RESERVATION_MS = 900_000


@dataclass(frozen=True)
class GuardRules:
    """budget: of a day. tokens_per_minute: by provider, 0 for no limit; see `rate_limit` for those that have none.

    reservation_ms: how long a reservation counts that is not settled; longer than any call.
    keeps_content: whether calls are recorded with what was asked and answered.
    """

    budget: Budget = field(default_factory=lambda: Budget(Decimal(0)))
    circuit: CircuitConfig = DEFAULT_CIRCUIT_CONFIG
    tokens_per_minute: Mapping[str, int] = field(default_factory=dict)
    reservation_ms: int = RESERVATION_MS
    keeps_content: bool = False

    def rate_limit(self, provider: str) -> RateLimit:
        """Return how many tokens a minute the provider takes.

        A service at another address (`openai@proxy.example`) has a window of its own, and the limit of the service
        unless it is named itself: most often a proxy or a plan of that very service is behind it.
        """
        service = provider.partition("@")[0]
        spec = TOKENS_PER_MINUTE.get(SPEC_NAMES.get(service, service))
        given = self.tokens_per_minute
        return RateLimit(given.get(provider, given.get(service, spec)) or None)


def guard_rules() -> GuardRules:
    """Return the rules of the settings."""
    config = settings.MEMORYHUB.guards
    return GuardRules(
        budget=Budget(config.daily_budget_usd),
        circuit=CircuitConfig(
            error_threshold=config.breaker_error_threshold,
            window_size=config.breaker_window_size,
            window_ms=round(config.breaker_window_seconds * 1_000),
            cooldown_ms=round(config.breaker_cooldown_seconds * 1_000),
            probes_required=config.breaker_probes,
        ),
        tokens_per_minute=config.tokens_per_minute,
        reservation_ms=config.reservation_seconds * 1_000,
        keeps_content=config.keep_content,
    )
