"""Segments in the admin: where events are kept, the state of their files, and actions on them."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter, RangeDateTimeFilter
from unfold.decorators import action, display
from unfold.views import ChangeList

from apps.core.admin.kit import (
    NOTHING,
    ReadOnly,
    badge_column,
    column,
    filesize,
    found_or_404,
    moment,
    moment_column,
    preformatted,
    required_permission,
    two_lines,
)
from apps.core.admin.lists import SearchedList
from apps.core.pages.sayings import say
from apps.episodic.admin.columns import (
    ROWS_WORDS,
    STATE_COLOURS,
    STATE_WORDS,
    TimelineTab,
    event_row,
    mono,
    segment_link,
    short,
    span,
    state_label,
)
from apps.episodic.admin.events import SEGMENT
from apps.episodic.admin.segment_jobs import SegmentActions
from apps.episodic.domain.segment_file.format import SegmentDamagedError
from apps.episodic.domain.segment_state import ENDED, RowsState, SegmentState
from apps.episodic.models import Segment
from apps.episodic.models.segment import SEGMENT_STATE_CHOICES
from apps.episodic.selectors import SegmentRows, segment_page, segment_rows
from apps.episodic.services import segment_quarantine

REPLACEMENTS = ("successor", "predecessors")
IN_USE, ALL = "in_use", "all"
# Their events are counted when they are sealed; until then the rows are.
UNCOUNTED = frozenset({SegmentState.OPEN, SegmentState.SEALING})
SHOWN_REPLACED = 20
PER_PAGE = 50
WITH_FILE = frozenset({SegmentState.SEALED, SegmentState.ARCHIVED})


class SegmentStateFilter(DropdownFilter):
    """Filter by state; without a choice, segments that hold events."""

    title, parameter_name = _("state"), "state"
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            (IN_USE, gettext("In use")),
            *((value, gettext(label)) for value, label in SEGMENT_STATE_CHOICES),
            (ALL, gettext("All")),
        ]

    def value(self) -> str:
        given = super().value()
        return given if given in {ALL, *SegmentState} else IN_USE

    def queryset(self, request: HttpRequest, queryset: QuerySet[Segment]) -> QuerySet[Segment]:
        if self.value() == ALL:
            return queryset
        return queryset.exclude(state__in=ENDED) if self.value() == IN_USE else queryset.filter(state=self.value())


class SegmentList(ChangeList):
    """A page of segments, with the number of rows of those that the catalogue has no count of yet."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        count_rows(self.result_list)


