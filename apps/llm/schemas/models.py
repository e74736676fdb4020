"""Outputs of the API for chat models: their state and their list. Money is decimal text: a float would round it."""

from decimal import Decimal
from typing import Annotated, TypedDict, overload

from rest_framework import serializers

from apps.core.domain.latency import Measurement, SampleQuality
from apps.core.schemas.outputs import Moment, iso, render
from apps.llm.domain.rate import DEFAULT_WINDOW_MS, Projection
from apps.llm.guards.status import BudgetStatus
from apps.llm.model_catalogue import ModelsListing
from apps.llm.models import BreakerPhase
from apps.llm.providers.configured import ModelRole
from apps.llm.schemas.tools import BlockProtocol, OutcomeWord
from apps.llm.status import Availability, ModelsStatus
from apps.llm.tools.counts import ToolStatistics

Day = Annotated[str, serializers.DateField()]
ROLES = [role.value for role in ModelRole]
RoleWord = Annotated[str, serializers.ChoiceField(choices=ROLES)]


@overload
def money(amount: Decimal) -> str: ...
@overload
def money(amount: Decimal | None) -> str | None: ...
def money(amount: Decimal | None) -> str | None:
    """Return US dollars as decimal text; None for None."""
    return None if amount is None else f"{amount:f}"


class ProviderOutput(TypedDict):
    """A chat model of the settings."""

    name: Annotated[str, "The service, with its address where that is not the service's own."]
    model: str
    role: RoleWord
    available: Annotated[bool, "Its breaker lets calls through, and a price is known if one is needed."]
    priced: Annotated[bool, "Without a price, no calls are made while there is a budget."]


class BreakerOutput(TypedDict):
    """The circuit breaker of a provider. All but its state is null for a key with a bound."""

    provider: str
    state: Annotated[str, serializers.ChoiceField(choices=BreakerPhase.choices)]
    since: Annotated[Moment | None, "Null if it has never failed."]
    retry_at: Annotated[Moment | None, "While it is open: when calls pass again."]
    failures: Annotated[int | None, "The failures that opened it, or of a closed one the failures that count."]


class BudgetOutput(TypedDict):
    """The budget for models of this day (UTC)."""

    day: Day
    limit_usd: Annotated[str | None, "Null without a budget."]
    spent_usd: Annotated[str, "What counts against the limit: spending before a reset is left out."]
    reserved_usd: Annotated[str, "Set aside for calls in progress."]
    remaining_usd: str | None
    waived_usd: Annotated[str, "Spent, but no longer counted since an operator's reset."]
    percent: Annotated[float, "Share of the limit that is spent; 0 without one."]
    warned: Annotated[list[int], "Thresholds reached, in percent."]
    resets_at: Moment


class TokensOutput(TypedDict):
    """The tokens in a provider's minute, with calls under way. Nothing is counted where there is no limit."""

    provider: str
    window_seconds: int
    limit: int | None
    used: int | None
    percent: float | None


class LatencyOutput(TypedDict):
    """The duration of recent successful calls, in milliseconds, with waits and all tries."""

    provider: str
    quality: Annotated[str, serializers.ChoiceField(choices=[quality.value for quality in SampleQuality])]
    count: Annotated[int, "Calls that were summarised."]
    warmup: Annotated[int, "Left out because they were the first."]
    trimmed: Annotated[int, "Left out because they were the slowest."]
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    min: float | None
    max: float | None


class ToolRunsOutput(TypedDict):
    """The number of requests for a tool."""

    tool: Annotated[str, "`unknown` for every name that no tool has."]
    protocol: BlockProtocol
    outcome: OutcomeWord
    count: int


class ToolStatisticsOutput(TypedDict):
    """Requests for tools since a day (UTC): abp + vcp + text = outputs."""

    since: Day
    outputs: int
    abp: int
    vcp: int
    text: Annotated[int, "Requested no tool."]
    abp_failed: Annotated[int, "Had only unusable ABP blocks."]
    fallback_to_vcp: int
    fallback_to_text: Annotated[int, "Tried to write a block, but none could be used."]
    fixed: Annotated[int, "Were repaired on the way."]
    refused: Annotated[int, "Markers and blocks that were ignored."]
    fallback_rate: Annotated[float, "Fallbacks, of the outputs that requested a tool; 0 to 1."]
    runs: list[ToolRunsOutput]


class ModelsStatusOutput(TypedDict):
    """The state of the chat models. What covers the calls of all users is null for a key with a bound."""

    configured: bool
    status: Annotated[
        str,
        serializers.ChoiceField(choices=[availability.value for availability in Availability]),
        "Whether calls get through.",
    ]
    providers: Annotated[list[ProviderOutput], "The primary one and its fallback."]
    breaker: list[BreakerOutput]
    budget: BudgetOutput | None
    tokens: list[TokensOutput] | None
    latency: list[LatencyOutput] | None
    tools: ToolStatisticsOutput | None


