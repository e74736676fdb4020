"""Runs in the admin: how far one is, what it changed, what failed, and the way back to before it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from apps.core.admin.kit import (
    ReadOnly,
    badge,
    badge_column,
    column,
    found_or_404,
    moment,
    operator_access,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.admin.run_page import run_context, took
from apps.sync.admin.words import RUN_COLOURS, RUN_PAGE, WORKING, count_of, source_link, tally
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncChange, SyncCheckpoint, SyncRun
from apps.sync.services import sync_rollback

MAX_SHOWN = 100
REMOVED, RESTORED, SET_BACK = "removed", "restored", "set_back"
WORDS = {REMOVED: _("Removed"), RESTORED: _("Comes back"), SET_BACK: _("As it was before")}
COLOURS = {REMOVED: "danger", RESTORED: "success", SET_BACK: "info"}
PAGE = "page"


def rollback_page(model_admin: Any, request: HttpRequest, run: SyncRun, checkpoint: SyncCheckpoint) -> HttpResponse:
    """Ask, and once it was confirmed go back to before a run."""
    page = reverse(RUN_PAGE, args=[run.pk])
    if request.method == "POST":
        try:
            made = sync_rollback(access=operator_access(request), uuid=run.source.uuid, checkpoint=checkpoint.uuid)
        except MemoryHubError as error:
            messages.error(request, say(str(error.detail)))
            return HttpResponseRedirect(page)
        model_admin.log_change(request, run, "Rolled back to before it.")
        return HttpResponseRedirect(reverse(RUN_PAGE, args=[made.pk]))
    rows = list(rows_of(run))
    counts = Counter(row["what"] for row in rows)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Roll back"),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "run": run,
        "source_link": source_link(run.source),
        "moment": moment(checkpoint.created_at),
        "page": page,
        "sentences": sentences_of(run, counts),
        "rows": [row | {"badge": badge(str(WORDS[row["what"]]), COLOURS[row["what"]])} for row in rows[:MAX_SHOWN]],
        "left": max(0, len(rows) - MAX_SHOWN),
        "may_read": request.user.has_perm("sync.view_knowledgeitem"),
    }
    return TemplateResponse(request, "sync/rollback.html", context)


def rows_of(run: SyncRun) -> Iterator[dict[str, Any]]:
    """Yield what a rollback would do to each item that a run, or a later one, has changed, by id."""
    changes = SyncChange.objects.filter(run__source=run.source_id, run__gte=run.pk)
    first = changes.order_by("item_id", "id").distinct("item_id").values_list("item_id", "before")
    now = dict(KnowledgeItem.objects.filter(source=run.source_id).values_list("item_id", "title"))
    for item_id, before in first.iterator():
        is_there = item_id in now
        if not (before or is_there):
            continue  # made and deleted since
        what = SET_BACK if before and is_there else RESTORED if before else REMOVED
        yield {"what": what, "item_id": item_id, "title": now.get(item_id, "")}


def sentences_of(run: SyncRun, counts: Counter[str]) -> list[str]:
    """Return what a rollback would do, a sentence for each effect."""
    later = SyncRun.objects.filter(source=run.source_id, pk__gt=run.pk).count()
    effects = {
        REMOVED: gettext("%(items)s created since then will be removed, pointers included."),
        RESTORED: gettext("%(items)s deleted since then will come back, pointers included."),
        SET_BACK: gettext("%(items)s changed since then will be restored, pointers included."),
    }
    sentences = [words % {"items": count_of(counts[what], "item")} for what, words in effects.items() if counts[what]]
    if later:
        words = ngettext(
            "%(shown)s later run of this source is rolled back too.",
            "%(shown)s later runs of this source are rolled back too.",
            later,
        )
        sentences.append(words % {"shown": f"{later:,}"})
    return [
        *(sentences or [gettext("No item has changed since then.")]),
        gettext(
            "The source is paused, so that the next sync does not write the same again. Resume it once it is fixed."
        ),
        gettext("This is recorded as a run of its own, with everything that it changes."),
    ]


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
