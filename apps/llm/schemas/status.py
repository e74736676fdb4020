"""What the answer about the state of the chat models looks like. Money is decimal text: a float would round it."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from apps.core.domain.latency import Measurement, SampleQuality
from apps.llm.domain.protocol.statistics import COUNTERS
from apps.llm.domain.rate import DEFAULT_WINDOW_MS, Projection
from apps.llm.guards.status import BreakerStatus, BudgetStatus
from apps.llm.models import BreakerPhase
from apps.llm.providers.configured import ModelRole
from apps.llm.schemas.tool_outputs import BLOCK_PROTOCOLS, TOOL_OUTCOMES
from apps.llm.status import Availability, ConfiguredModel, ModelsStatus
from apps.llm.tools.counts import ToolStatistics

AnySerializer = serializers.Serializer[Any]
AVAILABILITIES = [availability.value for availability in Availability]
ROLES = [role.value for role in ModelRole]
PERCENTILES = ("p50", "p90", "p95", "p99", "min", "max")


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def money(amount: Decimal | None) -> str | None:
    """US dollars as decimal text."""
    return None if amount is None else f"{amount:f}"


class ProviderOutput(AnySerializer):
    """A chat model of the settings."""

    name = serializers.CharField(help_text="The service, with its address where that is not the service's own.")
    model = serializers.CharField()
    role = serializers.ChoiceField(choices=ROLES)
    available = serializers.BooleanField(help_text="Its breaker lets calls through, and it has the price it needs.")
    priced = serializers.BooleanField(help_text="Without a price no call is made while there is a budget.")


class BreakerOutput(AnySerializer):
    """The circuit breaker of a provider. All but its state is null for a key with a bound."""

    provider = serializers.CharField()
    state = serializers.ChoiceField(choices=BreakerPhase.choices)
    since = serializers.DateTimeField(allow_null=True, help_text="Null when it never failed.")
    retry_at = serializers.DateTimeField(allow_null=True, help_text="While it is open: when calls pass again.")
    failures = serializers.IntegerField(allow_null=True, help_text="That opened it; of a closed one, those that count.")


class BudgetOutput(AnySerializer):
    """What may be spent on models in this day of UTC."""

    day = serializers.DateField()
    limit_usd = serializers.CharField(allow_null=True, help_text="Null without a budget.")
    spent_usd = serializers.CharField(help_text="What counts: without what was waived.")
    reserved_usd = serializers.CharField(help_text="Set aside for calls under way.")
    remaining_usd = serializers.CharField(allow_null=True)
    waived_usd = serializers.CharField(help_text="Spent, and not counted since an operator said so.")
    percent = serializers.FloatField(help_text="Spent, of the limit; 0 without one.")
    warned = serializers.ListField(child=serializers.IntegerField(), help_text="Thresholds reached, in percent.")
    resets_at = serializers.DateTimeField()


class TokensOutput(AnySerializer):
    """What a provider's minute holds, calls under way among it. Nothing is counted where there is no limit."""

    provider = serializers.CharField()
    window_seconds = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True)
    used = serializers.IntegerField(allow_null=True)
    percent = serializers.FloatField(allow_null=True)


class LatencyOutput(AnySerializer):
    """How long recent calls took that succeeded, in milliseconds, waits and all tries included."""

    provider = serializers.CharField()
    quality = serializers.ChoiceField(choices=[quality.value for quality in SampleQuality])
    count = serializers.IntegerField(help_text="Calls that were summarised.")
    warmup = serializers.IntegerField(help_text="Left out because they were the first.")
    trimmed = serializers.IntegerField(help_text="Left out because they were the slowest.")
    p50 = serializers.FloatField(allow_null=True)
    p90 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
    p99 = serializers.FloatField(allow_null=True)
    min = serializers.FloatField(allow_null=True)
    max = serializers.FloatField(allow_null=True)


class ToolRunsOutput(AnySerializer):
    """How often a tool was asked for."""

    tool = serializers.CharField(help_text="`unknown` stands for all that there are not.")
    protocol = serializers.ChoiceField(choices=BLOCK_PROTOCOLS)
    outcome = serializers.ChoiceField(choices=TOOL_OUTCOMES)
    count = serializers.IntegerField()


