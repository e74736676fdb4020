"""Recorded events in the admin, to read."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import truncatechars
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    excerpt,
    moment,
    moment_field,
    operator_access,
    plain_text,
    pretty_json,
    two_lines,
)
from apps.core.admin.lists import BoundedPaginator, comparable
from apps.episodic.admin.columns import ROWS_WORDS, segment_link, whose
from apps.episodic.admin.event_list import FILTERS, EventList, is_owned, matching
from apps.episodic.admin.search import search_page
from apps.episodic.models import TimelineEvent

SHOWN_CONTENT_CHARS = 240
LATE = timedelta(minutes=1)


@admin.register(TimelineEvent)
class TimelineEventAdmin(ReadOnly, ModelAdmin):
    """Events that are rows; the others are in the files of their segments."""

    list_display = ["event", "whose", "origin", "when", "where"]
    list_display_links = ["event"]
    list_filter = FILTERS
    list_filter_submit = True
    list_filter_sheet = True
    list_fullwidth = True
    list_per_page = 50
    list_before_template = "episodic/events_note.html"
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    search_fields = ["user_id"]  # shows the box; `get_search_results` decides
    search_help_text = "A whole user id or type, or an event's id"
    actions_list = ["query"]
    empty_text = "Events appear as applications record them."
    fieldsets = [
        (None, {"fields": ["words", "kind", "metadata_json"]}),
        ("Whose", {"fields": [("user_id", "household", "persona")]}),
        ("Time", {"fields": [("happened", "recorded"), "arrival"]}),
        ("More", {"fields": [("importance", "source"), "kept_in", "uuid", "known_by"]}),
    ]  # fmt: skip
    readonly_fields = [
        "words", "kind", "metadata_json", "household", "persona", "happened", "recorded", "arrival", "kept_in",
        "known_by",
    ]  # fmt: skip

    class Media:
        css = {"all": ["episodic/timeline.css"]}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[EventList]:
        return EventList

    def get_queryset(self, request: HttpRequest) -> QuerySet[TimelineEvent]:
        events = TimelineEvent.objects.visible_to(operator_access(request))
        return events.readable().select_related("segment")

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """Return the newest first, by the index that finds the rows: by time for an owner, else by arrival."""
        return ["-timestamp", "-pk"] if is_owned(request) else ["-pk"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[TimelineEvent], search_term: str
    ) -> tuple[QuerySet[TimelineEvent], bool]:
        term = comparable(search_term)
        return (matching(queryset, term) if term else queryset), False

    @action(description="Search the timeline", icon="search", permissions=["view"], url_path="query")
    def query(self, request: HttpRequest) -> HttpResponse:
        return search_page(self, request)

    # Columns

    @display(description="Event")
    def event(self, event: TimelineEvent) -> SafeString:
        words = excerpt(truncatechars(event.content, SHOWN_CONTENT_CHARS))
        return format_html('{}<span class="mh-kind mh-mono">{}</span>', words, event.event_type)

    @display(description="Whose")
    def whose(self, event: TimelineEvent) -> SafeString:
        return whose(event)

    @display(description="Source")
    def origin(self, event: TimelineEvent) -> SafeString:
        return two_lines(event.source, f"importance {event.importance:g}")

    @display(description="Happened at")
    def when(self, event: TimelineEvent) -> SafeString:
        late = ""
        if event.recorded_at - event.timestamp >= LATE:
            late = f"recorded {timesince(event.timestamp, event.recorded_at, depth=1)} later"
        return two_lines(moment(event.timestamp), late)

    @display(description="Segment")
    def where(self, event: TimelineEvent) -> SafeString | str:
        return segment_link(event.segment)

    # The page of an event

    @display(description="Type")
    def kind(self, event: TimelineEvent) -> SafeString:
        return format_html('<span class="mh-mono">{}</span>', event.event_type)

    @display(description="Content")
    def words(self, event: TimelineEvent) -> SafeString | str:
        return plain_text(event.content)

    @display(description="Metadata")
    def metadata_json(self, event: TimelineEvent) -> SafeString | str:
        return pretty_json(event.metadata) if event.metadata else NOTHING

    @display(description="Household")
    def household(self, event: TimelineEvent) -> str:
        return event.household_id or NOTHING

    @display(description="Persona")
    def persona(self, event: TimelineEvent) -> str:
        return event.persona_id or NOTHING

    happened = moment_field("timestamp", "Happened at")
    recorded = moment_field("recorded_at", "Recorded at")

    @display(description="Arrival number")
    def arrival(self, event: TimelineEvent) -> str:
        return f"{event.pk:,}; events of the same time are in this order"

    @display(description="Segment")
    def kept_in(self, event: TimelineEvent) -> SafeString:
        segment = event.segment
        return format_html("{} Rows {}.", segment_link(segment, with_state=True), ROWS_WORDS[segment.rows])

    @display(description="Identity")
    def known_by(self, event: TimelineEvent) -> SafeString:
        note = "Events of the same scope, type, time and content have the same identity and are recorded once."
        return format_html('<span class="mh-mono">{}</span><br><span class="mh-note">{}</span>', event.identity, note)
