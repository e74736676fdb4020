"""Memories in the admin: to read, to find, to delete softly and to restore."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import truncatechars
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import FieldTextFilter, RangeDateTimeFilter
from unfold.decorators import action, display

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, system_access
from apps.semantic import services
from apps.semantic.domain.query import MAX_TOP_K, SearchQuery
from apps.semantic.models import Memory, MemoryRevision
from apps.semantic.searching import memory_search

STATUS_LABELS = {"Active": "success", "Superseded": "warning", "Merged": "info", "Deleted": "danger"}
SHOWN_CONTENT_CHARS = 120
SEARCH_TOP_K = min(200, MAX_TOP_K)


class RevisionInline(TabularInline):
    """The history of a memory."""

    model = MemoryRevision
    verbose_name_plural = "History"
    fields = readonly_fields = ["at", "action", "reason", "actor", "what_changed"]
    extra = 0
    can_delete = False
    tab = True

    @display(description="Before and after")
    def what_changed(self, revision: MemoryRevision) -> str:
        return "; ".join(f"{name}: {before} → {after}" for name, (before, after) in revision.changes.items()) or "-"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Memory)
class MemoryAdmin(ModelAdmin):
    """Read-only but for the actions, which go through the services like every other change."""

    list_display = [
        "excerpt",
        "state",
        "whose",
        "confidence_now",
        "policy",
        "importance",
        "source",
        "happened",
        "created_at",
    ]
    list_display_links = ["excerpt"]
    list_filter = [
        "status",
        "decay_policy",
        "is_global",
        ("user_id", FieldTextFilter),
        ("household_id", FieldTextFilter),
        ("persona_id", FieldTextFilter),
        ("session_id", FieldTextFilter),
        ("project", FieldTextFilter),
        ("source", FieldTextFilter),
        ("created_at", RangeDateTimeFilter),
    ]
    list_filter_submit = True
    list_fullwidth = True
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["content"]
    search_help_text = "By meaning and by words, as the API searches; or the id of a memory."
    ordering = ["-id"]
    actions = ["soft_delete", "restore"]
    inlines = [RevisionInline]
    fieldsets = [
        (None, {"fields": ["uuid", "content", ("state", "confidence_now", "base_confidence"), "context"]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id"), "session_id"]}),
        ("Tags", {"fields": [("agent", "personality"), ("project", "type"), ("is_global", "source"), "keywords"]}),
        (
            "Weight and time",
            {
                "fields": [
                    ("importance", "decay_policy"), ("occurred_at", "created_at"),
                    ("updated_at", "last_reinforced_at"), "superseded_by",
                ]
            },
        ),
        ("More", {"fields": ["metadata_json", "vectors", "content_hash"]}),
    ]  # fmt: skip

    @display(description="Memory", ordering="content")
    def excerpt(self, memory: Memory) -> str:
        return truncatechars(memory.content, SHOWN_CONTENT_CHARS)

    @display(description="Status", ordering="status", label=STATUS_LABELS)
    def state(self, memory: Memory) -> str:
        return memory.get_status_display()

    @display(description="Whose", ordering="user_id")
    def whose(self, memory: Memory) -> str:
        return " / ".join(filter(None, (memory.user_id, memory.household_id, memory.persona_id)))

    @display(description="Confidence")
    def confidence_now(self, memory: Memory) -> str:
        return f"{memory.confidence_at(utcnow(SYSTEM_CLOCK)):.2f}"

    @display(description="Decay", ordering="decay_policy")
    def policy(self, memory: Memory) -> str:
        return memory.get_decay_policy_display()

    @display(description="Happened", ordering="occurred_at")
    def happened(self, memory: Memory) -> Any:
        return memory.occurred_at

    @display(description="Metadata")
    def metadata_json(self, memory: Memory) -> SafeString | str:
        if not memory.metadata:
            return "-"
        return format_html(
            '<pre class="text-xs whitespace-pre-wrap">{}</pre>',
            json.dumps(memory.metadata, indent=2, ensure_ascii=False),
        )

    @display(description="Vectors")
    def vectors(self, memory: Memory) -> str:
        rows = memory.embeddings.select_related("space")
        return ", ".join(f"{row.space}{' (given)' if row.is_given else ''}" for row in rows) or "none"

    @action(description="Delete the selected memories (they can be restored)", icon="delete")
    def soft_delete(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        _for_each(request, queryset, services.memory_delete, "deleted")

    @action(description="Restore the selected memories", icon="restore_from_trash")
    def restore(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        _for_each(request, queryset, services.memory_restore, "restored")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        term = search_term.strip().replace("\x00", "")
        if not term:
            return queryset, False
        return queryset.filter(Q(pk__in=_found(request, term)) | _by_id(term)), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Memory | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Memory | None = None) -> bool:
        return False


def _access(request: HttpRequest) -> Access:
    return system_access(f"admin:{request.user.get_username()}")


def _found(request: HttpRequest, term: str) -> list[int]:
    try:
        result = memory_search(_access(request), SearchQuery(query=term, top_k=SEARCH_TOP_K))
    except MemoryHubError as error:
        messages.error(request, error.detail)
        return []
    best = max((found.hit.score for found in result.found), default=0.0)
    # All memories have a score; a list should end where the likeness does.
    return [found.memory.pk for found in result.found if found.hit.score >= best / 2]


def _by_id(term: str) -> Q:
    try:
        return Q(uuid=UUID(term))
    except ValueError:
        return Q(pk__in=[])


def _for_each(request: HttpRequest, queryset: QuerySet[Memory], service: Callable[..., Any], done: str) -> None:
    """Apply a service to each memory; those that refuse are named with their reason."""
    count = 0
    for uuid in queryset.values_list("uuid", flat=True):
        try:
            service(access=_access(request), uuid=uuid)
            count += 1
        except MemoryHubError as error:
            messages.warning(request, f"{uuid}: {error.detail}")
    if count:
        messages.success(request, f"{count} {'memory' if count == 1 else 'memories'} {done}.")