def render_status(status: ModelsStatus) -> ModelsStatusOutput:
    """Return the answer that reports a status."""
    figures = status.figures
    # Since when, and how often, calls failed concerns the calls of all users.
    breakers = {model.breaker.provider: model.breaker for model in status.configured}
    return {
        "configured": bool(status.configured),
        "status": status.availability.value,
        "providers": [
            {
                "name": model.provider,
                "model": model.model,
                "role": model.role.value,
                "available": model.passes,
                "priced": model.is_priced,
            }
            for model in status.configured
        ],
        "breaker": [
            {
                "provider": breaker.provider,
                "state": breaker.phase.value,
                "since": iso(breaker.since) if figures else None,
                "retry_at": iso(breaker.retry_at) if figures else None,
                "failures": breaker.failures if figures else None,
            }
            for breaker in breakers.values()
        ],
        "budget": render_budget(figures.budget) if figures else None,
        "tokens": [render_tokens(name, window) for name, window in figures.tokens.items()] if figures else None,
        "latency": [render_latency(name, one) for name, one in figures.latencies.items()] if figures else None,
        "tools": render_tool_statistics(figures.tools) if figures else None,
    }


def render_budget(budget: BudgetStatus) -> BudgetOutput:
    """Return the part of the answer for the budget."""
    return {
        "day": budget.day.isoformat(),
        "limit_usd": money(budget.limit),
        "spent_usd": money(budget.spent),
        "reserved_usd": money(budget.reserved),
        "remaining_usd": money(budget.remaining),
        "waived_usd": money(budget.waived),
        "percent": budget.percent,
        "warned": list(budget.warned),
        "resets_at": iso(budget.resets_at),
    }


def render_tokens(provider: str, window: Projection) -> TokensOutput:
    """Return the part of the answer for the tokens of a provider."""
    is_limited = window.window_limit is not None
    return {
        "provider": provider,
        "window_seconds": DEFAULT_WINDOW_MS // 1_000,
        "limit": window.window_limit,
        "used": window.window_tokens_used if is_limited else None,
        "percent": window.utilization_percent if is_limited else None,
    }


def render_latency(provider: str, measured: Measurement) -> LatencyOutput:
    """Return the part of the answer for the calls of a provider."""
    summary, has_calls = measured.summary, measured.summary.count > 0
    return {
        "provider": provider,
        "quality": measured.quality.value,
        "count": summary.count,
        "warmup": measured.warmup,
        "trimmed": measured.trimmed,
        "p50": summary.p50 if has_calls else None,
        "p90": summary.p90 if has_calls else None,
        "p95": summary.p95 if has_calls else None,
        "p99": summary.p99 if has_calls else None,
        "min": summary.min if has_calls else None,
        "max": summary.max if has_calls else None,
    }


def render_tool_statistics(tools: ToolStatistics) -> ToolStatisticsOutput:
    """Return the part of the answer for requests for tools."""
    total = tools.total
    return render(
        ToolStatisticsOutput,
        total,
        since=tools.since.isoformat(),
        runs=[
            {"tool": run.tool, "protocol": run.protocol, "outcome": run.outcome, "count": run.runs}
            for run in tools.runs
        ],
    )


class PriceOutput(TypedDict):
    """US dollars for a million tokens, as decimal text, in calls with more input than `above_input_tokens`."""

    above_input_tokens: int
    input_per_million_usd: str
    output_per_million_usd: str
    valid_from: Day
    source: Annotated[str, "Where the price was found."]


class ListedModelOutput(TypedDict):
    """A model."""

    id: Annotated[str, "Its name in the configuration."]
    provider: str
    role: Annotated[str | None, serializers.ChoiceField(choices=ROLES, allow_null=True), "What it is used for."]
    listed: Annotated[bool, "The provider lists it."]
    prices: Annotated[list[PriceOutput], "One price, and others for longer prompts; empty if none is known."]


class ListedProviderOutput(TypedDict):
    """A provider, and whether it listed its models."""

    name: str
    role: RoleWord
    count: Annotated[int, "The models that it lists."]
    problem: Annotated[str | None, "Why the list could not be fetched."]
    asked_at: Annotated[Moment | None, "The time of its last answer."]


class ModelsListOutput(TypedDict):
    """The known models, the configured ones first."""

    configured: bool
    providers: list[ListedProviderOutput]
    models: list[ListedModelOutput]
    count: int


def render_models(listing: ModelsListing) -> ModelsListOutput:
    """Return the answer that lists models."""
    return {
        "configured": bool(listing.providers),
        "providers": [
            {
                "name": provider.name,
                "role": provider.role.value,
                "count": len(provider.list.names),
                "problem": provider.list.problem,
                "asked_at": iso(provider.list.asked_at),
            }
            for provider in listing.providers
        ],
        "models": [
            {
                "id": model.name,
                "provider": model.provider,
                "role": model.role.value if model.role else None,
                "listed": model.is_listed,
                "prices": [
                    {
                        "above_input_tokens": price.above_input_tokens,
                        "input_per_million_usd": money(price.input_per_million),
                        "output_per_million_usd": money(price.output_per_million),
                        "valid_from": price.valid_from.isoformat(),
                        "source": price.source,
                    }
                    for price in model.prices
                ],
            }
            for model in listing.models
        ],
        "count": len(listing.models),
    }