@admin.register(Segment)
class SegmentAdmin(TimelineTab, SearchedList, ReadOnly, SegmentActions):
    """The catalogue, to read. Actions are carried out in the background."""

    list_display = ["segment", "state_now", "events_held", "of_when", "file_size", "checks", "replaced"]
    list_display_links = ["segment"]
    list_filter = [
        SegmentStateFilter,
        ("first_timestamp", RangeDateTimeFilter),
        ("last_timestamp", RangeDateTimeFilter),
    ]
    list_disable_select_all = True
    paginator = Paginator
    ordering = [F("last_timestamp").desc(nulls_first=True), "-pk"]
    search_help_text = _("An id, or a file's name")
    empty_text = _("The first recorded event opens the first segment.")
    fieldsets = [
        (None, {"fields": ["state_explained", "rows_explained", "damage_found"]}),
        (_("Events"), {"fields": [("events_link", "lost"), "of_when_whole"]}),
        (_("File"), {"fields": [("file", "file_size_whole"), ("version", "checked"), "checksum"]}),
        (_("Life"), {"fields": [("opened", "due"), ("closed", "sealed"), ("archived", "ended"), *REPLACEMENTS]}),
        (_("More"), {"fields": [("uuid", "arrivals")]}),
    ]  # fmt: skip
    readonly_fields = [
        "state_explained", "rows_explained", "damage_found", "events_link", "of_when_whole", "lost", "file",
        "file_size_whole", "version", "checked", "checksum", "opened", "due", "closed", "sealed", "archived", "ended",
        "successor", "predecessors", "arrivals",
    ]  # fmt: skip

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[SegmentList]:
        return SegmentList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Segment]:
        segments: QuerySet[Segment] = super().get_queryset(request)
        return segments.select_related("replaced_by")

    def find_by_words(self, queryset: QuerySet[Segment], term: str) -> QuerySet[Segment]:
        """Return the segments whose file has such a part of its name."""
        return queryset.filter(file_name__contains=term)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Segment | None:
        segment: Segment | None = super().get_object(request, object_id, from_field)
        if segment is not None:
            count_rows([segment])
        return segment

    @action(description=_("Look inside"), icon="list", permissions=["view", "read"], url_path="events")
    def inside(self, request: HttpRequest, object_id: str) -> HttpResponse:
        # A damaged file is taken out of service, as when a query reads it.
        segment = found_or_404(self.get_object(request, object_id))
        asked = request.GET.get("page", "")
        number = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 10 else 1
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Events of a segment"),
            "opts": self.opts,
            "original": segment,
            "short": short(segment),
            **page_context(segment, number),
        }
        return TemplateResponse(request, "episodic/segment_events.html", context)

    has_read_permission = required_permission("episodic.view_timelineevent")

    # Columns

    segment = column(_("Segment"), lambda segment: format_html('<span class="mh-mono">{}</span>', short(segment)))
    state_now = badge_column("state", _("State"), STATE_COLOURS)

    @display(description=_("Events"), ordering="event_count")
    def events_held(self, segment: Segment) -> SafeString:
        rows = gettext("rows %(state)s") % {"state": segment.get_rows_display().lower()}
        return two_lines(f"{held(segment):,}", "" if segment.state in ENDED else rows)

    @display(description=_("Time of events"), ordering="first_timestamp")
    def of_when(self, segment: Segment) -> SafeString | str:
        if segment.first_timestamp is None:
            return NOTHING
        return two_lines(moment(segment.first_timestamp), gettext("to %(at)s") % {"at": moment(segment.last_timestamp)})

    @display(description=_("File"), ordering="size_bytes")
    def file_size(self, segment: Segment) -> SafeString | str:
        if segment.state in UNCOUNTED and rows_of(segment).events:
            return two_lines(filesize(rows_of(segment).size_bytes), gettext("as rows"))
        return two_lines(filesize(segment.size_bytes), per_event(segment)) if segment.size_bytes else NOTHING

    @display(description=_("Checked at"), ordering="checked_at")
    def checks(self, segment: Segment) -> SafeString | str:
        if segment.damage:
            return format_html('<span class="mh-trouble">{}</span>', say(segment.damage))
        return two_lines(moment(segment.checked_at), gettext("sound")) if segment.checked_at else NOTHING

    replaced = column(_("Replaced by"), lambda segment: segment_link(segment.replaced_by))

    # The page of a segment

    @display(description=_("State"))
    def state_explained(self, segment: Segment) -> SafeString:
        return format_html("{} {}", state_label(segment), STATE_WORDS[SegmentState(segment.state)])

    rows_explained = column(_("Rows"), lambda segment: ROWS_WORDS[segment.rows])

    @display(description=_("Damage"))
    def damage_found(self, segment: Segment) -> SafeString | str:
        if not segment.damage:
            return gettext("none was found")
        return format_html('<span class="mh-trouble">{}</span>', say(segment.damage))

    @display(description=_("Events"))
    def events_link(self, segment: Segment) -> SafeString | str:
        count = f"{held(segment):,}"
        if segment.rows == RowsState.COMPLETE and held(segment):
            url = f"{reverse('admin:episodic_timelineevent_changelist')}?{SEGMENT}={segment.uuid}"
        elif segment.state in WITH_FILE:
            url = reverse("admin:episodic_segment_inside", args=[segment.pk])
        else:
            return count
        return format_html('<a class="mh-link" href="{}">{}</a>', url, count)

    of_when_whole = column(_("Time of events"), lambda segment: span(segment.first_timestamp, segment.last_timestamp))
    lost = column(
        _("Events lost"), lambda segment: f"{segment.lost_count:,}" if segment.lost_count else gettext("none")
    )
    file = column(_("Name of the file"), lambda segment: mono(segment.file_name))

    @display(description=_("Size"))
    def file_size_whole(self, segment: Segment) -> str:
        if segment.state in UNCOUNTED and rows_of(segment).events:
            return gettext("%(size)s as rows") % {"size": filesize(rows_of(segment).size_bytes)}
        return f"{filesize(segment.size_bytes)}, {per_event(segment)}" if segment.size_bytes else NOTHING

    version = column(_("Version of the format"), lambda segment: str(segment.format_version or NOTHING))
    checked = moment_column("checked_at", _("Checked at"))
    checksum = column(_("SHA-256"), lambda segment: preformatted(segment.sha256) if segment.sha256 else NOTHING)
    opened = moment_column("opened_at", _("Opened at"))

    @display(description=_("Sealed by"))
    def due(self, segment: Segment) -> str:
        if segment.state == SegmentState.SEALING:
            return gettext("the next maintenance")
        if segment.state != SegmentState.OPEN:
            return NOTHING
        full, latest = settings.MEMORYHUB.timeline.segment_events, rows_of(segment).sealed_by
        if not latest:
            return gettext("not until it has an event")
        return gettext("%(at)s, or when it has %(events)s events") % {"at": moment(latest), "events": f"{full:,}"}

    closed = moment_column("closed_at", _("Closed at"))
    sealed = moment_column("sealed_at", _("Sealed at"))
    archived = moment_column("archived_at", _("Archived at"))
    ended = moment_column("ended_at", _("Compacted or pruned at"))
    successor = column(_("Replaced by"), lambda segment: segment_link(segment.replaced_by, with_state=True))

    @display(description=_("Replaces"))
    def predecessors(self, segment: Segment) -> SafeString | str:
        replaced = list(segment.replaces.order_by("pk")[: SHOWN_REPLACED + 1])
        links = format_html_join(", ", "{}", ((segment_link(one),) for one in replaced[:SHOWN_REPLACED]))
        if len(replaced) > SHOWN_REPLACED:
            return format_html(gettext("{segments} and more"), segments=links)
        return links if replaced else NOTHING

    arrivals = column(
        _("Arrival numbers"), lambda segment: gettext("after %(number)s") % {"number": f"{segment.first_arrival:,}"}
    )