class ToolStatisticsOutput(AnySerializer):
    """How models asked for tools since a day of UTC: abp + vcp + text = outputs."""

    since = serializers.DateField()
    outputs = serializers.IntegerField()
    abp = serializers.IntegerField()
    vcp = serializers.IntegerField()
    text = serializers.IntegerField(help_text="Asked for no tool.")
    abp_failed = serializers.IntegerField(help_text="Had an ABP block that could not be used, and none that could.")
    fallback_to_vcp = serializers.IntegerField()
    fallback_to_text = serializers.IntegerField(help_text="Meant a block, and none could be used.")
    fixed = serializers.IntegerField(help_text="Were repaired on the way.")
    refused = serializers.IntegerField(help_text="Markers and blocks that were not acted upon.")
    fallback_rate = serializers.FloatField(help_text="Fallbacks, of the outputs that asked for a tool; 0 to 1.")
    runs = ToolRunsOutput(many=True)


class ModelsStatusOutput(AnySerializer):
    """How the chat models are. What is about everybody's calls is null for a key with a bound."""

    configured = serializers.BooleanField()
    status = serializers.ChoiceField(choices=AVAILABILITIES, help_text="Whether calls get through.")
    providers = ProviderOutput(many=True, help_text="The primary one and its fallback.")
    breaker = BreakerOutput(many=True)
    budget = BudgetOutput(allow_null=True)
    tokens = TokensOutput(many=True, allow_null=True)
    latency = LatencyOutput(many=True, allow_null=True)
    tools = ToolStatisticsOutput(allow_null=True)


def status_json(status: ModelsStatus) -> dict[str, Any]:
    """A status as ModelsStatusOutput describes it."""
    figures, breakers = status.figures, {model.breaker.provider: model.breaker for model in status.configured}
    return {
        "configured": bool(status.configured),
        "status": status.availability.value,
        "providers": [_provider_json(model) for model in status.configured],
        "breaker": [_breaker_json(breaker, is_told=figures is not None) for breaker in breakers.values()],
        "budget": figures and _budget_json(figures.budget),
        "tokens": figures and [_tokens_json(name, window) for name, window in figures.tokens.items()],
        "latency": figures and [_latency_json(name, measured) for name, measured in figures.latencies.items()],
        "tools": figures and _tools_json(figures.tools),
    }


def _provider_json(model: ConfiguredModel) -> dict[str, Any]:
    return {
        "name": model.provider,
        "model": model.model,
        "role": model.role.value,
        "available": model.passes,
        "priced": model.is_priced,
    }


def _breaker_json(breaker: BreakerStatus, *, is_told: bool) -> dict[str, Any]:
    """is_told: whether the caller may know since when, and how often calls failed: they are everybody's."""
    return {
        "provider": breaker.provider,
        "state": breaker.phase.value,
        "since": iso(breaker.since) if is_told else None,
        "retry_at": iso(breaker.retry_at) if is_told else None,
        "failures": breaker.failures if is_told else None,
    }


def _budget_json(budget: BudgetStatus) -> dict[str, Any]:
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


def _tokens_json(provider: str, window: Projection) -> dict[str, Any]:
    is_limited = window.window_limit is not None
    return {
        "provider": provider,
        "window_seconds": DEFAULT_WINDOW_MS // 1_000,
        "limit": window.window_limit,
        "used": window.window_tokens_used if is_limited else None,
        "percent": window.utilization_percent if is_limited else None,
    }


def _latency_json(provider: str, measured: Measurement) -> dict[str, Any]:
    summary = measured.summary
    return {
        "provider": provider,
        "quality": measured.quality.value,
        "count": summary.count,
        "warmup": measured.warmup,
        "trimmed": measured.trimmed,
        **{name: getattr(summary, name) if summary.count else None for name in PERCENTILES},
    }


def _tools_json(tools: ToolStatistics) -> dict[str, Any]:
    return {
        "since": tools.since.isoformat(),
        **{name: getattr(tools.total, name) for name in COUNTERS},
        "fallback_rate": tools.total.fallback_rate,
        "runs": [
            {"tool": run.tool, "protocol": run.protocol, "outcome": run.outcome, "count": run.runs}
            for run in tools.runs
        ],
    }
