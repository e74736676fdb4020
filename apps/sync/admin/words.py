"""Colours, words, links and requests that several pages of sync share."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import NOTHING, badge, link, moment, monospace, operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import system_access
from apps.core.pages.sayings import say
from apps.core.words import Counted, Words
from apps.semantic.selectors import memory_get_any
from apps.sync.domain.triggers import should_sync
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncKind, SyncRun, SyncRunState
from apps.sync.services import sync_request
from apps.sync.sources.access import trigger_facts

SOURCE_COLOURS = {
    "in_step": "success", "never": "info", "syncing": "info", "waiting": "info", "behind": "warning",
    "some_not_read": "warning", "paused": "warning", "off": None, "failed": "danger",
}  # fmt: skip
SOURCE_STATES = {
    "in_step": _("In sync"), "never": _("Never synced"), "syncing": _("Syncing"), "waiting": _("Waiting"),
    "behind": _("Behind"), "some_not_read": _("Some files not read"), "paused": _("Paused"), "off": _("Off"),
    "failed": _("Failed"),
}  # fmt: skip
RUN_COLOURS = {
    "waiting": None, "running": "info", "complete": "success", "partial": "warning", "limited": "info",
    "failed": "danger", "interrupted": "warning",
}  # fmt: skip
STATUS_COLOURS = {
    "draft": None, "proposed": "info", "accepted": "success", "deprecated": "warning", "superseded": "warning",
    "rejected": "danger", "unknown": "warning",
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
STEP_WORDS: Mapping[str, Words] = {
    "fetch": _("Fetching the source"),
    "read": _("Reading files"),
    "compare": _("Comparing with the last sync"),
    "embed": _("Embedding what is new"),
    "apply": _("Writing pointers"),
}


# What is counted.
NOUNS = {
    "constraint": Counted("%(shown)s constraint", "%(shown)s constraints", "count"),
    "decision": Counted("%(shown)s decision", "%(shown)s decisions", "count"),
    "item": Counted("%(shown)s item", "%(shown)s items", "count"),
    "open conflict": Counted("%(shown)s open conflict", "%(shown)s open conflicts", "count"),
    "pattern": Counted("%(shown)s pattern", "%(shown)s patterns", "count"),
    "policy": Counted("%(shown)s policy", "%(shown)s policies", "count"),
    "pointer": Counted("%(shown)s pointer", "%(shown)s pointers", "count"),
    "specification": Counted("%(shown)s specification", "%(shown)s specifications", "count"),
}
NOT_WHILE = {"disabled": _("not while it is off"), "paused": _("not while it is paused")}


def count_of(count: int, noun: str) -> str:
    """Return a number with one of NOUNS, such as `2 items`."""
    return NOUNS[noun] % {"count": count, "shown": f"{count:,}"}


def at_by(at: datetime | None, actor: str) -> str:
    """Return when something was done, and who did it."""
    return gettext("%(at)s by %(actor)s") % {"at": moment(at), "actor": actor}


def short_commit(commit: str) -> SafeString | str:
    """Render the beginning of a commit with the whole as its title; a dash for none."""
    if not commit:
        return NOTHING
    return format_html('<span class="mh-mono" title="{}">{}</span>', commit, commit[:SHOWN_COMMIT_CHARS])


def tally(run: SyncRun) -> str:
    """Return what a run changed, in signs as in a difference of texts."""
    if not (run.added or run.updated or run.deleted):
        return gettext("nothing")
    return f"+{run.added:,} ~{run.updated:,} -{run.deleted:,}"


def source_link(source: KnowledgeSource) -> SafeString:
    """Render a link to the page of a source."""
    return link(SOURCE_PAGE, source.pk, source.name)


def run_link(run: SyncRun) -> SafeString:
    """Render a link to the page of a run."""
    words = {"kind": run.get_kind_display(), "at": f"{run.requested_at:%Y-%m-%d %H:%M:%S}"}
    return link(RUN_PAGE, run.pk, gettext("%(kind)s of %(at)s") % words)


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


def due_of(source: KnowledgeSource) -> tuple[str, str]:
    """Return when the next sync of a source begins, and why. source: with its state."""
    answer = should_sync(trigger_facts(source, source.state), utcnow(SYSTEM_CLOCK))
    if answer.reason in NOT_WHILE:
        return str(NOT_WHILE[answer.reason]), ""
    if answer.should:
        return gettext("within a minute"), say(answer.detail)
    # Nothing has to be said beside a time that a person set.
    why = "" if answer.due_at and answer.reason == "manual" else say(answer.detail)
    return (moment(answer.due_at) if answer.due_at else gettext("on request")), why


def memory_link(uuid: UUID, *, may_open: bool) -> SafeString:
    """Render a link to a memory; only its id for users who may not see it, or where there is none any more."""
    if may_open:
        try:
            return link("admin:semantic_memory_change", memory_get_any(system_access(), uuid).pk, str(uuid))
        except NotFoundError:
            pass
    return monospace(uuid)


def request_run(request: HttpRequest, source: KnowledgeSource, kind: SyncKind, item_id: str = "") -> SyncRun | None:
    """Request a sync; a refusal is shown with its reason, and answered with None."""
    try:
        return sync_request(access=operator_access(request), uuid=source.uuid, kind=kind, item_id=item_id)
    except MemoryHubError as error:
        messages.error(request, f"{source.name}: {say(str(error.detail))}")
        return None
