"""*Timeline*: what happened when, as bars, as lanes by type and as a list, from rows and archived segments alike."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import truncatechars
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.core.admin.kit import moment, operator_access, pretty_json
from apps.core.admin.lists import as_uuid
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.cursors import Cursor, read_moment, write_value
from apps.core.domain.errors import InvalidInputError, MemoryHubError, NotFoundError
from apps.core.domain.scope import Access
from apps.core.pages.sayings import say
from apps.episodic.admin.columns import count_of, health_context, segment_link
from apps.episodic.admin.timeline_bars import draw
from apps.episodic.admin.timeline_filters import SPANS, TimelineFilters, moment_text, parse_moment, read_filters
from apps.episodic.domain.event import MICROSECOND, EventRecord
from apps.episodic.domain.histogram import Buckets, EventHistogram, plan_buckets
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.selectors import (
    FoundEvent,
    event_extent,
    event_find,
    event_histogram,
    event_list,
    event_owners,
    events_query,
)
from apps.retrieval.domain.query import Hit

HERE, NEW, EVENT = (f"admin:episodic_timelineevent_{name}" for name in ("timeline", "new", "event"))
PER_PAGE = 50
# With a text, so many of the best matches are found.
BEST = 200
MAX_PEOPLE = 500
MAX_NEW = 100
# Among so many of the last rows new ones are looked for.
LAST_ROWS = 5_000
SHOWN_CHARS = 240
TITLE_CHARS = 80


@dataclass(frozen=True)
class ListedEvents:
    """What a page lists: events with their hits, the cursors of the pages beside it, and how many there are in all."""

    events: tuple[EventRecord, ...]
    hits: dict[int, Hit]
    older: str | None
    newer: str | None
    total: int


def timeline_page(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show the timeline. Changes nothing."""
    filters, now, access = read_filters(request.GET), utcnow(SYSTEM_CLOCK), operator_access(request)
    if (uuid := as_uuid(filters.text)) is not None:
        with suppress(MemoryHubError):  # not the id of an event: it is looked for as text
            return HttpResponseRedirect(event_address(event_find(access, uuid).record))
    without = {"from": "", "to": ""}
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("Timeline"),
        "filters": filters,
        "spans": [
            {
                "title": title,
                "url": address(replace(filters, span=name), **without),
                "is_current": not filters.has_range and filters.span == name,
            }
            for name, (title, __) in SPANS.items()
        ],
        "from": moment_text(filters.start),
        "to": moment_text(filters.end),
        "cleared": address(TimelineFilters(filters.span)),
        "unranged": address(filters, **{"from": "", "to": ""}),
        "untyped": address(filters, type=""),
        "now": now,
        **health_context(request),
    }
    try:
        context |= found_context(request, access, filters, now)
    except MemoryHubError as error:
        context["problem"] = say(str(error.detail))
    return TemplateResponse(request, "episodic/timeline.html", context)


def found_context(request: HttpRequest, access: Access, filters: TimelineFilters, now: datetime) -> dict[str, Any]:
    """Return the bars, the lanes and the list. Raises MemoryHubError."""
    is_whole = SPANS[filters.span][1] is None
    extent = event_extent(access, filters.scope) if is_whole else None
    start, end = filters.shown(now, extent)
    buckets = plan_buckets(start, end + MICROSECOND)
    chosen, cursor = filters.chosen(buckets), request.GET.get("cursor", "")
    histogram, events = count_events(access, filters, buckets)
    drawing = draw(histogram, chosen if filters.has_range else None, filters.event_type)
    if events is not None:
        wanted = [
            (event, hit)
            for event, hit in events
            if chosen.contains(event.timestamp) and filters.event_type in ("", event.event_type)
        ]
        hits = {event.arrival: hit for event, hit in wanted}
        page = ListedEvents(tuple(event for event, _ in wanted), hits, None, None, len(wanted))
    else:
        page = list_events(access, filters, chosen, cursor, None if filters.has_range else drawing.total)
    known = last_rows(access).aggregate(last=Max("recorded_at"))["last"]
    if not page.events and not is_whole:
        extent = event_extent(access, filters.scope)
    return {
        "drawing": drawing,
        "lanes": [
            {
                "lane": lane,
                "is_current": lane.name == filters.event_type and not lane.is_rest,
                "url": ""
                if lane.is_rest
                else address(filters, type="" if lane.name == filters.event_type else lane.name),
            }
            for lane in drawing.lanes
        ],
        "rows": [row_of(event, page.hits.get(event.arrival)) for event in page.events],
        "found": count_of(page.total, "event"),
        "chosen": chosen,
        "older": page.older and address(filters, cursor=page.older),
        "newer": page.newer and address(filters, cursor=page.newer),
        "is_first": not cursor,
        "people": event_owners(access, MAX_PEOPLE),
        "extent": extent,
        "everything": address(replace(filters, span="all", start=None, end=None)),
        "most": BEST if filters.text and len(events or ()) == BEST else 0,
        "known": known.isoformat() if known else "",
        "live": address(filters, page=NEW),
    }


