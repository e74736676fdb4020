"""The records of the bridge in the admin: routed events, and the audit of memories whose events were pruned."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    choice_badge,
    column,
    link,
    link_column,
    list_link,
    moment,
    moment_column,
    monospace,
    operator_access,
    plain_text,
    required_permission,
    scope_column,
    stacked,
    text_column,
    two_lines,
)
from apps.core.admin.lists import (
    HouseholdFilter,
    IdentifierFilter,
    PersonaFilter,
    SearchedList,
    UserFilter,
)
from apps.semantic.bridge.ingest import ingestions_retry
from apps.semantic.models import BridgeAudit, Ingestion, IngestionStatus, Memory

STATUS_COLOURS = {"pending": "info", "linked": "success", "failed": "danger", "unlinking": "warning"}
ACTION_COLOURS = {"demoted": "info", "deleted": "warning", "kept": "success"}
WHY = {
    "policy": "its policy says so",
    "other_events": "it has other events that still exist",
    "was_there_before": "it existed before the event",
    "saved_by_others": "another writer has saved it since",
    "not_standing": "it was superseded, rejected or merged already",
    "is_deleted": "it was deleted already",
    "changed_since": "the memory that it was merged into has changed since",
}
SHOWN_EVENTS = 50


class PolicyFilter(IdentifierFilter):
    """Filter by the whole name of a policy."""

    title, parameter_name = "policy", "policy"


class BridgeRecordAdmin(SearchedList, ReadOnly, ModelAdmin):
    """A read-only list that may be long, and is searched by whole ids."""

    list_filter_sheet = True

    whose = scope_column()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.model.objects.visible_to(operator_access(request))
        return rows

    def find_by_id(self, queryset: QuerySet[Any], uuid: UUID) -> QuerySet[Any]:
        """Return the rows that an id names."""
        return queryset.filter(self.match_id(uuid))

    def find_by_words(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Return no row: these are found by whole ids."""
        return queryset.none()

    def match_id(self, uuid: UUID) -> Q:
        """Return the condition for rows with this id."""
        return Q(memory=uuid)


