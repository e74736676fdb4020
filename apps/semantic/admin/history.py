"""The history of a memory, as a tab of its page in the admin."""

from typing import Any

from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.html import format_html
from unfold.admin import TabularInline
from unfold.decorators import display

from apps.core.admin.kit import NOTHING, ReadOnly, badge, moment, plain_text
from apps.semantic.models import MemoryRevision

ACTION_COLOURS = {"Created": "info", "Reinforced": "success", "Restored": "success", "Deleted": "danger"}
SHOWN_CHANGE_CHARS = 200


class RevisionInline(ReadOnly, TabularInline):
    """The history of a memory, the last step first. Who may see a memory may see it."""

    model = MemoryRevision
    verbose_name_plural = "History"
    fields = readonly_fields = ["when", "what", "actor", "reason", "what_changed"]
    ordering = ["-id"]
    extra = 0
    per_page = 20
    hide_title = True
    tab = True

    @display(description="At")
    def when(self, revision: MemoryRevision) -> str:
        return moment(revision.at)

    @display(description="What happened")
    def what(self, revision: MemoryRevision) -> str:
        label = revision.get_action_display()
        shown = badge(label, ACTION_COLOURS.get(label, "warning"))
        if revision.conflict is None:
            return shown
        url = reverse("admin:semantic_conflict_change", args=[revision.conflict])
        return format_html('{} <a class="mh-link" href="{}">Receipt</a>', shown, url)

    @display(description="Before and after")
    def what_changed(self, revision: MemoryRevision) -> str:
        changes = [f"{name}: {_short(old)} → {_short(new)}" for name, (old, new) in revision.changes.items()]
        return plain_text("\n".join(changes))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "view")


def may(request: HttpRequest, verb: str) -> bool:
    """Whether the person may view, change or delete memories."""
    return request.user.has_perm(f"semantic.{verb}_memory")


def _short(value: Any) -> str:
    return truncatechars(NOTHING if value is None else str(value), SHOWN_CHANGE_CHARS)
