"""What the bridge did, in the admin: the course of each event, and the audit records of pruned ones. To look at."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import action, display

from apps.core.admin.kit import NOTHING, ReadOnly, badge, link, moment, operator_access, plain_text, two_lines
from apps.core.admin.lists import (
    BoundedPaginator,
    HouseholdFilter,
    IdentifierFilter,
    PersonaFilter,
    UserFilter,
    as_uuid,
    comparable,
)
from apps.semantic.bridge.ingest import ingestions_retry
from apps.semantic.models import BridgeAudit, Ingestion, IngestionStatus, Memory

STATUS_COLOURS = {
    "Waiting": "info", "Linked": "success", "Failed": "danger", "Dropped": None, "Being unlinked": "warning",
    "Event pruned": None,
}  # fmt: skip
ACTION_COLOURS = {"Demoted": "info", "Deleted": "warning", "Kept": "success", "Never made": None}
WHY = {
    "policy": "its policy says so",
    "other_events": "other events of it are still there",
    "was_there_before": "it was there before the event",
    "saved_by_others": "somebody else has saved it since",
    "not_standing": "it had lost, or was merged, already",
    "is_deleted": "it was deleted already",
    "changed_since": "what it was merged into has changed since",
}
SHOWN_EVENTS = 50


class PolicyFilter(IdentifierFilter):
    """The whole name of a policy."""

    title, parameter_name = "policy", "policy"


class _Records(ReadOnly, ModelAdmin):
    """Lists that may be long, found by whole identifiers."""

    list_filter_submit = True
    list_filter_sheet = True
    list_fullwidth = True
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    ordering = ["-id"]

    @display(description="Whose", ordering="user_id")
    def whose(self, row: Any) -> SafeString:
        return two_lines(row.user_id, " / ".join(filter(None, (row.household_id, row.persona_id))))


@admin.register(Ingestion)
class IngestionAdmin(_Records):
    """The course of events to memories. Never what they say: that is on the pages of events and memories."""

    list_display = ["event", "state", "memory_link", "whose", "policy", "when"]
    list_display_links = ["event"]
    list_filter = ["status", PolicyFilter, UserFilter, HouseholdFilter, PersonaFilter]
    list_select_related = ["memory"]
    search_fields = ["event_id"]  # shows the box; `get_search_results` decides
    search_help_text = "The id of an event or of a memory"
    actions = ["retry"]
    empty_text = "No event was wanted by a routing policy."
    fieldsets = [
        (None, {"fields": ["status_label", "event_link", "memory_link", "receipt", "error_shown"]}),
        ("Event", {"fields": [("event_type", "importance"), ("happened", "recorded")]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id")]}),
        ("Policy", {"fields": [("policy", "then"), "origin"]}),
        ("Course", {"fields": [("created", "ended"), ("tries", "next_try"), "pruned"]}),
    ]  # fmt: skip
    readonly_fields = [
        "status_label", "event_link", "memory_link", "receipt", "error_shown", "happened", "recorded", "then", "origin",
        "created", "ended", "next_try", "pruned",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ingestion]:
        return Ingestion.objects.visible_to(operator_access(request)).defer("content")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Ingestion], search_term: str
    ) -> tuple[QuerySet[Ingestion], bool]:
        if not (term := comparable(search_term)):
            return queryset, False
        uuid = as_uuid(term)
        if uuid is None:
            return queryset.none(), False
        of_memory = Memory.objects.filter(uuid=uuid).values("pk")
        return queryset.filter(event_id=uuid) | queryset.filter(memory__in=of_memory), False

    # Columns

    @display(description="Event")
    def event(self, row: Ingestion) -> SafeString:
        return two_lines(row.event_type or NOTHING, str(row.event_id))

    @display(description="State", ordering="status")
    def state(self, row: Ingestion) -> SafeString:
        label = badge(row.get_status_display(), STATUS_COLOURS[row.get_status_display()])
        return format_html('{}<span class="mh-sub">{}</span>', label, row.action or row.error)

    @display(description="Memory")
    def memory_link(self, row: Ingestion) -> SafeString | str:
        if row.memory is None:
            return NOTHING
        return link("admin:semantic_memory_change", row.memory.pk, str(row.memory.uuid)[:8])

    @display(description="Recorded at", ordering="id")
    def when(self, row: Ingestion) -> SafeString:
        ended = f"ended {moment(row.ended_at)}" if row.ended_at else ""
        return two_lines(moment(row.recorded_at), ended)

    # The page of an ingestion

    @display(description="State")
    def status_label(self, row: Ingestion) -> SafeString:
        label = badge(row.get_status_display(), STATUS_COLOURS[row.get_status_display()])
        return format_html("{} {}", label, f"saving it was: {row.action}" if row.action else "")

    @display(description="Event")
    def event_link(self, row: Ingestion) -> SafeString:
        url = f"{reverse('admin:episodic_timelineevent_changelist')}?q={row.event_id}"
        return format_html('<a class="mh-link mh-mono" href="{}">{}</a>', url, row.event_id)

    @display(description="Receipt")
    def receipt(self, row: Ingestion) -> SafeString | str:
        return link("admin:semantic_conflict_change", row.conflict, "Conflict") if row.conflict else NOTHING

    @display(description="Error")
    def error_shown(self, row: Ingestion) -> SafeString | str:
        return plain_text(row.error)

    @display(description="Happened at")
    def happened(self, row: Ingestion) -> str:
        return moment(row.timestamp)

    @display(description="Recorded at")
    def recorded(self, row: Ingestion) -> str:
        return moment(row.recorded_at)

    @display(description="When pruned")
    def then(self, row: Ingestion) -> str:
        return row.get_on_prune_display()

    @display(description="The memory")
    def origin(self, row: Ingestion) -> str:
        if row.memory is None:
            return NOTHING
        return "came from events" if row.came_from_events else "was there before"

    @display(description="Judged at")
    def created(self, row: Ingestion) -> str:
        return moment(row.created_at)

    @display(description="Ended at")
    def ended(self, row: Ingestion) -> str:
        return moment(row.ended_at)

    @display(description="Next try at")
    def next_try(self, row: Ingestion) -> str:
        return moment(row.next_try_at) if row.status == IngestionStatus.PENDING else NOTHING

    @display(description="Pruned")
    def pruned(self, row: Ingestion) -> str:
        return f"{row.get_pruned_reason_display()}, by {row.pruned_by}" if row.pruned_reason else NOTHING

    # Actions

    @action(description="Try the selected ones that failed again", icon="replay", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Ingestion]) -> None:
        count = ingestions_retry(pks=list(queryset.values_list("pk", flat=True)))
        messages.success(request, ngettext("%d event is tried again.", "%d events are tried again.", count) % count)

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("semantic.change_ingestion")


@admin.register(BridgeAudit)
class BridgeAuditAdmin(_Records):
    """What became of memories when their events were pruned. Nobody changes it."""

    list_display = ["what", "memory_short", "whose", "events", "pruning", "when"]
    list_display_links = ["what"]
    list_filter = [
        "action", "reason", PolicyFilter, UserFilter, HouseholdFilter, PersonaFilter, ("at", RangeDateTimeFilter),
    ]  # fmt: skip
    search_fields = ["memory"]  # shows the box; `get_search_results` decides
    search_help_text = "The id of a memory"
    empty_text = "No event of a memory was pruned."
    fieldsets = [
        (None, {"fields": ["action_label", "memory_link", "difference"]}),
        ("Pruned events", {"fields": ["event_list", ("pruning", "when")]}),
        ("Whose", {"fields": [("user_id", "household_id", "persona_id")]}),
        ("More", {"fields": ["policy", "uuid"]}),
    ]  # fmt: skip
    readonly_fields = ["action_label", "memory_link", "difference", "event_list", "pruning", "when"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[BridgeAudit]:
        return BridgeAudit.objects.visible_to(operator_access(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[BridgeAudit], search_term: str
    ) -> tuple[QuerySet[BridgeAudit], bool]:
        if not (term := comparable(search_term)):
            return queryset, False
        uuid = as_uuid(term)
        return (queryset.none() if uuid is None else queryset.filter(memory=uuid)), False

    @display(description="What was done", ordering="action")
    def what(self, record: BridgeAudit) -> SafeString:
        label = badge(record.get_action_display(), ACTION_COLOURS[record.get_action_display()])
        return format_html('{}<span class="mh-sub">{}</span>', label, WHY.get(record.why, record.why))

    @display(description="What was done")
    def action_label(self, record: BridgeAudit) -> SafeString:
        return self.what(record)

    @display(description="Memory")
    def memory_short(self, record: BridgeAudit) -> str:
        return str(record.memory)[:8] if record.memory else NOTHING

    @display(description="Memory")
    def memory_link(self, record: BridgeAudit) -> SafeString | str:
        memory = Memory.objects.filter(uuid=record.memory).first() if record.memory else None
        if memory is None:
            return str(record.memory or NOTHING)
        return link("admin:semantic_memory_change", memory.pk, str(memory.uuid))

    @display(description="Before and after")
    def difference(self, record: BridgeAudit) -> SafeString | str:
        return plain_text("\n".join(f"{name}: {old} → {new}" for name, (old, new) in record.changes.items()))

    @display(description="Events")
    def events(self, record: BridgeAudit) -> str:
        return f"{len(record.event_ids):,}"

    @display(description="Ids")
    def event_list(self, record: BridgeAudit) -> SafeString:
        shown = format_html_join(
            "", '<div class="mh-mono">{}</div>', ((one,) for one in record.event_ids[:SHOWN_EVENTS])
        )
        more = len(record.event_ids) - SHOWN_EVENTS
        return format_html("{}{}", shown, f"and {more:,} more" if more > 0 else "")

    @display(description="Pruned by", ordering="reason")
    def pruning(self, record: BridgeAudit) -> SafeString:
        return two_lines(record.get_reason_display(), record.actor)

    @display(description="At", ordering="id")
    def when(self, record: BridgeAudit) -> str:
        return moment(record.at)
