"""Consolidations in the admin: settings, progress and results of the search for conflicts among stored memories."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    NamedSettings,
    after_dialog,
    badge_column,
    column,
    excerpt,
    found_or_404,
    list_link,
    moment,
    scope_in_words,
    state_columns,
)
from apps.core.admin.steps import copy_columns, make_dialog
from apps.core.domain.errors import NotFoundError
from apps.core.words import Counted
from apps.semantic.consolidation.services import (
    SETTINGS,
    consolidation_create,
    consolidation_delete,
    consolidation_request,
    consolidation_reset,
    consolidation_update,
)
from apps.semantic.models import Consolidation, Origin

STATES = {
    "off": _("Off"),
    "paused": _("Paused"),
    "scheduled": _("Scheduled"),
    "running": _("Under way"),
    "failed": _("Failed"),
}
STATE_COLOURS = {"off": None, "paused": "warning", "scheduled": "success", "running": "info", "failed": "danger"}
MODE_COLOURS = {"notice": "info", "decide": "warning"}
RUN_DIALOG = make_dialog(
    _("Run it now?"),
    _("One run, within its limits, in the background. It does not have to be enabled."),
    _("Run"),
)
RESET_DIALOG = make_dialog(
    _("Start over with the first memory?"),
    _("The next run compares all memories again. Pairs that have a receipt are skipped as before."),
    _("Start over"),
)
WHAT = (None, {"fields": ["name", "enabled", "mode"]})
WHERE = (
    _("Which memories"),
    {
        "fields": ["user_id", "household_id", "persona_id"],
        "description": _(
            "Memories that match all the fields you fill in. Only memories of the same user, household and persona "
            "are ever compared with each other. If you change these fields, it starts over."
        ),
    },
)
HOW_MUCH = (_("Limits of a run"), {"fields": ["max_memories", "max_decisions", "max_seconds"]})
PROGRESS = (
    _("Progress"),
    {"fields": ["state_label", "progress", "receipts", ("last_run", "passes_done"), "error"]},
)


class Command(NamedTuple):
    """A service for consolidations. logged: the log entry. done: the message, of a number."""

    service: Callable[..., Any]
    logged: str
    done: Counted


RUN = Command(consolidation_request, "Run requested.", Counted("%d run was requested.", "%d runs were requested."))
RESET = Command(
    consolidation_reset,
    "Reset.",
    Counted("%d will start over with its next run.", "%d will start over with their next runs."),
)


def state_of(consolidation: Consolidation) -> str:
    """Return one of STATES. Off and paused: nothing runs until it is enabled or run by hand."""
    if consolidation.last_error:
        return "failed"
    if consolidation.enabled:
        return "scheduled" if consolidation.is_complete else "running"
    return "off" if consolidation.is_complete else "paused"


@admin.register(Consolidation)
class ConsolidationAdmin(NamedSettings, ModelAdmin):
    """Settings that can be changed, but for the name, to which receipts refer; progress that cannot be changed."""

    list_display = ["name", "state", "does", "where", "progress", "receipts", "last_run"]
    list_fullwidth = True
    list_filter = ["enabled", "mode"]
    search_fields = ["name"]
    search_help_text = _("Part of the name")
    ordering = ["name"]
    actions = ["run_chosen", "reset_chosen"]
    actions_detail = ["run_this", "reset_this"]
    warn_unsaved_form = True
    settings_fieldsets = [WHAT, WHERE, HOW_MUCH]
    status_fieldset = PROGRESS
    readonly_fields = ["state_label", "progress", "receipts", "last_run", "passes_done", "error"]
    empty_text = _("No stored memories are searched for conflicts; new ones are compared when they are saved.")

    # Columns

    state, state_label = state_columns(state_of, STATES, STATE_COLOURS)
    does = badge_column("mode", _("Mode"), MODE_COLOURS)
    receipts = column(
        _("Receipts"),
        lambda row: list_link(
            "admin:semantic_conflict_changelist",
            gettext("What it found"),
            actor=row.actor,
            origin=Origin.CONSOLIDATION.value,
            state="all",
        ),
    )
    passes_done = column(_("Passes completed"), lambda row: f"{row.passes:,}")
    error = column(_("Last error"), lambda row: excerpt(row.last_error) if row.last_error else NOTHING)

    @display(description=_("Memories of"))
    def where(self, consolidation: Consolidation) -> str:
        return scope_in_words(consolidation.scope) or gettext("everyone")

    @display(description=_("This pass"))
    def progress(self, consolidation: Consolidation) -> str:
        if not consolidation.looked_at and not consolidation.passes:
            return gettext("not started")
        words = gettext("%(compared)s compared, %(noticed)s noticed, %(decided)s decided; not complete")
        if consolidation.is_complete:
            words = gettext("%(compared)s compared, %(noticed)s noticed, %(decided)s decided; complete")
        return words % {
            "compared": f"{consolidation.looked_at:,}",
            "noticed": f"{consolidation.noticed:,}",
            "decided": f"{consolidation.decided:,}",
        }

    @display(description=_("Last run"), ordering="last_run_at")
    def last_run(self, consolidation: Consolidation) -> str:
        if consolidation.last_run_at is None:
            return gettext("never")
        took = f"{consolidation.last_run_seconds or 0:.1f}"
        return gettext("%(at)s, %(seconds)s s") % {"at": moment(consolidation.last_run_at), "seconds": took}

    # Actions

    @action(description=_("Run now"), icon="play_arrow", permissions=["change"])
    def run_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self.apply(request, queryset, RUN)

    @action(description=_("Start over with the first memory"), icon="restart_alt", permissions=["change"])
    def reset_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self.apply(request, queryset, RESET)

    @action(description=_("Run now"), icon="play_arrow", permissions=["view", "change"], dialog=RUN_DIALOG)
    def run_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.apply_on_page(request, object_id, RUN)

    @action(description=_("Start over"), icon="restart_alt", permissions=["view", "change"], dialog=RESET_DIALOG)
    def reset_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.apply_on_page(request, object_id, RESET)

    def apply_on_page(self, request: HttpRequest, object_id: str, command: Command) -> HttpResponse:
        """Apply a command to the consolidation of a page, and redirect to the page."""
        consolidation = found_or_404(self.get_object(request, object_id))
        self.apply(request, [consolidation], command)
        return after_dialog(request, reverse("admin:semantic_consolidation_change", args=[consolidation.pk]))

    def apply(self, request: HttpRequest, chosen: Iterable[Consolidation], command: Command) -> None:
        """Apply a command to each of the consolidations that still exist, and log it."""
        count = 0
        for consolidation in chosen:
            try:
                command.service(pk=consolidation.pk)
            except NotFoundError:
                continue  # another operator deleted it
            self.log_change(request, consolidation, command.logged)
            count += 1
        messages.success(request, command.done % count)

    # Changes

    def save_model(self, request: HttpRequest, obj: Consolidation, form: Any, change: bool) -> None:
        changed = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS}
        if not change:
            saved = consolidation_create(name=obj.name, settings=changed)
        elif changed:
            saved = consolidation_update(pk=obj.pk, settings=changed)
        else:
            return
        copy_columns(saved, obj)

    def delete_model(self, request: HttpRequest, obj: Consolidation) -> None:
        consolidation_delete(pk=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        for pk in queryset.values_list("pk", flat=True):
            consolidation_delete(pk=pk)
