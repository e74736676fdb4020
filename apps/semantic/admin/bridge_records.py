"""The records of the bridge in the admin: routed events, and the audit of memories whose events were pruned."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
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
from apps.core.admin.lists import SCOPE_FILTERS, IdentifierFilter, SearchedList
from apps.core.pages.sayings import say
from apps.semantic.bridge.ingest import ingestions_retry
from apps.semantic.models import BridgeAudit, Ingestion, IngestionStatus, Memory

STATUS_COLOURS = {"pending": "info", "linked": "success", "failed": "danger", "unlinking": "warning"}
ACTION_COLOURS = {"demoted": "info", "deleted": "warning", "kept": "success"}
WHY = {
    "policy": _("its policy says so"),
    "other_events": _("it has other events that still exist"),
    "was_there_before": _("it existed before the event"),
    "saved_by_others": _("another writer has saved it since"),
    "not_standing": _("it has already been superseded, rejected or merged"),
    "is_deleted": _("it has already been deleted"),
    "changed_since": _("the memory that it was merged into has changed since"),
}
SHOWN_EVENTS = 50


class PolicyFilter(IdentifierFilter):
    """Filter by the whole name of a policy."""

    title, parameter_name = _("policy"), "policy"


class BridgeRecordAdmin(SearchedList, ReadOnly, ModelAdmin):
    """A read-only list that may be long, and is searched by whole ids."""

    list_filter_sheet = True

    whose = scope_column()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.model.objects.visible_to(operator_access(request))
        return rows

    def find_by_id(self, queryset: QuerySet[Any], uuid: UUID) -> QuerySet[Any]:
        """Return the rows of the memory with an id."""
        return queryset.filter(memory=uuid)

    def find_by_words(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Return no row: these are found by whole ids."""
        return queryset.none()


@admin.register(Ingestion)
class IngestionAdmin(BridgeRecordAdmin):
    """The way of events to memories. Their contents are shown on the pages of events and memories only."""

    list_display = ["event", "state", "memory_link", "whose", "policy", "when"]
    list_filter = ["status", PolicyFilter, *SCOPE_FILTERS]
    list_select_related = ["memory"]
    search_fields = ["event_id"]  # shows the box; `find_by_id` decides
    search_help_text = _("The id of an event or of a memory")
    actions = ["retry"]
    empty_text = _("No event has been selected by a routing policy.")
    fieldsets = [
        (None, {"fields": ["status_label", "event_link", "memory_link", "receipt", "error_shown"]}),
        (_("Event"), {"fields": [("event_type", "importance"), ("happened", "recorded")]}),
        (_("Whose"), {"fields": [("user_id", "household_id", "persona_id")]}),
        (_("Policy"), {"fields": [("policy", "then"), "provenance"]}),
        (_("Progress"), {"fields": [("created", "ended"), ("tries", "next_try"), "pruned"]}),
    ]  # fmt: skip
    readonly_fields = [
        "status_label", "event_link", "memory_link", "receipt", "error_shown", "happened", "recorded", "then",
        "provenance", "created", "ended", "next_try", "pruned",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ingestion]:
        return super().get_queryset(request).defer("content")

    def find_by_id(self, queryset: QuerySet[Any], uuid: UUID) -> QuerySet[Any]:
        """Return the rows of an event or a memory. By number: each of the conditions has an index then."""
        memories = list(Memory.objects.filter(uuid=uuid).values_list("pk", flat=True))
        return queryset.filter(Q(event_id=uuid) | Q(memory__in=memories))

    # Columns

    event = column(_("Event"), lambda row: two_lines(row.event_type or NOTHING, str(row.event_id)))
    state = column(
        _("State"),
        lambda row: stacked(choice_badge(row, "status", STATUS_COLOURS), say(row.action) or row.error),
        ordering="status",
    )
    memory_link = link_column(
        "memory", _("Memory"), "admin:semantic_memory_change", text=lambda memory: str(memory.uuid)[:8]
    )
    when = column(
        _("Recorded at"),
        lambda row: two_lines(
            moment(row.recorded_at), gettext("ended %(at)s") % {"at": moment(row.ended_at)} if row.ended_at else ""
        ),
        ordering="id",
    )

    # The page of a routed event

    event_link = column(
        _("Event"),
        lambda row: monospace(list_link("admin:episodic_timelineevent_changelist", row.event_id, q=row.event_id)),
    )
    receipt = link_column(
        "conflict", _("Receipt"), "admin:semantic_conflict_change", text=lambda __: gettext("Conflict")
    )
    error_shown = text_column("error", _("Error"))
    happened = moment_column("timestamp", _("Happened at"))
    recorded = moment_column("recorded_at", _("Recorded at"))
    then = column(_("When pruned"), lambda row: row.get_on_prune_display())
    created = moment_column("created_at", _("Routed at"))
    ended = moment_column("ended_at", _("Ended at"))
    next_try = column(
        _("Next attempt at"), lambda row: moment(row.next_try_at) if row.status == IngestionStatus.PENDING else NOTHING
    )
    pruned = column(
        _("Pruned"),
        lambda row: (
            gettext("%(reason)s, by %(actor)s") % {"reason": row.get_pruned_reason_display(), "actor": row.pruned_by}
            if row.pruned_reason
            else NOTHING
        ),
    )

    @display(description=_("State"))
    def status_label(self, row: Ingestion) -> SafeString:
        result = gettext("result of the save: %(action)s") % {"action": say(row.action)} if row.action else ""
        return format_html("{} {}", choice_badge(row, "status", STATUS_COLOURS), result)

    @display(description=_("The memory"))
    def provenance(self, row: Ingestion) -> str:
        if row.memory is None:
            return NOTHING
        return gettext("came from events") if row.came_from_events else gettext("existed before")

    # Actions

    @action(description=_("Retry the selected failed events"), icon="replay", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Ingestion]) -> None:
        count = ingestions_retry(pks=list(queryset.values_list("pk", flat=True)))
        messages.success(request, ngettext("%d event will be retried.", "%d events will be retried.", count) % count)

    has_retry_permission = required_permission("semantic.change_ingestion")


