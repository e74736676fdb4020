"""The question whether to take back what was synced since a checkpoint, with what that would change."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import badge, moment, operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.sync.admin.words import RUN_PAGE, count_of, source_link
from apps.sync.models import KnowledgeItem, SyncChange, SyncCheckpoint, SyncRun
from apps.sync.services import sync_rollback

MAX_SHOWN = 100
REMOVED, RESTORED, SET_BACK = "removed", "restored", "set_back"
WORDS = {REMOVED: _("Removed"), RESTORED: _("Comes back"), SET_BACK: _("As it was before")}
COLOURS = {REMOVED: "danger", RESTORED: "success", SET_BACK: "info"}


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