@admin.register(Ingestion)
class IngestionAdmin(BridgeRecordAdmin):
    """The way of events to memories. Their contents are shown on the pages of events and memories only."""

    list_display = ["event", "state", "memory_link", "whose", "policy", "when"]
    list_filter = ["status", PolicyFilter, UserFilter, HouseholdFilter, PersonaFilter]
    list_select_related = ["memory"]
    search_fields = ["event_id"]  # shows the box; `match_id` decides
    search_help_text = "The id of an event or of a memory"
    actions = ["retry"]
    empty_text = "No event has been selected by a routing policy."
    fieldsets = [
        (None, {"fields": ["status_label", "event_link", "memory_link", "receipt", "error_shown"]}),
        ("Event", {"fields": [("event_type", "importance"), ("happened", "recorded")]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id")]}),
        ("Policy", {"fields": [("policy", "then"), "origin"]}),
        ("Progress", {"fields": [("created", "ended"), ("tries", "next_try"), "pruned"]}),
    ]  # fmt: skip
    readonly_fields = [
        "status_label", "event_link", "memory_link", "receipt", "error_shown", "happened", "recorded", "then", "origin",
        "created", "ended", "next_try", "pruned",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ingestion]:
        return super().get_queryset(request).defer("content")

    def match_id(self, uuid: UUID) -> Q:
        # By number: each of the conditions has an index then.
        return Q(event_id=uuid) | Q(memory__in=list(Memory.objects.filter(uuid=uuid).values_list("pk", flat=True)))

    # Columns

    event = column("Event", lambda row: two_lines(row.event_type or NOTHING, str(row.event_id)))
    state = column(
        "State",
        lambda row: stacked(choice_badge(row, "status", STATUS_COLOURS), row.action or row.error),
        ordering="status",
    )
    memory_link = link_column(
        "memory", "Memory", "admin:semantic_memory_change", text=lambda memory: str(memory.uuid)[:8]
    )
    when = column(
        "Recorded at",
        lambda row: two_lines(moment(row.recorded_at), f"ended {moment(row.ended_at)}" if row.ended_at else ""),
        ordering="id",
    )

    # The page of a routed event

    event_link = column(
        "Event",
        lambda row: monospace(list_link("admin:episodic_timelineevent_changelist", row.event_id, q=row.event_id)),
    )
    receipt = link_column("conflict", "Receipt", "admin:semantic_conflict_change", text=lambda _: "Conflict")
    error_shown = text_column("error", "Error")
    happened = moment_column("timestamp", "Happened at")
    recorded = moment_column("recorded_at", "Recorded at")
    then = column("When pruned", lambda row: row.get_on_prune_display())
    created = moment_column("created_at", "Routed at")
    ended = moment_column("ended_at", "Ended at")
    next_try = column(
        "Next try at", lambda row: moment(row.next_try_at) if row.status == IngestionStatus.PENDING else NOTHING
    )
    pruned = column(
        "Pruned",
        lambda row: f"{row.get_pruned_reason_display()}, by {row.pruned_by}" if row.pruned_reason else NOTHING,
    )

    @display(description="State")
    def status_label(self, row: Ingestion) -> SafeString:
        result = f"result of the save: {row.action}" if row.action else ""
        return format_html("{} {}", choice_badge(row, "status", STATUS_COLOURS), result)

    @display(description="The memory")
    def origin(self, row: Ingestion) -> str:
        if row.memory is None:
            return NOTHING
        return "came from events" if row.came_from_events else "existed before"

    # Actions

    @action(description="Retry the selected failed events", icon="replay", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Ingestion]) -> None:
        count = ingestions_retry(pks=list(queryset.values_list("pk", flat=True)))
        messages.success(request, ngettext("%d event is retried.", "%d events are retried.", count) % count)

    has_retry_permission = required_permission("semantic.change_ingestion")


@admin.register(BridgeAudit)
class BridgeAuditAdmin(BridgeRecordAdmin):
    """What was done to memories when their events were pruned. The records cannot be changed."""

    list_display = ["what", "memory_short", "whose", "events", "pruning", "when"]
    list_filter = [
        "action", "reason", PolicyFilter, UserFilter, HouseholdFilter, PersonaFilter, ("at", RangeDateTimeFilter),
    ]  # fmt: skip
    search_fields = ["memory"]  # shows the box; `match_id` decides
    search_help_text = "The id of a memory"
    empty_text = "No event of a memory was pruned."
    fieldsets = [
        (None, {"fields": ["what", "memory_link", "difference"]}),
        ("Pruned events", {"fields": ["event_list", ("pruning", "when")]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id")]}),
        ("More", {"fields": ["policy", "uuid"]}),
    ]  # fmt: skip
    readonly_fields = ["what", "memory_link", "difference", "event_list", "pruning", "when"]

    what = column(
        "What was done",
        lambda record: stacked(choice_badge(record, "action", ACTION_COLOURS), WHY.get(record.why, record.why)),
        ordering="action",
    )
    memory_short = column("Memory", lambda record: str(record.memory)[:8] if record.memory else NOTHING)
    events = column("Events", lambda record: f"{len(record.event_ids):,}")
    pruning = column(
        "Pruned by", lambda record: two_lines(record.get_reason_display(), record.actor), ordering="reason"
    )
    when = moment_column("at", "At", ordering="id")
    difference = column(
        "Before and after",
        lambda record: plain_text("\n".join(f"{name}: {old} → {new}" for name, (old, new) in record.changes.items())),
    )

    @display(description="Memory")
    def memory_link(self, record: BridgeAudit) -> SafeString | str:
        memory = Memory.objects.filter(uuid=record.memory).first() if record.memory else None
        if memory is None:
            return str(record.memory or NOTHING)
        return link("admin:semantic_memory_change", memory.pk, str(memory.uuid))

    @display(description="Ids")
    def event_list(self, record: BridgeAudit) -> SafeString:
        shown = format_html_join(
            "", '<div class="mh-mono">{}</div>', ((one,) for one in record.event_ids[:SHOWN_EVENTS])
        )
        more = len(record.event_ids) - SHOWN_EVENTS
        return format_html("{}{}", shown, f"and {more:,} more" if more > 0 else "")
