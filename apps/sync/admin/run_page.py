"""The context of the page of a run, with what it changed item by item: see templates/sync/run.html."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import NOTHING, badge, choice_badge, link, moment, monospace, tile
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.pages.sayings import say
from apps.core.pages.times import in_figures
from apps.sync.admin.words import (
    ACTION_COLOURS,
    ITEM_PAGE,
    RUN_COLOURS,
    STEP_WORDS,
    WORKING,
    at_by,
    count_of,
    run_link,
    short_commit,
)
from apps.sync.domain.errors import KNOWLEDGE_UNAVAILABLE, PARTIAL_FAILURE
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncChange, SyncKind, SyncRun, SyncRunState

MAX_SHOWN_CHARS = 600
SHOWN_HASH_CHARS = 12
# Fields of an item that are shown when they differ, with their names.
FIELDS = {"title": _("Title"), "status": _("Status"), "layer": _("Layer"), "path": _("File"), "hash": _("Hash")}
PER_PAGE = 50
MAX_FAILED = 100
ADVICE = {
    KNOWLEDGE_UNAVAILABLE: _("Nothing was changed. It is retried at increasing intervals."),
    PARTIAL_FAILURE: _("Fix the files below in the source: each sync tries them again."),
}
# What a run is and how it is, as a sentence with both.
KINDS = {
    SyncKind.FULL: _("full sync"),
    SyncKind.INCREMENTAL: _("incremental sync"),
    SyncKind.SINGLE: _("sync of one item"),
    SyncKind.ROLLBACK: _("rollback"),
    SyncKind.RESOLUTION: _("resolution of a conflict"),
}
# Why an incremental sync became a full one.
FALLBACKS = {
    "no_state": _("nothing had been synced before."),
    "state_corrupted": _("the stored data about the last sync was damaged."),
    "settings_changed": _("the settings changed which files are read, or how."),
    "commit_gone": _(
        "the commit of the last sync is no longer in the history of the branch; the history was rewritten."
    ),
}
STATES = {
    SyncRunState.WAITING: _("This %(kind)s is waiting for a worker."),
    SyncRunState.RUNNING: _("This %(kind)s is under way."),
    SyncRunState.COMPLETE: _("This %(kind)s is complete."),
    SyncRunState.PARTIAL: _("This %(kind)s is complete except for some files."),
    SyncRunState.LIMITED: _("This %(kind)s has reached the limit of its source; the next one continues."),
    SyncRunState.FAILED: _("This %(kind)s has failed, and changed nothing."),
    SyncRunState.INTERRUPTED: _("This %(kind)s was interrupted, and changed nothing."),
}


def change_rows(source: KnowledgeSource, changes: Sequence[SyncChange], *, may_read: bool) -> list[dict[str, Any]]:
    """Return what changes did, for a page. may_read: whether what items say may be shown."""
    ids = {change.item_id for change in changes}
    items = KnowledgeItem.objects.filter(source=source, item_id__in=ids if may_read else ())
    links = {item_id: link(ITEM_PAGE, pk, item_id) for item_id, pk in items.values_list("item_id", "pk")}
    return [
        {
            "badge": badge(change.get_action_display(), ACTION_COLOURS[change.action]),
            "item": links.get(change.item_id) or monospace(change.item_id),
            "title": str((item_of(change.after) or item_of(change.before)).get("title", "")) if may_read else "",
            "differences": list(differences_of(change)) if may_read else [],
        }
        for change in changes
    ]


def item_of(side: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the item of a side of a change; empty where there was none."""
    found = side.get("item") or {}
    return found if isinstance(found, Mapping) else {}


def content_of(side: Mapping[str, Any]) -> str:
    """Return what the pointer of a side said; empty where there was none."""
    found = side.get("memory") or {}
    return str(found.get("content", "")) if isinstance(found, Mapping) else ""


