"""The judge in the admin: whether a chat model is asked about undecided pairs, and what came of it."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import after_dialog, column, excerpt, found_or_404, list_link, moment, state_columns
from apps.core.admin.steps import make_dialog
from apps.core.pages.sayings import say
from apps.semantic.judge.services import (
    SETTINGS,
    JudgeState,
    JudgeStatus,
    judge_get,
    judge_request,
    judge_status,
    judge_update,
)
from apps.semantic.models import Judge, Origin

STATES = {
    JudgeState.OFF: _("Off"),
    JudgeState.NO_MODEL: _("No model"),
    JudgeState.BUDGET: _("Budget used up"),
    JudgeState.QUOTA: _("Daily limit of pairs used up"),
    JudgeState.READY: _("Ready"),
}
STATE_COLOURS = {
    JudgeState.OFF: None, JudgeState.NO_MODEL: "warning", JudgeState.BUDGET: "warning", JudgeState.QUOTA: "info",
    JudgeState.READY: "success",
}  # fmt: skip
RUN_DIALOG = make_dialog(
    _("Run it now?"),
    _(
        "One run, within its limits, in the background. It does not have to be enabled. The texts of undecided "
        "memories are sent to the chat model's provider."
    ),
    _("Run"),
)
SWITCH = (None, {"fields": ["enabled"]})
HOW_MUCH = (_("Limits"), {"fields": ["pairs_per_day", "max_seconds"]})
PROGRESS = (
    _("Progress"),
    {"fields": ["state_label", "asked_model", "waiting", "today", "verdicts", "receipts", "last_run"]},
)


def status_of(judge: Judge) -> JudgeStatus:
    """Return the state of the judge, which all columns of a page show as it was at the first of them."""
    status: JudgeStatus = judge.__dict__.setdefault("shown_status", None) or judge_status()
    judge.__dict__["shown_status"] = status
    return status


@admin.register(Judge)
class JudgeAdmin(ModelAdmin):
    """The one row of settings, which exists once a page shows it, and what the judge has done."""

    list_display = ["name", "state", "asked_model", "waiting", "today", "verdicts", "receipts", "last_run"]
    list_fullwidth = True
    actions_detail = ["run_this"]
    warn_unsaved_form = True
    fieldsets = [SWITCH, HOW_MUCH, PROGRESS]
    readonly_fields = ["state_label", "asked_model", "waiting", "today", "verdicts", "receipts", "last_run"]

    # Columns

    name = column(_("Name"), lambda __: gettext("The judge"))
    state, state_label = state_columns(lambda row: status_of(row).state, STATES, STATE_COLOURS)
    asked_model = column(_("Model"), lambda row: status_of(row).model or gettext("none is configured"))
    waiting = column(_("Receipts waiting"), lambda row: f"{status_of(row).waiting:,}")
    today = column(
        _("Pairs today"),
        lambda row: (
            gettext("%(asked)s of %(most)s")
            % {"asked": f"{status_of(row).asked_today:,}", "most": f"{row.pairs_per_day:,}"}
        ),
    )
    receipts = column(
        _("Receipts"),
        lambda __: list_link(
            "admin:semantic_conflict_changelist", gettext("What it decided"), origin=Origin.JUDGE.value, state="all"
        ),
    )

    @display(description=_("Verdicts"))
    def verdicts(self, judge: Judge) -> str:
        counts = status_of(judge).counts
        return ", ".join(f"{count:,} {say(name)}" for name, count in sorted(counts.items())) or gettext("none yet")

    @display(description=_("Last run"))
    def last_run(self, judge: Judge) -> str:
        if judge.last_run_at is None:
            return gettext("never")
        text = gettext("%(at)s, %(seconds)s s, %(end)s") % {
            "at": moment(judge.last_run_at),
            "seconds": f"{judge.last_run_seconds or 0:.1f}",
            "end": say(judge.last_end.replace("_", " ")),
        }
        return excerpt(f"{text}: {judge.last_error}") if judge.last_error else text

    # One row, always

    def get_queryset(self, request: HttpRequest) -> QuerySet[Judge]:
        judge_get()
        found: QuerySet[Judge] = super().get_queryset(request)
        return found

    def has_add_permission(self, request: HttpRequest, obj: Judge | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Judge | None = None) -> bool:
        return False

    # Actions and changes

    @action(description=_("Run now"), icon="play_arrow", permissions=["view", "change"], dialog=RUN_DIALOG)
    def run_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        judge = found_or_404(self.get_object(request, object_id))
        judge_request()
        self.log_change(request, judge, "Run requested.")
        messages.success(request, gettext("A run was requested."))
        return after_dialog(request, reverse("admin:semantic_judge_change", args=[judge.pk]))

    def save_model(self, request: HttpRequest, obj: Judge, form: Any, change: bool) -> None:
        judge_update(settings={name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS})
