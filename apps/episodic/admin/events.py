"""Recorded events in the admin, to read: a list whose pages cost the same with millions of rows.

Rows have indexes by user, household, persona, segment and arrival. A list that is narrowed to one of the first four
reads all of its rows; any other list shows the latest arrivals only, and says so.
"""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import truncatechars
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RangeDateTimeFilter, RangeNumericFilter, TextFilter
from unfold.decorators import action, display
from unfold.views import ChangeList

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    column,
    excerpt,
    json_column,
    moment,
    moment_column,
    operator_access,
    text_column,
    two_lines,
)
from apps.core.admin.lists import SCOPE_FILTERS, IdentifierFilter, LongList, as_uuid, comparable
from apps.core.pages.origins import WORDS as ORIGINS
from apps.core.pages.origins import origin_explained
from apps.core.pages.times import roughly
from apps.episodic.admin.columns import ROWS_WORDS, TimelineTab, mono, segment_link, whose
from apps.episodic.admin.search import search_page
from apps.episodic.admin.timeline_page import event_page, timeline_new, timeline_page
from apps.episodic.models import TimelineEvent

SHOWN_CONTENT_CHARS = 240
LATE = timedelta(minutes=1)
LATEST = 200_000
SEGMENT = "segment"
PAGES = "episodic_timelineevent"
OWNERS = ("user_id", "household_id", "persona_id")
Events = QuerySet[TimelineEvent]


class TypeFilter(IdentifierFilter):
    title, parameter_name = _("type"), "event_type"


class SourceFilter(IdentifierFilter):
    title, parameter_name = _("source"), "source"


class SegmentFilter(TextFilter):
    """Filter by the whole id of a segment, as the pages of segments link to it."""

    title, parameter_name = _("segment (complete id)"), SEGMENT

    def queryset(self, request: HttpRequest, queryset: Events) -> Events:
        value = comparable(self.value())
        if not value:
            return queryset
        uuid = as_uuid(value)
        return queryset.filter(segment__uuid=uuid) if uuid else queryset.none()


FILTERS = [
    *SCOPE_FILTERS,
    TypeFilter,
    SourceFilter,
    SegmentFilter,
    "origin",
    ("timestamp", RangeDateTimeFilter),
    ("importance", RangeNumericFilter),
]


