"""Colours and words that several pages of sync share."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.core.admin.kit import NOTHING, badge, link, monospace
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncRun, SyncRunState

SOURCE_COLOURS = {
    "In step": "success", "Never synced": "info", "Syncing": "info", "Waiting": "info", "Behind": "warning",
    "Some files not read": "warning", "Paused": "warning", "Off": None, "Failed": "danger",
}  # fmt: skip
RUN_COLOURS = {
    "waiting": None, "running": "info", "complete": "success", "partial": "warning", "limited": "info",
    "failed": "danger", "interrupted": "warning",
}  # fmt: skip
STATUS_COLOURS = {
    "draft": None, "proposed": "info", "accepted": "success", "deprecated": "warning", "superseded": "warning",
    "rejected": "danger",
}  # fmt: skip
TYPE_COLOURS = {"adr": "primary", "policy": "info", "pattern": None, "spec": None}
CONFLICT_COLOURS = {"open": "warning", "resolved": "success", "outdated": None}
ACTION_COLOURS = {"create": "success", "update": "info", "delete": "danger"}
SHOWN_COMMIT_CHARS = 10
WORKING = frozenset({SyncRunState.WAITING, SyncRunState.RUNNING})
SOURCE_PAGE = "admin:sync_knowledgesource_change"
RUN_PAGE = "admin:sync_syncrun_change"
ITEM_PAGE = "admin:sync_knowledgeitem_change"
CONFLICT_PAGE = "admin:sync_pointerconflict_change"
# What each step of a run does, for the page that shows its progress.
STEP_WORDS: Mapping[str, str] = {
    "fetch": "Fetching the source",
    "read": "Reading files",
    "compare": "Comparing with the last sync",
    "embed": "Embedding what is new",
    "apply": "Writing pointers",
}


def count_of(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, such as `2 items`."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def short_commit(commit: str) -> SafeString | str:
    """Render the beginning of a commit with the whole as its title; a dash for none."""
    if not commit:
        return NOTHING
    return format_html('<span class="mh-mono" title="{}">{}</span>', commit, commit[:SHOWN_COMMIT_CHARS])


def tally(run: SyncRun) -> str:
    """Return what a run changed, in signs as in a difference of texts."""
    if not (run.added or run.updated or run.deleted):
        return "nothing"
    return f"+{run.added:,} ~{run.updated:,} -{run.deleted:,}"


def source_link(source: KnowledgeSource) -> SafeString:
    """Render a link to the page of a source."""
    return link(SOURCE_PAGE, source.pk, source.name)


def run_link(run: SyncRun) -> SafeString:
    """Render a link to the page of a run."""
    return link(RUN_PAGE, run.pk, f"{run.get_kind_display()} of {run.requested_at:%Y-%m-%d %H:%M:%S}")


def item_label(item: KnowledgeItem) -> str:
    """Render what kind of item it is and where it is in its life, as badges."""
    kind = badge(item.get_type_display(), TYPE_COLOURS.get(item.type))
    status = badge(item.get_status_display(), STATUS_COLOURS.get(item.status))
    return format_html("{} {}", kind, status)


def item_links(source: KnowledgeSource, item_ids: list[str], found: Mapping[str, Any]) -> SafeString | str:
    """Render ids of items as links; those that are not there as text. found: keys of rows by id."""
    if not item_ids:
        return NOTHING
    parts = [link(ITEM_PAGE, found[one], one) if one in found else monospace(one) for one in item_ids]
    return format_html(", ".join(["{}"] * len(parts)), *parts)


def once(show: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a field of a page that is made once for an object: the theme asks for each several times."""

    @wraps(show)
    def shown(self: Any, obj: Any) -> Any:
        made: dict[str, Any] = obj.__dict__.setdefault("fields_made", {})
        if show.__name__ not in made:
            made[show.__name__] = show(self, obj)
        return made[show.__name__]

    return shown
