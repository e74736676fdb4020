"""The state of the chat models: which are configured, whether calls get through, what they are used for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.latency import Measurement
from apps.core.domain.scope import Access
from apps.llm.domain.breaker import Phase
from apps.llm.domain.rate import Projection
from apps.llm.guards.calls import recent_latencies
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.guards.status import BreakerStatus, BudgetStatus, breaker_status, budget_status, token_windows
from apps.llm.pricing import prices
from apps.llm.providers.configured import ModelRole, configured_roles
from apps.llm.providers.reranker import configured_reranker
from apps.llm.tools.counts import ToolStatistics, tool_statistics

COUNTED_DAYS = 30


class Availability(StrEnum):
    """Whether calls to models get through.

    READY: to each configured one. DEGRADED: not to each, or a circuit is being tried. UNAVAILABLE: to none, or nothing
    of the day's budget is left.
    """

    NOT_CONFIGURED = "not_configured"
    READY = "ready"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class GuardedModel:
    """A model of the settings. passes: its breaker, and the price that a budget needs, let calls through."""

    provider: str
    model: str
    breaker: BreakerStatus
    is_priced: bool
    passes: bool


@dataclass(frozen=True)
class ConfiguredModel(GuardedModel):
    """A chat model of the settings."""

    role: ModelRole


@dataclass(frozen=True)
class ModelFigures:
    """What all users together spent, used and asked for. tokens, latencies: by configured provider."""

    budget: BudgetStatus
    tokens: Mapping[str, Projection]
    latencies: Mapping[str, Measurement]
    tools: ToolStatistics


@dataclass(frozen=True)
class ModelsStatus:
    """The state of the chat models. figures: None for a caller with a bound: they are about all users (DESIGN D1)."""

    availability: Availability
    configured: tuple[ConfiguredModel, ...]
    figures: ModelFigures | None


def configured_models(*, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> list[ConfiguredModel]:
    """Return the chat models of the settings, the primary one first."""
    return [
        ConfiguredModel(*guarded_fields(one.name, one.model, rules, clock), role) for role, one in configured_roles()
    ]


def guarded_reranker(*, rules: GuardRules, clock: Clock = SYSTEM_CLOCK) -> GuardedModel | None:
    """Return the reranker of the settings; None where there is none."""
    reranker = configured_reranker()
    return None if reranker is None else GuardedModel(*guarded_fields(reranker.name, reranker.model, rules, clock))


def guarded_fields(
    provider: str, model: str, rules: GuardRules, clock: Clock
) -> tuple[str, str, BreakerStatus, bool, bool]:
    """Return the fields of a GuardedModel."""
    breaker = breaker_status(provider, rules=rules, clock=clock)
    is_priced = prices.tariff_of(provider, model, clock=clock) is not None
    passes = breaker.passes(utcnow(clock)) and (is_priced or not rules.budget.is_enforced)
    return provider, model, breaker, is_priced, passes


def models_status(access: Access, *, clock: Clock = SYSTEM_CLOCK) -> ModelsStatus:
    """Return the state of the chat models, and as many figures as the caller may know. Asks no provider."""
    rules = guard_rules()
    configured = configured_models(rules=rules, clock=clock)
    budget = budget_status(rules=rules, clock=clock)
    figures = None
    if access.bound.is_everything:
        providers = [model.provider for model in configured]
        latencies = recent_latencies(clock=clock) if providers else {}
        figures = ModelFigures(
            budget=budget,
            tokens=token_windows(providers, rules=rules, clock=clock),
            latencies={name: latencies[name] for name in providers if name in latencies},
            tools=tool_statistics(COUNTED_DAYS, clock=clock),
        )
    return ModelsStatus(check_availability(configured, budget), tuple(configured), figures)


def check_availability(configured: Sequence[ConfiguredModel], budget: BudgetStatus) -> Availability:
    """Return whether calls to the configured models get through."""
    if not configured:
        return Availability.NOT_CONFIGURED
    if budget.remaining == 0 or not any(model.passes for model in configured):
        return Availability.UNAVAILABLE
    is_well = all(model.passes and model.breaker.phase is Phase.CLOSED for model in configured)
    return Availability.READY if is_well else Availability.DEGRADED
