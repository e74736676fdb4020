"""Consolidations in the admin: settings, progress and results of the search for conflicts among stored memories."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    NamedSettings,
    after_dialog,
    badge,
    badge_column,
    column,
    excerpt,
    found_or_404,
    list_link,
    moment,
)
from apps.core.domain.errors import NotFoundError
from apps.semantic.consolidation.services import (
    SETTINGS,
    consolidation_create,
    consolidation_delete,
    consolidation_request,
    consolidation_reset,
    consolidation_update,
)
from apps.semantic.models import Consolidation, Origin

STATE_COLOURS = {"Off": None, "Paused": "warning", "Scheduled": "success", "Under way": "info", "Failed": "danger"}
MODE_COLOURS = {"notice": "info", "decide": "warning"}
RUN_DIALOG = ActionDialog(
    title="Run it now?",
    description="One run, within its limits, in the background. It need not be enabled for that.",
    form_class=None,
    form_submit_text="Run",
)
RESET_DIALOG = ActionDialog(
    title="Start over with the first memory?",
    description="The next run compares all memories again. Pairs that have a receipt are skipped as before.",
    form_class=None,
    form_submit_text="Start over",
)
WHAT = (None, {"fields": ["name", "enabled", "mode"]})
WHERE = (
    "Which memories",
    {
        "fields": ["user_id", "household_id", "persona_id"],
        "description": "The memories that match every field that is filled in. In any case only memories of the same "
        "user, household and persona are compared with each other. After a change of these fields it starts over.",
    },
)
HOW_MUCH = ("Limits of a run", {"fields": ["max_memories", "max_decisions", "max_seconds"]})
PROGRESS = (
    "Progress",
    {"fields": ["state_label", "progress", "receipts", ("last_run", "passes_done"), "error"]},
)


class Command(NamedTuple):
    """A service for consolidations. logged: the log entry; done, done_many: the message for one and for several."""

    service: Callable[..., Any]
    logged: str
    done: str
    done_many: str


RUN = Command(consolidation_request, "Run requested.", "%d run was requested.", "%d runs were requested.")
RESET = Command(
    consolidation_reset, "Reset.", "%d starts over with its next run.", "%d start over with their next runs."
)


def state_of(consolidation: Consolidation) -> str:
    """Return one of STATE_COLOURS. Off and paused: nothing runs until it is enabled or run by hand."""
    if consolidation.last_error:
        return "Failed"
    if consolidation.enabled:
        return "Scheduled" if consolidation.is_complete else "Under way"
    return "Off" if consolidation.is_complete else "Paused"


@admin.register(Consolidation)
class ConsolidationAdmin(NamedSettings, ModelAdmin):
    """Settings that can be changed, but for the name, to which receipts refer; progress that cannot be changed."""

    list_display = ["name", "state", "does", "where", "progress", "receipts", "last_run"]
    list_fullwidth = True
    list_filter = ["enabled", "mode"]
    search_fields = ["name"]
    search_help_text = "A part of the name"
    ordering = ["name"]
    actions = ["run_chosen", "reset_chosen"]
    actions_detail = ["run_this", "reset_this"]
    warn_unsaved_form = True
    settings_fieldsets = [WHAT, WHERE, HOW_MUCH]
    status_fieldset = PROGRESS
    readonly_fields = ["state_label", "progress", "receipts", "last_run", "passes_done", "error"]
    empty_text = "No stored memories are searched for conflicts; new ones are compared when they are saved."

    # Columns

    state = column("State", state_of, colours=STATE_COLOURS)
    state_label = column("State", lambda row: badge(state_of(row), STATE_COLOURS[state_of(row)]))
    does = badge_column("mode", "Does", MODE_COLOURS)
    receipts = column(
        "Receipts",
        lambda row: list_link(
            "admin:semantic_conflict_changelist",
            "What it found",
            actor=row.actor,
            origin=Origin.CONSOLIDATION.value,
            state="all",
        ),
    )
    passes_done = column("Passes completed", lambda row: f"{row.passes:,}")
    error = column("Last error", lambda row: excerpt(row.last_error) if row.last_error else NOTHING)

    @display(description="Memories of")
    def where(self, consolidation: Consolidation) -> str:
        named = consolidation.scope.named()
        return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in named.items()) or "everyone"

    @display(description="This pass")
    def progress(self, consolidation: Consolidation) -> str:
        if not consolidation.looked_at and not consolidation.passes:
            return "not started"
        return (
            f"{consolidation.looked_at:,} compared, {consolidation.noticed:,} noticed, "
            f"{consolidation.decided:,} decided; {'complete' if consolidation.is_complete else 'not complete'}"
        )

    @display(description="Last run", ordering="last_run_at")
    def last_run(self, consolidation: Consolidation) -> str:
        if consolidation.last_run_at is None:
            return "never"
        return f"{moment(consolidation.last_run_at)}, {consolidation.last_run_seconds or 0:.1f} s"

    # Actions

    @action(description="Run now", icon="play_arrow", permissions=["change"])
    def run_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self.apply(request, queryset, RUN)

    @action(description="Start over with the first memory", icon="restart_alt", permissions=["change"])
    def reset_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self.apply(request, queryset, RESET)

    @action(description="Run now", icon="play_arrow", permissions=["view", "change"], dialog=RUN_DIALOG)
    def run_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self.apply_on_page(request, object_id, RUN)

    @action(description="Start over", icon="restart_alt", permissions=["view", "change"], dialog=RESET_DIALOG)
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
        messages.success(request, ngettext(command.done, command.done_many, count) % count)

    # Changes

    def save_model(self, request: HttpRequest, obj: Consolidation, form: Any, change: bool) -> None:
        changed = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS}
        if not change:
            saved = consolidation_create(name=obj.name, settings=changed)
        elif changed:
            saved = consolidation_update(pk=obj.pk, settings=changed)
        else:
            return
        for field in Consolidation._meta.concrete_fields:
            setattr(obj, field.attname, getattr(saved, field.attname))

    def delete_model(self, request: HttpRequest, obj: Consolidation) -> None:
        consolidation_delete(pk=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        for pk in queryset.values_list("pk", flat=True):
            consolidation_delete(pk=pk)
