"""The context of the page of a conflict, and what each resolution would do: see templates/sync/conflict.html."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import NOTHING, badge, choice_badge, link, moment, monospace
from apps.core.pages.sayings import say
from apps.semantic.selectors import ManagedMemory, managed_get
from apps.sync.admin.pointers import memory_link
from apps.sync.admin.words import CONFLICT_COLOURS, ITEM_PAGE, at_by, item_label, run_link, short_commit, source_link
from apps.sync.domain.conflicts import allowed_resolutions
from apps.sync.domain.state import ConflictType, Resolution
from apps.sync.models import KnowledgeItem, PointerConflict, ResolutionChoices, SyncConflictState

SUMMARIES = {
    ConflictType.HASH_MISMATCH: _("The pointer was not written from what the item says now."),
    ConflictType.ORPHANED_POINTER: _("There is a pointer, but the item it was made from is gone."),
    ConflictType.DUPLICATE_POINTER: _("More than one pointer was made from this item."),
    ConflictType.STATUS_CHANGE: _("The item is no longer in force, and its pointer does not say so."),
    ConflictType.LAYER_MISMATCH: _("The item applies to another layer than its pointer says."),
}
UPDATE = (
    _("The pointer gets the title, summary, constraints, status and layer that the item has now."),
    _("Searches find the new text at once. The old one is in the history of the memory."),
)
DELETE_ORPHAN = (
    _("The pointer is deleted: searches no longer find it. It stays in the history, with the reason."),
    _("If the item comes back to the source, the next sync makes its pointer again."),
)
DELETE_DUPLICATE = (
    _("The newest pointer stays; the others are deleted, with the reason in their history."),
    _("Searches find the item once from then on."),
)
KEEP = (
    _("Nothing is changed: the pointer stays as it is, and the conflict leaves the list."),
    _("Later syncs leave it alone until the difference changes."),
)


def describe_consequences(conflict: PointerConflict, resolution: Resolution) -> list[str]:
    """Return what a resolution would do, a sentence for each effect."""
    if resolution is Resolution.KEEP_MEMORY:
        return [str(one) for one in KEEP]
    if resolution is Resolution.UPDATE_MEMORY:
        return [str(one) for one in UPDATE]
    chosen = DELETE_DUPLICATE if conflict.type == ConflictType.DUPLICATE_POINTER else DELETE_ORPHAN
    return [str(one) for one in chosen]


def conflict_context(conflict: PointerConflict, *, may_read: bool, may_open: bool) -> dict[str, Any]:
    """Return the parts of the page. may_read: whether items may be shown; may_open: whether memories may."""
    item = KnowledgeItem.objects.filter(source=conflict.source, item_id=conflict.item_id).first()
    memories = managed_get(conflict.pointers)
    allowed = [one for one in allowed_resolutions(ConflictType(conflict.type)) if one is not Resolution.MANUAL]
    names = {"pointer": gettext("The pointer has"), "item": gettext("The item has")}
    resolved = at_by(conflict.resolved_at, conflict.resolved_by) if conflict.resolved_at else ""
    facts: list[tuple[str, Any]] = [
        (gettext("Source"), source_link(conflict.source)),
        (gettext("Found by"), run_link(conflict.run)),
        (gettext("Found at"), moment(conflict.detected_at)),
        (gettext("Resolved"), resolved),
        (gettext("What was done"), conflict.get_resolution_display() if conflict.resolution else ""),
        (gettext("Id"), monospace(conflict.uuid)),
    ]
    return {
        "summary": SUMMARIES[ConflictType(conflict.type)],
        "what": conflict.get_type_display(),
        "state": choice_badge(conflict, "state", CONFLICT_COLOURS),
        "is_open": conflict.state == SyncConflictState.OPEN,
        "suggested": conflict.get_suggested_display().lower(),
        "choices": [(gettext(ResolutionChoices(one).label), describe_consequences(conflict, one)) for one in allowed],
        "pointers": [pointer_card(memory, conflict, may_open=may_open) for memory in memories.values()],
        "missing": len(conflict.pointers) - len(memories),
        "item": item_card(item, may_read=may_read) if item else None,
        "is_gone": conflict.type == ConflictType.ORPHANED_POINTER,
        "detail": [(words, conflict.detail[name]) for name, words in names.items() if name in conflict.detail],
        "facts": [(name, value) for name, value in facts if value],
        "may_read": may_read,
        "may_open": may_open,
    }


def pointer_card(memory: ManagedMemory, conflict: PointerConflict, *, may_open: bool) -> dict[str, Any]:
    """Return what a pointer says, and what it was written from."""
    written = memory.metadata
    return {
        "state": badge(gettext("Found by searches"), "success")
        if memory.is_active
        else badge(gettext("Deleted"), "danger"),
        "is_kept": conflict.detail.get("keep") == str(memory.uuid),
        "content": memory.content if may_open else "",
        "facts": [
            (gettext("Status"), say(written.get("status", NOTHING))),
            (gettext("Layer"), say(written.get("layer", NOTHING))),
            (gettext("Hash"), monospace(written.get("hash", NOTHING))),
            (gettext("Made"), moment(memory.created_at)),
            (gettext("Changed"), moment(memory.updated_at)),
            (gettext("Memory"), memory_link(memory.uuid, may_open=may_open)),
        ],
    }


def item_card(item: KnowledgeItem, *, may_read: bool) -> dict[str, Any]:
    """Return what an item says as the last sync left it."""
    return {
        "label": item_label(item),
        "title": item.title if may_read else "",
        "summary": item.summary if may_read else "",
        "facts": [
            (gettext("Status"), say(item.status)),
            (gettext("Layer"), say(item.layer)),
            (gettext("Hash"), monospace(item.hash)),
            (gettext("Synced"), moment(item.synced_at)),
            (gettext("Commit"), short_commit(item.commit)),
            (gettext("Item"), link(ITEM_PAGE, item.pk, item.item_id) if may_read else item.item_id),
        ],
    }
