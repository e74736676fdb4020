"""The context of the page of an item: see templates/sync/item.html."""

from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from apps.core.admin.kit import NOTHING, badge, moment, monospace, preformatted
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.core.pages.sayings import say
from apps.semantic.domain.standing import IN_FORCE
from apps.semantic.selectors import managed_get
from apps.sync.admin.pointers import memory_link
from apps.sync.admin.words import (
    ACTION_COLOURS,
    CONFLICT_PAGE,
    item_label,
    item_links,
    run_link,
    short_commit,
    source_link,
)
from apps.sync.models import KnowledgeItem, PointerConflict, SyncChange
from apps.sync.selectors import item_text

MAX_SHOWN_CHARS = 200_000
MAX_HISTORY = 50
SEVERITY_COLOURS = {"blocking": "danger", "warning": "warning", "info": "info"}


def item_context(item: KnowledgeItem, access: Access, *, may_open: bool) -> dict[str, Any]:
    """Return the parts of the page. may_open: whether the user may see memories."""
    related = {*item.supersedes, *item.superseded_by}
    found = dict(KnowledgeItem.objects.filter(source=item.source, item_id__in=related).values_list("item_id", "pk"))
    changes = SyncChange.objects.filter(run__source=item.source, item_id=item.item_id)
    changes = changes.select_related("run").defer("before", "after")
    conflicts = PointerConflict.objects.filter(source=item.source, item_id=item.item_id)
    return {
        "label": item_label(item),
        "source": source_link(item.source),
        "superseded_by": item_links(item.source, item.superseded_by, found) if item.superseded_by else "",
        "supersedes": item_links(item.source, item.supersedes, found) if item.supersedes else "",
        "constraints": [
            (badge(say(one.get("severity", "")), SEVERITY_COLOURS.get(one.get("severity", ""))), one.get("text", ""))
            for one in item.constraints
        ],
        "tags": ", ".join(str(tag) for tag in item.tags),
        "pointer": pointer_of(item, may_open=may_open),
        "facts": facts_of(item),
        "history": [history_row(change) for change in changes.order_by("-pk")[:MAX_HISTORY]],
        "conflicts": [
            (reverse(CONFLICT_PAGE, args=[one.pk]), one.get_type_display(), one.get_state_display().lower())
            for one in conflicts.order_by("-pk")[:MAX_HISTORY]
        ],
        **text_of(item, access),
    }


def pointer_of(item: KnowledgeItem, *, may_open: bool) -> dict[str, Any]:
    """Return what the pointer of an item says, and the list in which it is opened."""
    memory = managed_get([item.pointer]).get(item.pointer) if item.pointer else None
    if memory is None:
        return {}
    return {
        "content": memory.content if may_open else "",
        "link": memory_link(memory.uuid, may_open=may_open),
        "changed": moment(memory.updated_at),
        "is_active": memory.is_active,
    }


def facts_of(item: KnowledgeItem) -> list[tuple[str, SafeString | str]]:
    """Return names and values of the item itself."""
    facts: list[tuple[str, SafeString | str]] = [
        (gettext("In force"), gettext("Yes") if item.status == IN_FORCE else gettext("No")),
        (gettext("Item id"), item.item_id),
        (gettext("File"), monospace(item.path)),
        (gettext("Layer"), item.get_layer_display()),
        (gettext("Owner"), item.source.user_id),
        (gettext("Commit"), short_commit(item.commit)),
        (gettext("Synced"), moment(item.synced_at)),
        (gettext("Hash"), monospace(item.hash)),
        (gettext("Id"), monospace(item.uuid)),
    ]
    return [(name, value) for name, value in facts if value and value != NOTHING]


def history_row(change: SyncChange) -> tuple[str, SafeString, SafeString | str]:
    """Return what a sync did, with links."""
    what = badge(change.get_action_display(), ACTION_COLOURS[change.action])
    return what, run_link(change.run), short_commit(change.run.to_commit)


def text_of(item: KnowledgeItem, access: Access) -> dict[str, Any]:
    """Return the full text of an item, or why it cannot be had now."""
    try:
        text = item_text(access, item.uuid).text
    except MemoryHubError as error:
        return {"text": "", "text_problem": say(str(error.detail))}
    left = "\n\n" + gettext("The rest is not shown here.") if len(text) > MAX_SHOWN_CHARS else ""
    return {"text": preformatted(text[:MAX_SHOWN_CHARS] + left), "text_problem": ""}
