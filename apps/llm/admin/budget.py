"""Budget and circuit breakers in the admin: spending, whether calls pass, waiving and resetting."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.timesince import timeuntil
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.views import ChangeList

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    after_dialog,
    column,
    dollars,
    may_view,
    moment,
    operator_access,
    required_permission,
    two_lines,
)
from apps.core.admin.steps import make_dialog
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.pages.times import ago
from apps.llm.admin.charts import spending_chart
from apps.llm.admin.figures import asked_span, figures_page, helpful_buttons
from apps.llm.domain.breaker import Phase
from apps.llm.domain.rate import THROTTLE_PERCENT, Projection
from apps.llm.guards.breakers import breaker_reset
from apps.llm.guards.budgets import budget_reset
from apps.llm.guards.calls import failure_reasons, spent_days
from apps.llm.guards.rules import GuardRules, guard_rules
from apps.llm.guards.status import (
    BreakerStatus,
    BudgetStatus,
    breaker_status,
    breaker_statuses,
    budget_status,
    token_windows,
)
from apps.llm.models import Breaker, BudgetDay
from apps.llm.providers.configured import ModelRole
from apps.llm.reasons import reason_words
from apps.llm.status import ConfiguredModel, configured_models

HERE = "admin:llm_budgetday_changelist"
WAIVE = make_dialog(
    _("Reset today's spending?"),
    _(
        "It no longer counts, so up to the whole budget can be spent again today. The spending stays on record with "
        "your name. What is reserved for calls in progress still counts."
    ),
    _("Reset spending"),
)


class DayList(ChangeList):
    """The days. The span of the figures above them is in the address, and is no filter of days."""

    def get_filters_params(self, params: Any = None) -> Any:
        return {name: value for name, value in super().get_filters_params(params).items() if name != "range"}


@admin.register(BudgetDay)
class BudgetDayAdmin(ReadOnly, ModelAdmin):
    """The days, and above them the present state. The guards write."""

    list_display = ["day_of", "spent", "share", "thresholds", "waived"]
    list_display_links = ["day_of"]
    list_fullwidth = True
    list_per_page = 14
    list_before_template = "llm/budget.html"
    show_full_result_count = False
    ordering = ["-day"]
    actions_list = ["waive_today"]
    empty_text = _("A day appears once something is spent on it.")
    fields = ["day_of", ("spent_exact", "limit_exact"), ("waived_exact", "waived_when"), "thresholds", "lost"]
    readonly_fields = ["day_of", "spent_exact", "limit_exact", "waived_exact", "waived_when", "thresholds", "lost"]

    class Media:
        css = {"all": ["llm/models.css"]}
        js = ("memoryhub/charts.js",)

    def get_urls(self) -> list[Any]:
        page = self.admin_site.admin_view(self.reset_view)
        return [path("breaker/reset/", page, name="llm_breaker_reset"), *super().get_urls()]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[DayList]:
        return DayList

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        shown = budget_page(may_reset=request.user.has_perm("llm.change_breaker"))
        if may_view(request, "llm.modelcall"):
            limit = guard_rules().budget
            shown |= figures_page(
                asked_span(request),
                limit.usd if limit.is_enforced else None,
                buttons=helpful_buttons(request.user, shown),
            )
        context = {**shown, "title": gettext("Models"), **(extra_context or {})}
        return super().changelist_view(request, context)

    # What an operator may do

    has_waive_permission = required_permission("llm.change_budgetday")

    @action(
        description=_("Reset today's spending"),
        icon="restart_alt",
        permissions=["waive"],
        dialog=WAIVE,
        url_path="waive",
    )
    def waive_today(self, request: HttpRequest, form: Any) -> HttpResponse:
        waived = budget_reset(actor=operator_access(request).actor)
        self.log_change(request, BudgetDay.objects.latest("day"), f"Waived {dollars(waived)}.")
        said = gettext("%(amount)s of today's spending no longer counts.") % {"amount": dollars(waived)}
        messages.success(request, said)
        return after_dialog(request, reverse(HERE))

    def reset_view(self, request: HttpRequest) -> HttpResponse:
        """Ask before a breaker is reset, and reset it when that was confirmed."""
        if not request.user.has_perm("llm.change_breaker"):
            raise PermissionDenied
        provider = request.GET.get("provider", "")
        row = Breaker.objects.filter(pk=provider.replace("\x00", "")).first()
        if row is None:
            raise Http404
        if request.method == "POST":
            breaker_reset(provider=row.pk, actor=operator_access(request).actor)
            self.log_change(request, row, "Reset.")
            messages.success(request, gettext("The breaker of %(provider)s is closed.") % {"provider": row.pk})
            return HttpResponseRedirect(reverse(HERE))
        status = breaker_status(row.pk, rules=guard_rules())
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Reset a circuit breaker"),
            "opts": self.opts,
            "media": self.media,
            "provider": row.pk,
            "phase": str(PHASES[status.phase][0]).lower(),
            "since": moment(status.since),
        }
        return TemplateResponse(request, "llm/breaker_reset.html", context)

    # Columns

    day_of = column(_("Day (UTC)"), lambda day: day.day.isoformat(), ordering="day")

    @display(description=_("Spent"), ordering="spent_usd")
    def spent(self, day: BudgetDay) -> SafeString:
        limit = gettext("of %(amount)s") % {"amount": dollars(day.limit_usd)} if day.limit_usd else gettext("no limit")
        return two_lines(dollars(day.spent_usd), limit)

    @display(description=_("Of the budget"))
    def share(self, day: BudgetDay) -> str:
        if not day.limit_usd:
            return NOTHING
        return f"{(day.spent_usd - day.waived_usd) * 100 / day.limit_usd:,.0f}%"

    thresholds = column(_("Warned at"), lambda day: ", ".join(f"{threshold}%" for threshold in day.warned) or NOTHING)

    @display(description=_("Spending reset"))
    def waived(self, day: BudgetDay) -> SafeString | str:
        if not day.waived_usd:
            return NOTHING
        return two_lines(dollars(day.waived_usd), gettext("by %(name)s") % {"name": day.reset_by})

    # The page of a day

    spent_exact = column(_("Spent"), lambda day: f"${day.spent_usd:f}")

    @display(description=_("Budget when something was last spent"))
    def limit_exact(self, day: BudgetDay) -> str:
        return f"${day.limit_usd:f}" if day.limit_usd is not None else gettext("none")

    @display(description=_("Spending reset"))
    def waived_exact(self, day: BudgetDay) -> str:
        return f"${day.waived_usd:f}" if day.waived_usd else gettext("nothing")

    @display(description=_("Spending reset by"))
    def waived_when(self, day: BudgetDay) -> str:
        if not day.reset_at:
            return NOTHING
        return gettext("%(name)s at %(time)s") % {"name": day.reset_by, "time": moment(day.reset_at)}

    @display(description=_("Reserved and never settled"))
    def lost(self, day: BudgetDay) -> SafeString | str:
        """Describe reservations that expired: the process of the call may have died, its money may have been spent."""
        expired = day.reservations.filter(expires_at__lte=utcnow(SYSTEM_CLOCK))
        if not (count := expired.count()):
            return gettext("nothing")
        amount = expired.aggregate(Sum("amount_usd"))["amount_usd__sum"]
        note = gettext(
            "Their processes may have died. What they spent is not in the sum; the provider's own account has it."
        )
        said = ngettext("%(n)s call, at most %(amount)s", "%(n)s calls, at most %(amount)s", count)
        calls = said % {"n": f"{count:,}", "amount": dollars(amount)}
        return format_html('{}<br><span class="mh-note">{}</span>', calls, note)


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
    share = None
    if budget.limit is not None:
        spent = min(100.0, budget.percent)
        reserved = min(100.0, budget.percent + budget.reserved_percent) - spent
        share = {
            "percent": f"{budget.percent:,.0f}" if budget.percent >= 10 else f"{budget.percent:.1f}",
            "parts": [
                {"title": gettext("Spent"), "value": f"{spent:.2f}", "tone": f"mh-{budget.tone}"},
                {"title": gettext("Reserved"), "value": f"{reserved:.2f}", "tone": "mh-reserved"},
            ],
        }
    left = gettext("%(time)s, at midnight UTC") % {"time": timeuntil(budget.resets_at, now)}
    facts.append((gettext("A new day begins in"), left))
    return {
        "limit": dollars(budget.limit) if budget.limit is not None else None,
        "spent": dollars(budget.spent),
        "has_spent": budget.spent > 0,
        "share": share,
        "warned": ", ".join(f"{threshold}%" for threshold in budget.warned),
        "facts": facts,
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
