"""Budget and circuit breakers in the admin: spending, whether calls pass, waiving and resetting."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display
from unfold.views import ChangeList

from apps.core.admin.kit import NOTHING, ReadOnly, after_dialog, dollars, may_view, moment, operator_access, two_lines
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.llm.admin.budget_page import PHASES, budget_page, share_of
from apps.llm.admin.figures import asked_span, figures_page, helpful_buttons
from apps.llm.guards.breakers import breaker_reset
from apps.llm.guards.budgets import budget_reset
from apps.llm.guards.rules import guard_rules
from apps.llm.guards.status import breaker_status
from apps.llm.models import Breaker, BudgetDay

HERE = "admin:llm_budgetday_changelist"
WAIVE = ActionDialog(
    title=_("Reset today's spending?"),
    description=_(
        "It no longer counts, so up to the whole budget can be spent again today. The spending stays on record with "
        "your name. What is reserved for calls in progress still counts."
    ),
    form_class=None,
    form_submit_text=_("Reset spending"),
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

    def has_waive_permission(self, request: HttpRequest) -> bool:
        """Return whether the person may waive what was spent."""
        return bool(request.user.has_perm("llm.change_budgetday"))

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

    @display(description=_("Day (UTC)"), ordering="day")
    def day_of(self, day: BudgetDay) -> str:
        return day.day.isoformat()

    @display(description=_("Spent"), ordering="spent_usd")
    def spent(self, day: BudgetDay) -> SafeString:
        limit = gettext("of %(amount)s") % {"amount": dollars(day.limit_usd)} if day.limit_usd else gettext("no limit")
        return two_lines(dollars(day.spent_usd), limit)

    @display(description=_("Of the budget"))
    def share(self, day: BudgetDay) -> str:
        return share_of(day.spent_usd, day.waived_usd, day.limit_usd) or NOTHING

    @display(description=_("Warned at"))
    def thresholds(self, day: BudgetDay) -> str:
        return ", ".join(f"{threshold}%" for threshold in day.warned) or NOTHING

    @display(description=_("Spending reset"))
    def waived(self, day: BudgetDay) -> SafeString | str:
        if not day.waived_usd:
            return NOTHING
        return two_lines(dollars(day.waived_usd), gettext("by %(name)s") % {"name": day.reset_by})

    # The page of a day

    @display(description=_("Spent"))
    def spent_exact(self, day: BudgetDay) -> str:
        return f"${day.spent_usd:f}"

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
