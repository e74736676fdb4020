"""Consolidations in the admin: where to look for conflicts among stored memories, how far it got, what it found."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import NOTHING, after_dialog, badge, excerpt, found_or_404, moment
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
MODE_COLOURS = {"Notice only": "info", "Decide by the rules": "warning"}
RUN_DIALOG = ActionDialog(
    title="Run it now?",
    description="One run, within its bounds, in the background. It need not be enabled for that.",
    form_class=None,
    form_submit_text="Run",
)
RESET_DIALOG = ActionDialog(
    title="Begin with the first memory?",
    description="The next run looks at all memories again. Pairs that have a receipt are left alone as ever.",
    form_class=None,
    form_submit_text="Begin anew",
)
WHAT = (None, {"fields": ["name", "enabled", "mode"]})
WHERE = (
    "Where to look",
    {
        "fields": ["user_id", "household_id", "persona_id"],
        "description": "At the memories that match every field that is filled in. Whatever is chosen, only memories of "
        "the same user, household and persona are held against each other. A changed choice begins anew.",
    },
)
HOW_MUCH = ("What one run may do", {"fields": ["max_memories", "max_decisions", "max_seconds"]})
PROGRESS = (
    "Progress",
    {"fields": ["state_label", "progress", "receipts", ("last_run", "passes_done"), "error"]},
)


@admin.register(Consolidation)
class ConsolidationAdmin(ModelAdmin):
    """Settings by hand, progress to look at; every change goes through the services."""

    list_display = ["name", "state", "does", "where", "progress", "receipts", "last_run"]
    list_fullwidth = True
    list_filter = ["enabled", "mode"]
    search_fields = ["name"]
    search_help_text = "A part of the name"
    ordering = ["name"]
    actions = ["run_chosen", "reset_chosen"]
    actions_detail = ["run_this", "reset_this"]
    warn_unsaved_form = True
    readonly_fields = ["state_label", "progress", "receipts", "last_run", "passes_done", "error"]
    empty_text = "Nothing looks for conflicts among the stored memories; new ones are compared when they are saved."

    def get_fieldsets(self, request: HttpRequest, obj: Consolidation | None = None) -> Any:
        return [WHAT, WHERE, HOW_MUCH, PROGRESS] if obj else [WHAT, WHERE, HOW_MUCH]

    def get_readonly_fields(self, request: HttpRequest, obj: Consolidation | None = None) -> list[str]:
        """Receipts name it, so its name stays."""
        return ["name", *self.readonly_fields] if obj else self.readonly_fields

    # Columns

    @display(description="State", label=STATE_COLOURS)
    def state(self, consolidation: Consolidation) -> str:
        if consolidation.last_error:
            return "Failed"
        if consolidation.enabled:
            return "Scheduled" if consolidation.is_complete else "Under way"
        return "Off" if consolidation.is_complete else "Paused"

    @display(description="State")
    def state_label(self, consolidation: Consolidation) -> str:
        return badge(self.state(consolidation), STATE_COLOURS[self.state(consolidation)])

    @display(description="Does", ordering="mode", label=MODE_COLOURS)
    def does(self, consolidation: Consolidation) -> str:
        return consolidation.get_mode_display()

    @display(description="Looks at")
    def where(self, consolidation: Consolidation) -> str:
        named = consolidation.scope.named()
        return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in named.items()) or "everyone"

    @display(description="This pass")
    def progress(self, consolidation: Consolidation) -> str:
        if not consolidation.looked_at and not consolidation.passes:
            return "not begun"
        how_far = "complete" if consolidation.is_complete else "not complete"
        return (
            f"{consolidation.looked_at:,} looked at, {consolidation.noticed:,} noticed, "
            f"{consolidation.decided:,} decided; {how_far}"
        )

    @display(description="Receipts")
    def receipts(self, consolidation: Consolidation) -> SafeString:
        asked = {"actor": consolidation.actor, "origin": Origin.CONSOLIDATION.value, "state": "all"}
        url = f"{reverse('admin:semantic_conflict_changelist')}?{urlencode(asked)}"
        return format_html('<a class="mh-link" href="{}">What it found</a>', url)

    @display(description="Last run", ordering="last_run_at")
    def last_run(self, consolidation: Consolidation) -> str:
        if consolidation.last_run_at is None:
            return "never"
        return f"{moment(consolidation.last_run_at)}, {consolidation.last_run_seconds or 0:.1f} s"

    @display(description="Passes completed")
    def passes_done(self, consolidation: Consolidation) -> str:
        return f"{consolidation.passes:,}"

    @display(description="Last error")
    def error(self, consolidation: Consolidation) -> SafeString | str:
        return excerpt(consolidation.last_error) if consolidation.last_error else NOTHING

    # Actions

    @action(description="Run now", icon="play_arrow", permissions=["change"])
    def run_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self._for_each(request, queryset, consolidation_request, "Run requested.", _asked)

    @action(description="Begin anew with the first memory", icon="restart_alt", permissions=["change"])
    def reset_chosen(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        self._for_each(request, queryset, consolidation_reset, "Reset.", _reset)

    @action(description="Run now", icon="play_arrow", permissions=["view", "change"], dialog=RUN_DIALOG)
    def run_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._on_page(request, object_id, consolidation_request, "Run requested.", _asked)

    @action(description="Begin anew", icon="restart_alt", permissions=["view", "change"], dialog=RESET_DIALOG)
    def reset_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._on_page(request, object_id, consolidation_reset, "Reset.", _reset)

    def _on_page(self, request: HttpRequest, object_id: str, *how: Any) -> HttpResponse:
        consolidation = found_or_404(self.get_object(request, object_id))
        self._for_each(request, [consolidation], *how)
        return after_dialog(request, reverse("admin:semantic_consolidation_change", args=[consolidation.pk]))

    def _for_each(
        self,
        request: HttpRequest,
        chosen: Iterable[Consolidation],
        service: Callable[..., Any],
        logged: str,
        told: Callable[[int], str],
    ) -> None:
        count = 0
        for consolidation in chosen:
            try:
                service(pk=consolidation.pk)
            except NotFoundError:
                continue  # somebody else deleted it
            self.log_change(request, consolidation, logged)
            count += 1
        messages.success(request, told(count))

    # Changes

    def save_model(self, request: HttpRequest, obj: Consolidation, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in form.changed_data if name in SETTINGS}
        if not change:
            saved = consolidation_create(name=obj.name, settings=given)
        elif given:
            saved = consolidation_update(pk=obj.pk, settings=given)
        else:
            return
        for field in Consolidation._meta.concrete_fields:
            setattr(obj, field.attname, getattr(saved, field.attname))

    def delete_model(self, request: HttpRequest, obj: Consolidation) -> None:
        consolidation_delete(pk=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        for pk in queryset.values_list("pk", flat=True):
            consolidation_delete(pk=pk)


def _asked(count: int) -> str:
    return ngettext("%d run is on its way.", "%d runs are on their way.", count) % count


def _reset(count: int) -> str:
    return ngettext("%d begins anew with its next run.", "%d begin anew with their next runs.", count) % count