def count_rows(segments: list[Segment]) -> None:
    """Set what the rows of the segments are that are not sealed yet, in one query: number, time, and size."""
    uncounted = [segment for segment in segments if segment.state in UNCOUNTED]
    found = segment_rows([segment.pk for segment in uncounted]) if uncounted else {}
    for segment in uncounted:
        rows = found.get(segment.pk, SegmentRows())
        segment.held_rows = rows  # type: ignore[attr-defined]
        segment.first_timestamp, segment.last_timestamp = rows.first_timestamp, rows.last_timestamp


def held(segment: Segment) -> int:
    """Return how many events a segment holds, or held."""
    return rows_of(segment).events if segment.state in UNCOUNTED else segment.event_count


def rows_of(segment: Segment) -> SegmentRows:
    """Return what `count_rows` found of a segment."""
    found: SegmentRows = getattr(segment, "held_rows", SegmentRows())
    return found


def per_event(segment: Segment) -> str:
    """Format the size of an event in the file."""
    if not segment.event_count:
        return ""
    return gettext("%(size)s bytes per event") % {"size": f"{segment.size_bytes / segment.event_count:,.0f}"}


def page_context(segment: Segment, number: int) -> dict[str, Any]:
    """Return the events of a page and their figures, or the problem with the file."""
    if segment.state not in WITH_FILE:
        words = gettext("The segment is %(state)s: it has no file to read.")
        return {"problem": words % {"state": segment.get_state_display().lower()}}
    try:
        page = segment_page(segment, number, PER_PAGE)
    except SegmentDamagedError as damage:
        segment_quarantine(segment_id=segment.pk, error=damage)
        words = gettext("The file cannot be read: %(damage)s It was taken out of service.")
        return {"problem": words % {"damage": say(str(damage))}}
    share = 100 * segment.size_bytes / page.raw_bytes
    return {
        "page": page,
        "first": (page.number - 1) * PER_PAGE + 1,
        "before": page.number - 1,
        "after": page.number + 1 if page.number < page.count else 0,
        "rows": [event_row(event) for event in page.events],
        "sizes": gettext("%(events)s events; %(text)s as text, %(file)s in the file (%(share)s%%).")
        % {
            "events": f"{segment.event_count:,}",
            "text": filesize(page.raw_bytes),
            "file": filesize(segment.size_bytes),
            "share": f"{share:.0f}",
        },
    }
