"""Memories in the admin: to read, to find, to delete softly and to restore."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import FieldTextFilter, RangeDateTimeFilter
from unfold.dataclasses import ActionDialog
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    after_dialog,
    badge,
    excerpt,
    for_each,
    found_or_404,
    moment,
    operator_access,
    plain_text,
    pretty_json,
    two_lines,
)
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.semantic import services
from apps.semantic.admin.history import RevisionInline, may
from apps.semantic.admin.search import RELEVANCE, searched
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.models import Conflict, Memory, MemoryStatus, half_lives

STATUS_COLOURS = {
    "Active": "success", "Superseded": "warning", "Merged": "info", "Rejected": "danger", "Deleted": "danger",
}  # fmt: skip
SHOWN_CONTENT_CHARS = 240
DELETE_DIALOG = ActionDialog(
    title="Delete this memory?",
    description="No search finds it any more. It is kept, with its history, and can be restored.",
    form_class=None,
    form_submit_text="Delete",
)
RESTORE_DIALOG = ActionDialog(
    title="Restore this memory?",
    description="Searches find it again, as before it was deleted.",
    form_class=None,
    form_submit_text="Restore",
)
NOUN = ("memory", "memories")


@admin.register(Memory)
class MemoryAdmin(ReadOnly, ModelAdmin):
    """Read-only but for the actions, which go through the services like every other change."""

    list_display = ["excerpt", "state", "whose", "confidence_now", "origin", "when"]
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
    list_disable_select_all = True  # each memory is a transaction of its own; a page at a time stays quick
    list_per_page = 50
    search_fields = ["content"]
    search_help_text = "By meaning and words, or an id"
    actions = ["soft_delete", "restore"]
    actions_detail = ["soft_delete_this", "restore_this"]
    inlines = [RevisionInline]
    fieldsets = [
        (None, {"fields": ["words", "state_label", "confidence_explained", "circumstances"]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id"), "session_id"]}),
        ("Time", {"fields": [("happened", "saved"), ("changed", "reinforced")]}),
        ("Tags", {"fields": [("agent", "personality"), ("project", "type"), ("source", "is_global"), "words_to_find"]}),
        ("More", {"fields": ["uuid", "importance", "superseded", "decisions", "metadata_json", "vectors", "hash"]}),
    ]  # fmt: skip
    readonly_fields = [
        "words", "state_label", "confidence_explained", "circumstances", "happened", "saved", "changed", "reinforced",
        "words_to_find", "superseded", "decisions", "metadata_json", "vectors", "hash",
    ]  # fmt: skip

    def get_list_display(self, request: HttpRequest) -> list[str]:
        first, *others = self.list_display
        return [first, RELEVANCE, *others] if _searching(request) else self.list_display

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return [f"-{RELEVANCE}", "-id"] if _searching(request) else ["-id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        memories = Memory.objects.visible_to(operator_access(request)).defer("lexemes").select_related("superseded_by")
        # The search gives it its values; the order of the list names it before there are any.
        return memories.annotate(**{RELEVANCE: Value(0.0)}) if _searching(request) else memories

    # Columns

    @display(description="Memory")
    def excerpt(self, memory: Memory) -> SafeString:
        return excerpt(truncatechars(memory.content, SHOWN_CONTENT_CHARS))

    @display(description="Status", ordering="status", label=STATUS_COLOURS)
    def state(self, memory: Memory) -> str:
        return memory.get_status_display()

    @display(description="Whose", ordering="user_id")
    def whose(self, memory: Memory) -> SafeString:
        return two_lines(memory.user_id, " / ".join(filter(None, (memory.household_id, memory.persona_id))))

    @display(description="Confidence")
    def confidence_now(self, memory: Memory) -> SafeString:
        now = memory.confidence_at(utcnow(SYSTEM_CLOCK))
        return two_lines(f"{now:.2f}", memory.get_decay_policy_display())

    @display(description="Source", ordering="source")
    def origin(self, memory: Memory) -> SafeString:
        return two_lines(memory.source, f"importance {memory.importance:g}")

    @display(description="Saved at", ordering="id")
    def when(self, memory: Memory) -> SafeString:
        happened = f"happened {moment(memory.occurred_at)}" if memory.occurred_at else ""
        return two_lines(moment(memory.created_at), happened)

    @display(description="Relevance", ordering=RELEVANCE)
    def relevance(self, memory: Memory) -> str:
        score = getattr(memory, RELEVANCE, 0.0)
        return f"{score:.2f}" if score else NOTHING

    # The page of a memory

    @display(description="Happened at")
    def happened(self, memory: Memory) -> str:
        return moment(memory.occurred_at)

    @display(description="Saved at")
    def saved(self, memory: Memory) -> str:
        return moment(memory.created_at)

    @display(description="Content")
    def words(self, memory: Memory) -> SafeString | str:
        return plain_text(memory.content)

    @display(description="Status")
    def state_label(self, memory: Memory) -> str:
        label = badge(memory.get_status_display(), STATUS_COLOURS[memory.get_status_display()])
        since = f" since {moment(memory.status_changed_at)}" if memory.status_changed_at else ""
        return format_html("{}{}", label, since)

    @display(description="Confidence")
    def confidence_explained(self, memory: Memory) -> str:
        now = memory.confidence_at(utcnow(SYSTEM_CLOCK))
        half_life = half_lives()[DecayPolicy(memory.decay_policy)]
        how = f"halves every {half_life / timedelta(days=1):g} days" if half_life else "does not decay"
        return f"{now:.2f} now; {memory.base_confidence:.2f} claimed; {memory.decay_policy}: {how}"

    @display(description="Context")
    def circumstances(self, memory: Memory) -> SafeString | str:
        return plain_text(memory.context)

    @display(description="Changed at")
    def changed(self, memory: Memory) -> str:
        return moment(memory.updated_at)

    @display(description="Reinforced at")
    def reinforced(self, memory: Memory) -> str:
        return moment(memory.last_reinforced_at)

    @display(description="Keywords")
    def words_to_find(self, memory: Memory) -> str:
        return ", ".join(memory.keywords) or NOTHING

    @display(description="Superseded by")
    def superseded(self, memory: Memory) -> SafeString | str:
        if memory.superseded_by is None:
            return NOTHING
        url = reverse("admin:semantic_memory_change", args=[memory.superseded_by.pk])
        return format_html('<a class="mh-link" href="{}">{}</a>', url, memory.superseded_by)

    @display(description="Decisions about it")
    def decisions(self, memory: Memory) -> SafeString | str:
        receipts = Conflict.objects.filter(Q(candidate=memory) | Q(existing=memory) | Q(result=memory)).count()
        url = f"{reverse('admin:semantic_conflict_changelist')}?state=all&q={memory.uuid}"
        return format_html('<a class="mh-link" href="{}">{}</a>', url, receipts) if receipts else NOTHING

    @display(description="Metadata")
    def metadata_json(self, memory: Memory) -> SafeString | str:
        return pretty_json(memory.metadata) if memory.metadata else NOTHING

    @display(description="Vectors")
    def vectors(self, memory: Memory) -> str:
        rows = memory.embeddings.select_related("space").defer("vector")
        lines = [
            f"{row.space}{', in use' if row.space.is_active else ''}{', given by the writer' if row.is_given else ''}"
            for row in rows
        ]
        return plain_text("\n".join(lines) or "none")

    @display(description="Content hash")
    def hash(self, memory: Memory) -> SafeString:
        return format_html('<span class="mh-mono">{}</span>', memory.content_hash)

    # Actions

    @action(description="Delete (can be restored)", icon="delete", permissions=["soft_delete"])
    def soft_delete(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        for_each(request, queryset.values_list("uuid", flat=True), services.memory_delete, noun=NOUN, done="deleted")

    @action(description="Restore", icon="restore_from_trash", permissions=["restore"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        for_each(request, queryset.values_list("uuid", flat=True), services.memory_restore, noun=NOUN, done="restored")

    @action(description="Delete", icon="delete", permissions=["view", "soft_delete"], dialog=DELETE_DIALOG)
    def soft_delete_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._on_page(request, object_id, services.memory_delete, "deleted")

    @action(description="Restore", icon="restore_from_trash", permissions=["view", "restore"], dialog=RESTORE_DIALOG)
    def restore_this(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        return self._on_page(request, object_id, services.memory_restore, "restored")

    def _on_page(self, request: HttpRequest, object_id: str, service: Callable[..., Any], done: str) -> HttpResponse:
        memory = found_or_404(self.get_object(request, object_id))
        for_each(request, [memory.uuid], service, noun=NOUN, done=done)
        return after_dialog(request, reverse("admin:semantic_memory_change", args=[memory.pk]))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Delete what is there, restore what is deleted."""
        memory = self.get_object(request, str(object_id))
        deleted = memory is not None and memory.status == MemoryStatus.DELETED
        fitting = "restore_this" if deleted else "soft_delete_this"
        actions = super().get_actions_detail(request, object_id)
        return [action for action in actions if action.path == fitting]

    def has_soft_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "delete")

    def has_restore_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, "change")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        term = search_term.strip().replace("\x00", "")
        return (searched(request, operator_access(request), queryset, term) if term else queryset), False


def _searching(request: HttpRequest) -> bool:
    return bool(request.GET.get("q", "").strip())
