"""The page of budget and breakers: today, the last days, and each provider with its guards."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.timesince import timeuntil
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import dollars, moment
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.pages.times import ago
from apps.llm.admin.charts import spending_chart
from apps.llm.domain.breaker import Phase
from apps.llm.domain.rate import THROTTLE_PERCENT, Projection
from apps.llm.guards.calls import failure_reasons, spent_days
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.guards.status import BreakerStatus, BudgetStatus, breaker_statuses, budget_status, token_windows
from apps.llm.providers.configured import ModelRole
from apps.llm.reasons import reason_words
from apps.llm.status import ConfiguredModel, configured_models

CHARTED_DAYS = 30
MINUTE = timedelta(minutes=1)
PHASES = {
    Phase.CLOSED: (_("Closed"), "success", _("Calls go through.")),
    Phase.OPEN: (_("Open"), "danger", _("No calls go through.")),
    Phase.HALF_OPEN: (_("Half-open"), "warning", _("A few calls may test whether it is back.")),
}


ROLES = {ModelRole.PRIMARY: _("primary"), ModelRole.FALLBACK: _("fallback")}


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
    facts = [
        (gettext("Spent"), dollars(budget.spent)),
        (gettext("Reserved for calls in progress"), dollars(budget.reserved)),
    ]
    if budget.limit is not None:
        facts.append((gettext("Left"), dollars(budget.remaining)))
    if budget.waived:
        waived = gettext("%(amount)s, by %(name)s at %(time)s") % {
            "amount": dollars(budget.waived),
            "name": budget.waived_by,
            "time": moment(budget.waived_at),
        }
        facts.append((gettext("Spending reset"), waived))
    left = gettext("%(time)s, at midnight UTC") % {"time": timeuntil(budget.resets_at, now)}
    facts.append((gettext("A new day begins in"), left))
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
            {"title": gettext("Spent"), "value": f"{spent:.2f}", "tone": f"mh-{budget.tone}"},
            {"title": gettext("Reserved"), "value": f"{reserved:.2f}", "tone": "mh-reserved"},
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
            "models": [f"{model.model} ({ROLES[model.role]})" for model in models],
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
        meaning = _("The next call may test whether it is back.")
    since = ""
    if breaker.since:
        values = {"time": moment(breaker.since), "ago": ago(breaker.since, now)}
        since = gettext("%(time)s, %(ago)s") % values
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
        return gettext("no call failed lately") if breaker.phase is Phase.CLOSED else ""
    said = ngettext("%(count)s call failed within %(time)s", "%(count)s calls failed within %(time)s", breaker.failures)
    failed = said % {"count": breaker.failures, "time": f"{circuit.window_ms / 1_000:g} s"}
    if breaker.phase is Phase.CLOSED:
        values = {"failed": failed, "share": f"{circuit.error_threshold:.0%}", "count": circuit.window_size}
        return gettext("%(failed)s; it opens when %(share)s of the last %(count)s do") % values
    reasons = failure_reasons(breaker.provider, breaker.since) if breaker.since else []
    counts = ", ".join(f"{reason_words(reason)} ({count})" for reason, count in reasons)
    if not counts:
        return failed
    return gettext("%(failed)s; calls ended with: %(reasons)s") % {"failed": failed, "reasons": counts}


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