@admin.register(BridgeAudit)
class BridgeAuditAdmin(BridgeRecordAdmin):
    """What was done to memories when their events were pruned. The records cannot be changed."""

    list_display = ["what", "memory_short", "whose", "events", "pruning", "when"]
    list_filter = [
        "action", "reason", PolicyFilter, *SCOPE_FILTERS, ("at", RangeDateTimeFilter),
    ]  # fmt: skip
    search_fields = ["memory"]  # shows the box; `find_by_id` decides
    search_help_text = _("The id of a memory")
    empty_text = _("No event of a memory was pruned.")
    fieldsets = [
        (None, {"fields": ["what", "memory_link", "difference"]}),
        (_("Pruned events"), {"fields": ["event_list", ("pruning", "when")]}),
        (_("Whose"), {"fields": [("user_id", "household_id", "persona_id")]}),
        (_("More"), {"fields": ["policy", "uuid"]}),
    ]  # fmt: skip
    readonly_fields = ["what", "memory_link", "difference", "event_list", "pruning", "when"]

    what = column(
        _("What was done"),
        lambda record: stacked(choice_badge(record, "action", ACTION_COLOURS), WHY.get(record.why, record.why)),
        ordering="action",
    )
    memory_short = column(_("Memory"), lambda record: str(record.memory)[:8] if record.memory else NOTHING)
    events = column(_("Events"), lambda record: f"{len(record.event_ids):,}")
    pruning = column(
        _("Pruned by"), lambda record: two_lines(record.get_reason_display(), record.actor), ordering="reason"
    )
    when = moment_column("at", _("At"), ordering="id")
    difference = column(
        _("Before and after"),
        lambda record: plain_text("\n".join(f"{name}: {old} → {new}" for name, (old, new) in record.changes.items())),
    )

    @display(description=_("Memory"))
    def memory_link(self, record: BridgeAudit) -> SafeString | str:
        memory = Memory.objects.filter(uuid=record.memory).first() if record.memory else None
        if memory is None:
            return str(record.memory or NOTHING)
        return link("admin:semantic_memory_change", memory.pk, str(memory.uuid))

    @display(description=_("Ids"))
    def event_list(self, record: BridgeAudit) -> SafeString:
        shown = format_html_join(
            "", '<div class="mh-mono">{}</div>', ((one,) for one in record.event_ids[:SHOWN_EVENTS])
        )
        more = len(record.event_ids) - SHOWN_EVENTS
        return format_html("{}{}", shown, gettext("and %(count)s more") % {"count": f"{more:,}"} if more > 0 else "")
