"""The page of budget and breakers: today, the last days, and each provider with its guards."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.timesince import timeuntil

from apps.core.admin.kit import dollars, moment
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.pages.times import ago
from apps.llm.admin.charts import spending_chart
from apps.llm.domain.breaker import Phase
from apps.llm.domain.rate import THROTTLE_PERCENT, Projection
from apps.llm.guards.calls import failure_reasons, spent_days
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.guards.status import BreakerStatus, BudgetStatus, breaker_statuses, budget_status, token_windows
from apps.llm.status import ConfiguredModel, configured_models

CHARTED_DAYS = 30
MINUTE = timedelta(minutes=1)
PHASES = {
    Phase.CLOSED: ("Closed", "success", "Calls pass."),
    Phase.OPEN: ("Open", "danger", "No call passes."),
    Phase.HALF_OPEN: ("Half-open", "warning", "A few calls may find out whether it is back."),
}


def budget_page(*, may_reset: bool, clock: Clock = SYSTEM_CLOCK) -> dict[str, Any]:
    """Return the context of templates/llm/budget.html. may_reset: whether the person may reset breakers."""
    rules, now = guard_rules(), utcnow(clock)
    configured = configured_models(rules=rules, clock=clock)
    budget = budget_status(rules=rules, clock=clock)
    return {
        "is_configured": bool(configured),
        "today": describe_today(budget, now),
        "spending": spending_chart(spent_days(CHARTED_DAYS, clock=clock), budget.limit),
        "providers": list(describe_providers(configured, rules, may_reset=may_reset, clock=clock)),
    }


def describe_today(budget: BudgetStatus, now: datetime) -> dict[str, Any]:
    """Return what is shown of today."""
    facts = [("Spent", dollars(budget.spent)), ("Set aside for calls under way", dollars(budget.reserved))]
    if budget.limit is not None:
        facts.append(("Left", dollars(budget.remaining)))
    if budget.waived:
        facts.append(("Waived", f"{dollars(budget.waived)}, by {budget.waived_by} at {moment(budget.waived_at)}"))
    facts.append(("A new day begins in", f"{timeuntil(budget.resets_at, now)}, at midnight UTC"))
    return {
        "limit": dollars(budget.limit) if budget.limit is not None else None,
        "spent": dollars(budget.spent),
        "has_spent": budget.spent > 0,
        "share": describe_share(budget) if budget.limit is not None else None,
        "warned": ", ".join(f"{threshold}%" for threshold in budget.warned),
        "facts": facts,
    }


def describe_share(budget: BudgetStatus) -> dict[str, Any]:
    """Return how much of a budget is spent and set aside, as parts of a bar."""
    spent = min(100.0, budget.percent)
    reserved = min(100.0, budget.percent + budget.reserved_percent) - spent
    return {
        "percent": f"{budget.percent:,.0f}" if budget.percent >= 10 else f"{budget.percent:.1f}",
        "parts": [
            {"title": "Spent", "value": f"{spent:.2f}", "tone": f"mh-{budget.tone}"},
            {"title": "Set aside", "value": f"{reserved:.2f}", "tone": "mh-reserved"},
        ],
    }


def describe_providers(
    configured: Sequence[ConfiguredModel], rules: GuardRules, *, may_reset: bool, clock: Clock
) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each provider: the configured ones first, then those that only have a breaker."""
    names = [model.provider for model in configured]
    windows = token_windows(names, rules=rules, clock=clock)
    reset = reverse("admin:llm_breaker_reset")
    for breaker in breaker_statuses(names, rules=rules, clock=clock):
        models = [model for model in configured if model.provider == breaker.provider]
        window = windows.get(breaker.provider)
        yield {
            "name": breaker.provider,
            "models": [f"{model.model} ({model.role.value})" for model in models],
            "unpriced": [model.model for model in models if not model.is_priced],
            "is_closed": breaker.phase is Phase.CLOSED,
            "is_budgeted": rules.budget.is_enforced,
            "breaker": describe_breaker(breaker, rules, utcnow(clock)),
            "tokens": describe_tokens(window) if window else None,
            "reset": f"{reset}?{urlencode({'provider': breaker.provider})}" if may_reset and breaker.since else None,
        }


def describe_breaker(breaker: BreakerStatus, rules: GuardRules, now: datetime) -> dict[str, Any]:
    """Return what is shown of a circuit breaker."""
    label, colour, meaning = PHASES[breaker.phase]
    if breaker.phase is Phase.OPEN and breaker.passes(now):
        meaning = "The next call may find out whether it is back."
    since = ""
    if breaker.since:
        since = f"{moment(breaker.since)}, {ago(breaker.since, now)}"
    return {
        "label": label,
        "colour": colour,
        "meaning": meaning,
        "since": since,
        "retry_at": moment(breaker.retry_at) if breaker.retry_at and not breaker.passes(now) else "",
        "why": explain_breaker(breaker, rules),
    }


def explain_breaker(breaker: BreakerStatus, rules: GuardRules) -> str:
    """Return which failures led to the phase of a breaker, or would count now."""
    circuit = rules.circuit
    if not breaker.failures:
        return "no call failed lately" if breaker.phase is Phase.CLOSED else ""
    calls = "1 call" if breaker.failures == 1 else f"{breaker.failures} calls"
    span = f"{circuit.window_ms / 1_000:g} s"
    failed = f"{calls} failed within {span}"
    if breaker.phase is Phase.CLOSED:
        return f"{failed}; it opens when {circuit.error_threshold:.0%} of the last {circuit.window_size} do"
    reasons = failure_reasons(breaker.provider, breaker.since) if breaker.since else []
    counts = ", ".join(f"{reason.replace('_', ' ')} ({count})" for reason, count in reasons)
    return f"{failed}; calls ended with: {counts}" if counts else failed


def describe_tokens(window: Projection) -> dict[str, Any]:
    """Return what is shown of a provider's minute."""
    if window.window_limit is None:
        return {"is_limited": False}
    percent = 100 * window.window_tokens_used / window.window_limit
    return {
        "is_limited": True,
        "used": f"{window.window_tokens_used:,}",
        "limit": f"{window.window_limit:,}",
        "share": f"{min(100.0, percent):.1f}",
        "tone": "warn" if percent > THROTTLE_PERCENT else "good",
        "throttle": THROTTLE_PERCENT,
    }


def share_of(spent: Decimal, waived: Decimal, limit: Decimal | None) -> str:
    """Return what counted of a day's budget, in percent."""
    return f"{(spent - waived) * 100 / limit:,.0f}%" if limit else ""
