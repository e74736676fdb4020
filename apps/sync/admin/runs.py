"""Runs in the admin: how far one is, what it changed, what failed, and the way back to before it."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from apps.core.admin.kit import (
    ReadOnly,
    badge_column,
    column,
    found_or_404,
    moment,
    operator_access,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList
from apps.core.pages.sayings import say
from apps.sync.admin.rollback import rollback_page
from apps.sync.admin.run_page import run_context, took
from apps.sync.admin.words import RUN_COLOURS, WORKING, source_link, tally
from apps.sync.models import KnowledgeSource, SyncCheckpoint, SyncRun

PAGE = "page"


@admin.register(SyncRun)
class SyncRunAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Runs, read-only; going back to before one goes through the services."""

    list_display = ["what", "state_now", "changed", "problems", "started_by", "when"]
    list_filter = ["state", "kind", ("source", RelatedDropdownFilter)]
    search_help_text = _("Part of a source's name, an item's id, or the id of a run")
    actions_detail = ["roll_back"]
    change_form_template = "sync/run.html"
    fields: list[str] = []
    empty_text = _("Nothing has been synced yet. Add a source under Sources, and sync it there.")

    class Media:
        css = {"all": ["sync/sync.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[SyncRun]:
        sources = KnowledgeSource.objects.visible_to(operator_access(request))
        runs = SyncRun.objects.filter(source__in=sources).defer("failed_items")
        return runs.select_related("source", "rolled_back_by")

    def find_by_words(self, queryset: QuerySet[SyncRun], term: str) -> QuerySet[SyncRun]:
        """Return the runs of an item, else those of sources with such a part of their name."""
        found = queryset.filter(item_id=term)
        return found if found.exists() else queryset.filter(source__name__icontains=term)

    # Columns

    state_now = badge_column("state", _("State"), RUN_COLOURS)
    changed = column(
        _("Changed"),
        lambda run: two_lines(tally(run), gettext("%(count)s as they were") % {"count": f"{run.unchanged:,}"}),
    )
    started_by = column(_("Started by"), lambda run: two_lines(say(run.reason or "manual"), run.actor))
    when = column(_("Requested at"), lambda run: two_lines(moment(run.requested_at), took(run)), ordering="id")

    @display(description=_("Sync"), ordering="source__name")
    def what(self, run: SyncRun) -> SafeString:
        return two_lines(run.source.name, f"{run.get_kind_display()} {run.item_id}".strip())

    @display(description=_("Problems"))
    def problems(self, run: SyncRun) -> SafeString | str:
        counts = [
            (run.failed, gettext("not read")),
            (run.conflicts, gettext("in conflict")),
            (run.remaining, gettext("to come")),
        ]
        words = ", ".join(f"{count:,} {what}" for count, what in counts if count)
        words = words or gettext("none")
        return two_lines(words, run.code) if run.code else words

    # The page of a run

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        run: SyncRun | None = kwargs.get("obj")
        if run is not None:
            may_read = request.user.has_perm("sync.view_knowledgeitem")
            page = run_context(run, number=request.GET.get(PAGE, "1"), may_read=may_read)
            context |= {
                "page": page,
                "source_link": source_link(run.source),
                "title": gettext("Sync"),
                "subtitle": None,
            }
        response = super().render_change_form(request, context, *args, **kwargs)
        if request.headers.get("HX-Request") and run is not None and run.state not in WORKING:
            response["HX-Refresh"] = "true"  # it has ended: the whole page has something new
        return response

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the way back where there is one."""
        actions = super().get_actions_detail(request, object_id)
        run = self.get_object(request, str(object_id)) if actions else None
        return actions if run is not None and checkpoint_of(run) else []

    @action(
        description=_("Roll back to before it"),
        icon="settings_backup_restore",
        permissions=["view", "roll_back"],
        url_path="roll-back",
        variant=ActionVariant.DANGER,
    )
    def roll_back(self, request: HttpRequest, object_id: str) -> HttpResponse:
        run = found_or_404(self.get_object(request, object_id))
        return rollback_page(self, request, run, found_or_404(checkpoint_of(run)))

    has_roll_back_permission = required_permission("sync.change_syncrun")


def checkpoint_of(run: SyncRun) -> SyncCheckpoint | None:
    """Return the checkpoint that was made before a run; None where there is none any more."""
    if run.state in WORKING:
        return None
    return SyncCheckpoint.objects.filter(run=run).defer("content").first()