class EventList(ChangeList):
    """The rows of one owner or segment, or the latest ones of all."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Events:
        found: Events = super().get_queryset(request, exclude_parameters)
        self.is_narrowed = is_narrowed(request)
        return found if self.is_narrowed else found.filter(pk__gt=latest_from())


def is_owned(request: HttpRequest) -> bool:
    """Return whether the list is narrowed to one user, household or persona."""
    return any(comparable(request.GET.get(name)) for name in OWNERS)


def is_narrowed(request: HttpRequest) -> bool:
    """Return whether an index finds all rows of the list."""
    return is_owned(request) or bool(comparable(request.GET.get(SEGMENT))) or bool(comparable(request.GET.get("q")))


def latest_from() -> int:
    """Return the arrival number after which the latest rows begin."""
    newest = TimelineEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    return (newest or 0) - LATEST


def matching(events: Events, term: str) -> Events:
    """Return all rows of the user with this id; of the latest rows, also those of this type or with this id."""
    among_latest = Q(event_type=term)
    if uuid := as_uuid(term):
        among_latest |= Q(uuid=uuid) | Q(identity=uuid)
    return events.filter(Q(user_id=term) | Q(pk__gt=latest_from()) & among_latest)


@admin.register(TimelineEvent)
class TimelineEventAdmin(TimelineTab, LongList, ReadOnly, ModelAdmin):
    """Events that are rows; the others are in the files of their segments."""

    list_display = ["event", "whose", "said_by", "when", "where"]
    list_display_links = ["event"]
    list_filter = FILTERS
    list_filter_sheet = True
    list_before_template = "episodic/events_note.html"
    search_fields = ["user_id"]  # shows the box; `get_search_results` decides
    search_help_text = _("A complete user id or type, or an event's id")
    actions_list = ["query"]
    # The pages of the timeline, wherever events are kept: address, name, view.
    timeline_pages = (
        ("timeline/", "timeline", timeline_page),
        ("timeline/new/", "new", timeline_new),
        ("event/<uuid:uuid>/", "event", event_page),
    )
    empty_text = _("Events appear as applications record them.")
    fieldsets = [
        (None, {"fields": ["words", "kind", "metadata_json"]}),
        (_("Whose"), {"fields": [("user_id", "household", "persona")]}),
        (_("Time"), {"fields": [("happened", "recorded"), "arrival"]}),
        (_("More"), {"fields": [("importance", "source"), "said", "kept_in", "uuid", "known_by"]}),
    ]  # fmt: skip
    readonly_fields = [
        "words", "kind", "metadata_json", "household", "persona", "happened", "recorded", "arrival", "kept_in",
        "known_by", "said",
    ]  # fmt: skip

    def get_urls(self) -> list[Any]:
        own = [path(where, self._guarded(page), name=f"{PAGES}_{name}") for where, name, page in self.timeline_pages]
        return [*own, *super().get_urls()]

    def _guarded(self, page: Any) -> Any:
        """Return a page for those who may view events."""

        def view(request: HttpRequest, **arguments: Any) -> HttpResponse:
            if not self.has_view_permission(request):
                raise PermissionDenied
            return page(self, request, **arguments)

        return self.admin_site.admin_view(view)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[EventList]:
        return EventList

    def get_queryset(self, request: HttpRequest) -> Events:
        events = TimelineEvent.objects.visible_to(operator_access(request))
        return events.readable().select_related("segment")

    def get_ordering(self, request: HttpRequest) -> list[str]:
        """Return the newest first, by the index that finds the rows: by time for an owner, else by arrival."""
        return ["-timestamp", "-pk"] if is_owned(request) else ["-pk"]

    def get_search_results(self, request: HttpRequest, queryset: Events, search_term: str) -> tuple[Events, bool]:
        term = comparable(search_term)
        return (matching(queryset, term) if term else queryset), False

    @action(description=_("Search the timeline"), icon="search", permissions=["view"], url_path="query")
    def query(self, request: HttpRequest) -> HttpResponse:
        return search_page(self, request)

    # Columns

    @display(description=_("Event"))
    def event(self, event: TimelineEvent) -> SafeString:
        words = excerpt(truncatechars(event.content, SHOWN_CONTENT_CHARS))
        return format_html('{}<span class="mh-kind mh-mono">{}</span>', words, event.event_type)

    whose = column(_("Whose"), whose)
    said_by = column(
        _("Source"),
        lambda event: two_lines(
            str(ORIGINS[event.origin]),
            gettext("%(source)s, importance %(share)s") % {"source": event.source, "share": f"{event.importance:g}"},
        ),
    )

    @display(description=_("Happened at"))
    def when(self, event: TimelineEvent) -> SafeString:
        late = ""
        if event.recorded_at - event.timestamp >= LATE:
            late = gettext("recorded %(time)s later") % {"time": roughly(event.recorded_at - event.timestamp)}
        return two_lines(moment(event.timestamp), late)

    where = column(_("Segment"), lambda event: segment_link(event.segment))

    # The page of an event

    kind = column(_("Type"), lambda event: mono(event.event_type))
    words = text_column("content", _("Content"))
    said = column(_("Comes from"), lambda event: origin_explained(event.origin))
    metadata_json = json_column("metadata", _("Metadata"))
    household = column(_("Household"), lambda event: str(event.household_id or NOTHING))
    persona = column(_("Persona"), lambda event: str(event.persona_id or NOTHING))
    happened = moment_column("timestamp", _("Happened at"))
    recorded = moment_column("recorded_at", _("Recorded at"))
    arrival = column(
        _("Arrival number"),
        lambda event: gettext("%(number)s; events of the same time are in this order") % {"number": f"{event.pk:,}"},
    )

    @display(description=_("Segment"))
    def kept_in(self, event: TimelineEvent) -> SafeString:
        segment = event.segment
        shown = segment_link(segment, with_state=True)
        return format_html(gettext("{segment} Rows {state}."), segment=shown, state=ROWS_WORDS[segment.rows])

    @display(description=_("Identity"))
    def known_by(self, event: TimelineEvent) -> SafeString:
        note = gettext("Events of the same scope, type, time and content have the same identity and are recorded once.")
        return format_html('<span class="mh-mono">{}</span><br><span class="mh-note">{}</span>', event.identity, note)
