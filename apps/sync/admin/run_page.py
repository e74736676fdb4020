"""The context of the page of a run: see templates/sync/run.html."""

from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.safestring import SafeString

from apps.core.admin.kit import NOTHING, choice_badge, moment
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.times import in_figures
from apps.sync.admin.changes import change_rows
from apps.sync.admin.words import RUN_COLOURS, STEP_WORDS, WORKING, count_of, run_link, short_commit
from apps.sync.domain.errors import KNOWLEDGE_UNAVAILABLE, PARTIAL_FAILURE
from apps.sync.models import SyncChange, SyncKind, SyncRun, SyncRunState

PER_PAGE = 50
MAX_FAILED = 100
ADVICE = {
    KNOWLEDGE_UNAVAILABLE: "Nothing was changed. It is tried again, after longer and longer pauses.",
    PARTIAL_FAILURE: "Mend the files below in the source: each sync tries them again.",
}
KINDS = {
    SyncKind.FULL: "full sync",
    SyncKind.INCREMENTAL: "incremental sync",
    SyncKind.SINGLE: "sync of one item",
    SyncKind.ROLLBACK: "rollback",
    SyncKind.RESOLUTION: "resolution of a conflict",
}
# Why an incremental sync became a full one.
FALLBACKS = {
    "no_state": "nothing was synced before.",
    "state_corrupted": "what was stored about the last sync was damaged.",
    "settings_changed": "the settings say otherwise which files are read, or how.",
    "commit_gone": "the commit of the last sync is not in the history of the branch any more; it was rewritten.",
}
STATES = {
    SyncRunState.WAITING: "waits for a worker",
    SyncRunState.RUNNING: "is under way",
    SyncRunState.COMPLETE: "is complete",
    SyncRunState.PARTIAL: "is complete but for some files",
    SyncRunState.LIMITED: "has reached the limit of its source, and the next one goes on",
    SyncRunState.FAILED: "has failed, and changed nothing",
    SyncRunState.INTERRUPTED: "was interrupted, and changed nothing",
}


def run_context(run: SyncRun, *, number: str, may_read: bool) -> dict[str, Any]:
    """Return the parts of the page. number: of the page of changes. may_read: whether titles may be shown."""
    changes = Paginator(SyncChange.objects.filter(run=run).order_by("id"), PER_PAGE).get_page(number)
    return {
        "sentence": f"This {KINDS[SyncKind(run.kind)]} {STATES[SyncRunState(run.state)]}.",
        "state": choice_badge(run, "state", RUN_COLOURS),
        "working": run.state in WORKING,
        "step": STEP_WORDS.get(run.step, run.step.capitalize()),
        "tiles": list(tiles_of(run)),
        "facts": list(facts_of(run)),
        "fallback": FALLBACKS.get(run.fallback, run.fallback),
        "advice": ADVICE.get(run.code, ""),
        "failed": [(one["path"], one["detail"] or one["code"]) for one in run.failed_items[:MAX_FAILED]],
        "failed_left": max(0, run.failed - MAX_FAILED),
        "changes": changes,
        "rows": change_rows(run.source, list(changes.object_list), may_read=may_read),
        "may_read": may_read,
    }


def tiles_of(run: SyncRun) -> Iterator[dict[str, Any]]:
    """Yield the figures at the top of the page."""

    def tile(icon: str, label: str, value: int, note: str, tone: str = "", link: str = "") -> dict[str, Any]:
        return {"icon": icon, "label": label, "value": f"{value:,}", "note": note, "tone": tone, "link": link}

    conflicts = f"{reverse('admin:sync_pointerconflict_changelist')}?run={run.pk}&state=all" if run.conflicts else ""
    yield tile("add_circle", "Added", run.added, "new items")
    yield tile("edit", "Updated", run.updated, "changed items")
    yield tile("delete", "Deleted", run.deleted, "items that are gone")
    yield tile("check_circle", "As they were", run.unchanged, "not written")
    yield tile("balance", "Conflicts", run.conflicts, "found by it", link=conflicts)
    yield tile("error", "Not read", run.failed, "what was known of them stays", "warn" if run.failed else "")


def facts_of(run: SyncRun) -> Iterator[tuple[str, SafeString | str]]:
    """Yield names and values of the run itself, without empty ones."""
    facts: list[tuple[str, SafeString | str]] = [
        ("Asked for", f"{moment(run.requested_at)} by {run.actor}"),
        ("Why", run.reason or "manual"),
        ("Item", run.item_id),
        ("Began", moment(run.started_at)),
        ("Ended", moment(run.ended_at)),
        ("Took", took(run)),
        ("From commit", short_commit(run.from_commit)),
        ("To commit", short_commit(run.to_commit)),
        ("Left for the next run", count_of(run.remaining, "item") if run.remaining else ""),
        ("Taken back by", run_link(run.rolled_back_by) if run.rolled_back_by else ""),
        ("Id", str(run.uuid)),
    ]
    return ((name, value) for name, value in facts if value and value != NOTHING)


def took(run: SyncRun) -> str:
    """Return how long a run took, or takes; empty before it begins."""
    if run.started_at is None:
        return ""
    ended = run.ended_at or (utcnow(SYSTEM_CLOCK) if run.state in WORKING else None)
    return in_figures((ended - run.started_at).total_seconds() * 1_000) if ended else ""
