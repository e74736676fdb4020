"""Conflicts between pointers and items in the admin: those that wait for a person first, with a decision for each."""

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge,
    badge_column,
    choice_badge,
    column,
    for_each,
    link,
    moment,
    monospace,
    operator_access,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList
from apps.core.admin.steps import OpenFirstFilter, make_dialog, step_action
from apps.core.pages.sayings import say
from apps.core.words import Counted, Words
from apps.semantic.selectors import ManagedMemory, managed_get
from apps.sync.admin.words import (
    CONFLICT_COLOURS,
    ITEM_PAGE,
    at_by,
    item_label,
    memory_link,
    run_link,
    short_commit,
    source_link,
)
from apps.sync.domain.plan import allowed_resolutions
from apps.sync.domain.state import ConflictType, Resolution
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerConflict, ResolutionChoices, SyncConflictState
from apps.sync.services import conflict_resolve

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
RESOLVED = Counted("%(count)s conflict resolved.", "%(count)s conflicts resolved.", "count")
TYPE_COLOURS = {
    "hash_mismatch": "info", "orphaned_pointer": "danger", "duplicate_pointer": "warning", "status_change": "info",
    "layer_mismatch": "info",
}  # fmt: skip
STEPS = {
    "update_this": Resolution.UPDATE_MEMORY,
    "delete_this": Resolution.DELETE_MEMORY,
    "keep_this": Resolution.KEEP_MEMORY,
}


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


class StateFilter(OpenFirstFilter):
    title, all_words, states = _("state"), _("All"), SyncConflictState


class ConsequencesForm(BaseDialogForm):
    """A dialog that says what a resolution would do."""

    form_before_template = "sync/consequences.html"
    resolution = Resolution.MANUAL

    def get_before_template_context(self, request: HttpRequest, object_id: int | str | None = None) -> dict[str, Any]:
        conflict = PointerConflict.objects.filter(pk=object_id or 0).select_related("source").first()
        return {"sentences": describe_consequences(conflict, self.resolution) if conflict else []}


def resolution_step(name: str, title: Words, button: Words, icon: str) -> Any:
    """Return the button of a conflict's page that applies one of STEPS after a dialog. name: of the method."""
    dialog = make_dialog(title, "", button, type("StepForm", (ConsequencesForm,), {"resolution": STEPS[name]}))
    service = partial(conflict_resolve, resolution=STEPS[name])
    return step_action(name, dialog, service, said=RESOLVED, permission="resolve", icon=icon)


@admin.register(PointerConflict)
class PointerConflictAdmin(SearchedList, ReadOnly, ModelAdmin):
    """Conflicts, read-only; decisions about them go through the services."""

    list_display = ["item", "differs", "suggestion", "state_now", "found"]
    list_filter = [StateFilter, "type", ("source", RelatedDropdownFilter)]
    list_disable_select_all = True  # each decision is a transaction of its own
    search_help_text = _("Part of an item's id, or the id of a conflict or a pointer")
    actions = ["apply_suggested"]
    actions_detail = list(STEPS)
    change_form_template = "sync/conflict.html"
    fields: list[str] = []
    empty_text = _(
        "No conflict is waiting for a person. The ones that syncs resolved themselves are under Filters, state."
    )

    class Media:
        css = {"all": ["sync/sync.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[PointerConflict]:
        sources = KnowledgeSource.objects.visible_to(operator_access(request))
        return PointerConflict.objects.filter(source__in=sources).select_related("source", "run")

    def find_by_id(self, queryset: QuerySet[PointerConflict], uuid: UUID) -> QuerySet[PointerConflict]:
        """Return the conflict with an id, and those about a pointer with it."""
        return queryset.filter(uuid=uuid) | queryset.filter(pointers__contains=[uuid])

    def find_by_words(self, queryset: QuerySet[PointerConflict], term: str) -> QuerySet[PointerConflict]:
        """Return the conflicts about items with such a part of their id."""
        return queryset.filter(item_id__icontains=term)

    # Columns

    item = column(_("Item"), lambda one: two_lines(one.item_id, one.source.name), ordering="item_id")
    differs = badge_column("type", _("What differs"), TYPE_COLOURS)
    state_now = badge_column("state", _("State"), CONFLICT_COLOURS)

    @display(description=_("Suggested"))
    def suggestion(self, conflict: PointerConflict) -> SafeString:
        done = conflict.get_resolution_display().lower() if conflict.resolution else ""
        return two_lines(conflict.get_suggested_display(), gettext("done: %(what)s") % {"what": done} if done else "")

    @display(description=_("Found at"), ordering="id")
    def found(self, conflict: PointerConflict) -> SafeString | str:
        resolved = gettext("resolved by %(actor)s") % {"actor": conflict.resolved_by} if conflict.resolved_by else ""
        found = moment(conflict.detected_at)
        return two_lines(found, resolved) if resolved else found

    # The page of a conflict

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        conflict: PointerConflict | None = kwargs.get("obj")
        if conflict is not None:
            may_read = request.user.has_perm("sync.view_knowledgeitem")
            may_open = request.user.has_perm("semantic.view_memory")
            page = conflict_context(conflict, may_read=may_read, may_open=may_open)
            context |= {"page": page, "title": gettext("Pointer conflict"), "subtitle": None}
        return super().render_change_form(request, context, *args, **kwargs)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the buttons of what can be done about a conflict that waits."""
        actions = super().get_actions_detail(request, object_id)
        conflict = self.get_object(request, str(object_id)) if actions else None
        if conflict is None or conflict.state != SyncConflictState.OPEN:
            return []
        allowed = allowed_resolutions(ConflictType(conflict.type))
        return [one for one in actions if STEPS[one.method.original_function_name] in allowed]

    update_this = resolution_step("update_this", _("Update the memory?"), _("Update"), "edit")
    delete_this = resolution_step("delete_this", _("Delete the memory?"), _("Delete"), "delete")
    keep_this = resolution_step("keep_this", _("Leave the memory as it is?"), _("Leave as it is"), "bookmark")

    @action(description=_("Do what is suggested"), icon="check", permissions=["resolve"])
    def apply_suggested(self, request: HttpRequest, queryset: QuerySet[PointerConflict]) -> None:
        for suggested in Resolution:
            chosen = list(queryset.filter(suggested=suggested).order_by("id").values_list("uuid", flat=True))
            if chosen:
                for_each(
                    request,
                    chosen,
                    partial(conflict_resolve, resolution=suggested),
                    said=RESOLVED,
                )

    has_resolve_permission = required_permission("sync.change_pointerconflict")
