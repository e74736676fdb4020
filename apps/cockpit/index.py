"""Index: what searches work on, in every process, and what the buttons of the page do."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.pages import render_fragment, render_page
from apps.core.admin.bars import Bar, Bars
from apps.core.admin.kit import filesize, moment
from apps.core.domain.caches import MB
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.lists import all_of, in_turn
from apps.core.pages.sayings import say
from apps.core.pages.times import ago, in_figures, in_words
from apps.semantic import services

CHANGE = "llm.change_embeddingspace"
SENTENCES = {
    "ok": _("Healthy: searches are answered from memory."),
    "warning": _("Near a limit: searches and saves go on as usual."),
    "degraded": _("Over a limit: searches compare every memory, and saves are slowed down."),
}
REASONS = {
    "backlog": _("many memories are not in a graph yet"),
    "capacity": _("the indexes use more memory than they may"),
    "evictions": _("indexes are dropped and loaded again and again"),
    "write_latency": _("saves are slow"),
}
# Levels as a row says them.
LEVELS = {"ok": _("ok"), "warning": _("warning"), "degraded": _("degraded")}
# What a process remembers, as it publishes it (`apps.core.domain.caches`).
CACHES = {
    "indexes of memories": _("indexes of memories"),
    "vectors of events": _("vectors of events"),
    "times of archived events": _("times of archived events"),
    "words": _("words"),
    "analysed texts": _("analysed texts"),
    "statements": _("statements"),
    "sentences of texts": _("sentences of texts"),
    "words of texts": _("words of texts"),
    "numbered things of texts": _("numbered things of texts"),
    "languages of texts": _("languages of texts"),
    "Chinese texts": _("Chinese texts"),
    "lines of notes": _("lines of notes"),
    "known shares of texts": _("known shares of texts"),
    "features of words": _("features of words"),
    "answers of the judge of pairs": _("answers of the judge of pairs"),
    "pieces of texts": _("pieces of texts"),
}
BAR_STEP, BAR_HEIGHT = 8, 28


def index(request: HttpRequest) -> HttpResponse:
    """Show the health of the index, large indexes, and the store."""
    overview = services.index_overview()
    store = services.search_store()
    model = gettext("none yet")
    if store.space:
        named = {"model": store.space.model, "count": store.space.dimension}
        model = gettext("%(model)s (%(count)s dimensions)") % named
    context = {
        **live_context(request, overview),
        **caches_context(overview.processes),
        "model": model,
        "missing_vectors": store.missing,
        "stored": filesize(store.stored_bytes),
        "limit": filesize(store.cache_limit),
    }
    return render_page(request, "cockpit/index/page.html", gettext("Index"), **context)


def live_fragment(request: HttpRequest) -> HttpResponse:
    """Show what changes: health, processes, indexes."""
    return render_fragment(request, "cockpit/index/live.html", **live_context(request, services.index_overview()))


@require_POST
def build(request: HttpRequest) -> HttpResponse:
    """Have a graph built again."""
    return ask(request, services.index_build_request, gettext("The graph is being rebuilt in the background."))


@require_POST
def verify(request: HttpRequest) -> HttpResponse:
    """Have the recall of an index verified."""
    done = gettext("Recall is being verified in the background; the result will appear here.")
    return ask(request, services.recall_verify_request, done)


def ask(request: HttpRequest, service: Callable[..., None], done: str) -> HttpResponse:
    """Apply a service to the user of a form."""
    try:
        service(user=request.POST.get("user", ""))
        messages.success(request, done)
    except MemoryHubError as error:
        messages.error(request, say(str(error.detail)))
    return HttpResponseRedirect(reverse("cockpit_index"))


def live_context(request: HttpRequest, overview: services.IndexOverview) -> dict[str, Any]:
    """Return what the live part shows."""
    progress, left = overview.reembedding, ""
    if progress is not None and progress.per_minute:  # at the present rate, where that is known
        left = in_words(timedelta(minutes=(progress.total - progress.made) / progress.per_minute))
    return {
        "level": overview.level.value,
        "sentence": sentence_of(overview),
        "hints": [say(hint) for _level, hint in overview.hints],
        "processes": [process_row(process) for process in overview.processes],
        "users": [user_row(one) for one in overview.users],
        "counted_at": overview.counted_at,
        "reembedding": progress,
        "made_percent": round(100 * progress.made / progress.total) if progress and progress.total else 0,
        "left": left,
        "may_change": request.user.has_perm(CHANGE),
        "as_of": now(),
    }


def sentence_of(overview: services.IndexOverview) -> str:
    """Return the level of the index and its reasons in a sentence."""
    if not overview.processes:
        return gettext("No web process has reported on its index yet.")
    said = SENTENCES[overview.level.value]
    reasons = all_of(str(REASONS[reason.value]) for reason, _hint in overview.hints)
    if not reasons:
        return str(said)
    return gettext("%(state)s Because %(reasons)s.") % {"state": said, "reasons": reasons}


def process_row(process: Any) -> dict[str, Any]:
    """Return a process as a row shows it."""
    facts = process.facts
    making = ""
    if built := facts.get("making"):
        counts = {"done": f"{built['done']:,}", "total": f"{built['of']:,}"}
        making = gettext("%(done)s of %(total)s memories") % counts
    indexes, memories, graphs = (int(facts.get(name, 0)) for name in ("indexes", "memories", "graphs"))
    held = gettext("%(indexes)s with %(memories)s in %(bytes)s; %(graphs)s") % {
        "indexes": ngettext("%(count)s index", "%(count)s indexes", indexes) % {"count": indexes},
        "memories": ngettext("%(count)s memory", "%(count)s memories", memories) % {"count": memories},
        "bytes": filesize(int(facts.get("bytes", 0))),
        "graphs": ngettext("%(count)s graph", "%(count)s graphs", graphs) % {"count": graphs},
    }
    parts = [held]
    if backlog := int(facts.get("backlog", 0)):
        parts.append(gettext("%(count)s memories not in a graph yet") % {"count": backlog})
    if evictions := facts.get("evictions_per_minute", 0):
        parts.append(gettext("%(count)s dropped per minute") % {"count": evictions})
    return {
        "name": process.name,
        "age": gettext("%(time)s ago") % {"time": f"{process.age:.0f} s"},
        "level": process.level.value,
        "level_words": LEVELS[process.level.value],
        "holds": in_turn(parts),
        "making": making,
        "missing": facts.get("missing") or "",
    }


def caches_context(processes: Sequence[Any]) -> dict[str, Any]:
    """Return what each process remembers, as a table."""
    return {
        "caches": [
            {
                "name": process.name,
                "rows": [
                    {
                        "name": CACHES.get(cache.name, cache.name),
                        "entries": cache.entries,
                        "size": megabytes(cache.bytes),
                        "bound": megabytes(cache.bound),
                    }
                    for cache in process.caches
                ],
                "size": megabytes(sum(cache.bytes for cache in process.caches)),
                "bound": megabytes(sum(cache.bound for cache in process.caches)),
            }
            for process in processes
            if process.caches
        ]
    }


def megabytes(size: float) -> str:
    """Return a size in megabytes, so that what is used and its bound can be compared."""
    return f"{size / MB:,.1f} MB"


def user_row(one: services.UserIndex) -> dict[str, Any]:
    """Return the index of a user as a row shows it."""
    snapshot, last = one.snapshot, one.checks[-1] if one.checks else None
    return {
        "user": one.user,
        "memories": one.memories,
        "is_large": one.is_large,
        "way": way_of(one),
        "backlog": one.backlog,
        "snapshot_age": in_words(now() - snapshot.written_at) if snapshot else "",
        "snapshot_at": moment(snapshot.written_at) if snapshot else "",
        "snapshot_size": filesize(snapshot.bytes) if snapshot else "",
        "loaded": [(name, filesize(size)) for name, (_first, _second, size) in one.loaded.items()],
        "check": last,
        "recall": f"{100 * last.recall:.1f} %" if last is not None and last.recall is not None else "",
        "checked_ago": ago(last.at, now()) if last else "",
        "exact": in_figures(last.exact_ms) if last is not None and last.exact_ms is not None else "",
        "graph": in_figures(last.graph_ms) if last is not None and last.graph_ms is not None else "",
        "bars": recall_bars(one.checks) if len(one.checks) > 1 else None,
    }


def way_of(one: services.UserIndex) -> str:
    """Return how the memories of a user are searched."""
    if not one.is_large:
        return gettext("exact")
    return gettext("graph") if one.has_graph else gettext("exact, until its graph is built")


def recall_bars(checks: Sequence[Any]) -> Bars:
    """Return the figures of the last checks as bars, from 80 % at the bottom."""
    bars = []
    for place, check in enumerate(checks):
        share = check.recall or 0.0
        height = max(3, round(BAR_HEIGHT * max(0.0, share - 0.8) / 0.2))
        title = (
            f"{moment(check.at)}: {100 * share:.1f} %"
            if check.recall is not None
            else gettext("%(time)s: failed") % {"time": moment(check.at)}
        )
        tone = "good" if share >= 0.95 else "bad"
        bars.append(Bar(place * BAR_STEP, BAR_HEIGHT - height, height, tone, title, BAR_STEP - 2))
    figures = ", ".join(f"{100 * check.recall:.1f} %" for check in checks if check.recall is not None)
    summary = gettext("Recall of the last checks: %(figures)s") % {"figures": figures or gettext("none")}
    return Bars(tuple(bars), len(checks) * BAR_STEP, BAR_HEIGHT, summary)