def differences_of(change: SyncChange) -> Iterator[tuple[str, str, str]]:
    """Yield names with values before and after, where they differ; empty for what was not there."""
    before, after = item_of(change.before), item_of(change.after)
    for name, words in FIELDS.items():
        values = [shorten(name, side.get(name) or "") for side in (before, after)]
        if values[0] != values[1] and (before or name != "title"):
            yield str(words), values[0], values[1]
    contents = [truncatechars(content_of(side), MAX_SHOWN_CHARS) for side in (change.before, change.after)]
    if contents[0] != contents[1]:
        yield gettext("Pointer"), contents[0], contents[1]


def shorten(name: str, value: Any) -> str:
    """Return a value as the page shows it."""
    if name == "hash":
        return str(value)[:SHOWN_HASH_CHARS]
    return say(str(value)) if name in {"status", "layer"} else str(value)


def run_context(run: SyncRun, *, number: str, may_read: bool) -> dict[str, Any]:
    """Return the parts of the page. number: of the page of changes. may_read: whether titles may be shown."""
    changes = Paginator(SyncChange.objects.filter(run=run).order_by("id"), PER_PAGE).get_page(number)
    return {
        "sentence": STATES[SyncRunState(run.state)] % {"kind": KINDS[SyncKind(run.kind)]},
        "state": choice_badge(run, "state", RUN_COLOURS),
        "working": run.state in WORKING,
        "step": STEP_WORDS.get(run.step, run.step.capitalize()),
        "tiles": list(tiles_of(run)),
        "facts": list(facts_of(run)),
        "problem": say(run.detail),
        "fallback": FALLBACKS.get(run.fallback, run.fallback),
        "advice": ADVICE.get(run.code, ""),
        "failed": [(one["path"], say(one["detail"]) or one["code"]) for one in run.failed_items[:MAX_FAILED]],
        "failed_left": max(0, run.failed - MAX_FAILED),
        "changes": changes,
        "rows": change_rows(run.source, list(changes.object_list), may_read=may_read),
        "may_read": may_read,
    }


def tiles_of(run: SyncRun) -> Iterator[dict[str, Any]]:
    """Yield the figures at the top of the page."""
    conflicts = f"{reverse('admin:sync_pointerconflict_changelist')}?run={run.pk}&state=all" if run.conflicts else ""
    yield tile("add_circle", gettext("Added"), run.added, gettext("new items"))
    yield tile("edit", gettext("Updated"), run.updated, gettext("changed items"))
    yield tile("delete", gettext("Deleted"), run.deleted, gettext("items that are gone"))
    yield tile("check_circle", gettext("As they were"), run.unchanged, gettext("not written"))
    yield tile("balance", gettext("Conflicts"), run.conflicts, gettext("found by it"), link=conflicts)
    yield tile(
        "error",
        gettext("Not read"),
        run.failed,
        gettext("what was known of them stays"),
        "warn" if run.failed else "",
    )


def facts_of(run: SyncRun) -> Iterator[tuple[str, SafeString | str]]:
    """Yield names and values of the run itself, without empty ones."""
    facts: list[tuple[str, SafeString | str]] = [
        (gettext("Requested"), at_by(run.requested_at, run.actor)),
        (gettext("Why"), say(run.reason or "manual")),
        (gettext("Item"), run.item_id),
        (gettext("Started"), moment(run.started_at)),
        (gettext("Ended"), moment(run.ended_at)),
        (gettext("Took"), took(run)),
        (gettext("From commit"), short_commit(run.from_commit)),
        (gettext("To commit"), short_commit(run.to_commit)),
        (gettext("Left for the next run"), count_of(run.remaining, "item") if run.remaining else ""),
        (gettext("Rolled back by"), run_link(run.rolled_back_by) if run.rolled_back_by else ""),
        (gettext("Id"), str(run.uuid)),
    ]
    return ((name, value) for name, value in facts if value and value != NOTHING)


def took(run: SyncRun) -> str:
    """Return how long a run took, or takes; empty before it begins."""
    if run.started_at is None:
        return ""
    ended = run.ended_at or (utcnow(SYSTEM_CLOCK) if run.state in WORKING else None)
    return in_figures((ended - run.started_at).total_seconds() * 1_000) if ended else ""
