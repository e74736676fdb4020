"""What runs changed, item by item, with what the item and its pointer were before and after."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import badge, link, monospace
from apps.core.pages.sayings import say
from apps.sync.admin.words import ACTION_COLOURS, ITEM_PAGE
from apps.sync.models import KnowledgeItem, KnowledgeSource, SyncChange

MAX_SHOWN_CHARS = 600
SHOWN_HASH_CHARS = 12
# Fields of an item that are shown when they differ, with their names.
FIELDS = {"title": _("Title"), "status": _("Status"), "layer": _("Layer"), "path": _("File"), "hash": _("Hash")}


def change_rows(source: KnowledgeSource, changes: Sequence[SyncChange], *, may_read: bool) -> list[dict[str, Any]]:
    """Return what changes did, for a page. may_read: whether what items say may be shown."""
    ids = {change.item_id for change in changes}
    found = dict(KnowledgeItem.objects.filter(source=source, item_id__in=ids).values_list("item_id", "pk"))
    return [
        {
            "badge": badge(change.get_action_display(), ACTION_COLOURS[change.action]),
            "item": item_name(change.item_id, found if may_read else {}),
            "title": str((item_of(change.after) or item_of(change.before)).get("title", "")) if may_read else "",
            "differences": list(differences_of(change)) if may_read else [],
        }
        for change in changes
    ]


def item_name(item_id: str, found: Mapping[str, Any]) -> str:
    """Render the id of an item, as a link where it still exists."""
    return link(ITEM_PAGE, found[item_id], item_id) if item_id in found else monospace(item_id)


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