def count_events(
    access: Access, filters: TimelineFilters, buckets: Buckets
) -> tuple[EventHistogram, list[tuple[EventRecord, Hit]] | None]:
    """Return the events of all types by time; with a text, of its best matches, and these."""
    if not filters.text:
        return event_histogram(access, filters.scope, buckets), None
    start, end = buckets.span
    result = events_query(access, EventQuery(filters.scope, start, end, text=filters.text, top_k=BEST))
    counts: dict[str, Counter[int]] = {}
    for record in result.events:
        number = min(max(buckets.number_at(record.timestamp), 0), buckets.count - 1)
        counts.setdefault(record.event_type, Counter())[number] += 1
    by_place = {name: [found[number] for number in range(buckets.count)] for name, found in counts.items()}
    return EventHistogram(buckets, by_place), list(zip(result.events, result.hits, strict=True))


def list_events(
    access: Access, filters: TimelineFilters, chosen: Window, cursor: str, total: int | None
) -> ListedEvents:
    """Return a page of the events of a range, the newest first. total: how many there are, None to count them.

    Raises NotFoundError for a cursor that is none.
    """
    query = EventQuery(filters.scope, chosen.start, chosen.end, top_k=PER_PAGE, event_types=filters.types)
    page = event_list(access, query, cursor=Cursor.read(cursor) if cursor else None)
    if total is None:
        assert chosen.start is not None
        assert chosen.end is not None
        one = plan_buckets(chosen.start, chosen.end + MICROSECOND)
        total = event_histogram(access, filters.scope, one, window=chosen, event_types=filters.types).total
    return ListedEvents(tuple(page.rows), {}, page.older, page.newer, total)


def row_of(event: EventRecord, hit: Hit | None) -> dict[str, Any]:
    """Return a row of the list."""
    return {
        "words": truncatechars(event.content, SHOWN_CHARS),
        "url": event_address(event),
        "type": event.event_type,
        "whose": " / ".join(filter(None, event.key)),
        "source": event.source,
        "at": event.timestamp,
        "when": moment(event.timestamp),
        "score": hit and f"{hit.score:.2f}",
    }


def event_address(event: EventRecord) -> str:
    """Return the address of the page of an event, with its time, by which a file is found."""
    return f"{reverse(EVENT, args=[event.uuid])}?at={write_value(event.timestamp)}"


def address(filters: TimelineFilters, page: str = HERE, **changes: str) -> str:
    """Return the address of a page of the timeline with these filters."""
    query = filters.query(**changes)
    return f"{reverse(page)}?{urlencode(query)}" if query else reverse(page)


# New events


def last_rows(access: Access) -> Any:
    """Return the rows that came last, as far as the caller may see them."""
    newest = TimelineEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return TimelineEvent.objects.visible_to(access).filter(pk__gt=newest - LAST_ROWS)


def timeline_new(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show how many events were recorded since the page was made. They wait: the page does not move."""
    filters, access = read_filters(request.GET), operator_access(request)
    known = request.GET.get("known", "")
    since, wanted = parse_moment(known), last_rows(access).filter(**filters.scope.named())
    if since:
        wanted = wanted.filter(recorded_at__gt=since)
    if filters.types:
        wanted = wanted.filter(event_type__in=filters.types)
    length = SPANS[filters.span][1]
    start = filters.start or (utcnow(SYSTEM_CLOCK) - length if length else None)
    wanted = wanted.filter(timestamp__gte=start) if start else wanted
    count = wanted[:MAX_NEW].count()
    context = {
        "new": count,
        "is_most": count == MAX_NEW,
        "here": address(filters),
        "known": known,
        "live": address(filters, page=NEW),
    }
    return TemplateResponse(request, "episodic/timeline_new.html", context, headers={"Cache-Control": "no-store"})


# The page of an event


def event_page(model_admin: Any, request: HttpRequest, uuid: Any) -> HttpResponse:
    """Show an event, wherever it is kept. Raises Http404 for one that the viewer may not see."""
    context = {**admin.site.each_context(request), "title": gettext("Event")}
    try:
        found = find(operator_access(request), uuid, request.GET.get("at", ""))
        context |= event_context(request, found)
    except NotFoundError as error:
        raise Http404 from error
    except MemoryHubError as error:
        context["problem"] = say(str(error.detail))
    return TemplateResponse(request, "episodic/event.html", context)


def find(access: Access, uuid: Any, at: str) -> FoundEvent:
    """Return an event. at: when it happened, which spares reading files; a wrong one counts as none."""
    try:
        return event_find(access, uuid, read_moment(at))
    except (InvalidInputError, NotFoundError):
        return event_find(access, uuid)


def event_context(request: HttpRequest, found: FoundEvent) -> dict[str, Any]:
    """Return what the page of an event shows."""
    event = found.record
    row = TimelineEvent.objects.filter(pk=event.arrival, uuid=event.uuid).select_related("segment").first()
    segment = row.segment if row else Segment.objects.filter(pk=found.segment_id or 0).first()
    may_see = request.user.has_perm("episodic.view_segment")
    around = timedelta(minutes=30)
    return {
        "title": truncatechars(event.content, TITLE_CHARS),
        "event": event,
        "when": moment(event.timestamp),
        "recorded": moment(event.recorded_at),
        "metadata": pretty_json(event.metadata) if event.metadata else "",
        "kept": gettext("a row") if found.segment_id is None else gettext("a line of a segment's file"),
        "segment": segment_link(segment, with_state=True) if may_see and segment else "",
        "around": address(
            TimelineFilters(user=event.key.user_id, start=event.timestamp - around, end=event.timestamp + around)
        ),
    }
