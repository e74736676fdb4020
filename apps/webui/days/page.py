"""The pages of years, months and days: the heat map of a calendar, the events of a day, and the kinds of events."""

import math
from calendar import Calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, wraps
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.formats import date_format, get_format
from django.utils.functional import Promise
from django.utils.timezone import get_current_timezone, localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.core.db.memberships import display_names
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.cursors import Cursor
from apps.core.domain.errors import InvalidInputError, NotFoundError, UnavailableError
from apps.core.domain.scope import Scope
from apps.episodic.domain.event import MICROSECOND, EventRecord
from apps.episodic.domain.histogram import EventDays, day_spans
from apps.episodic.domain.window import EventQuery, Window
from apps.episodic.selectors import event_counts, event_days, event_extent, event_list, kept_days
from apps.semantic.selectors import memories_of_events
from apps.webui.days.span import Span, day_span, span_or_404, this_year, year_span
from apps.webui.pages import View, render_page
from apps.webui.person import Person

SHADES = 4
# A Sunday, from which the days of a week are counted as `FIRST_DAY_OF_WEEK` counts them.
A_SUNDAY = date(2026, 11, 1)
SUNDAY = 6
EVENTS_SHOWN = 50
# Of an event in a list; its own page has all of it.
SHOWN_CHARS = 600


@dataclass(frozen=True)
class Day:
    """A day of a month. shade: from 0 for none to SHADES for the most events of a day."""

    day: date
    count: int
    shade: int

    @cached_property
    def address(self) -> str:
        """Return what its page is found by."""
        return self.day.isoformat()

    @cached_property
    def words(self) -> str:
        """Return the day and its number of events."""
        events = ngettext("%(count)s event", "%(count)s events", self.count) % {"count": f"{self.count:,}"}
        return f"{date_format(self.day, 'DATE_FORMAT')}: {events}"


@dataclass(frozen=True)
class Month:
    """A month. weeks: seven days each; None where one belongs to another month."""

    first: date
    count: int
    weeks: tuple[tuple[Day | None, ...], ...]

    @property
    def address(self) -> str:
        """Return what its page is found by."""
        return f"{self.first:%Y-%m}"


def weekdays() -> list[date]:
    """Return a day for each column of a week, in the order of the person's language."""
    first = A_SUNDAY + timedelta(days=get_format("FIRST_DAY_OF_WEEK"))
    return [first + timedelta(days=number) for number in range(7)]


def months_of(counts: Mapping[date, int]) -> list[Month]:
    """Return the months of some days, the latest first. counts: of each day of whole months."""
    most = max(counts.values(), default=0)
    weeks = Calendar((get_format("FIRST_DAY_OF_WEEK") + SUNDAY) % 7)
    months = sorted({day.replace(day=1) for day in counts}, reverse=True)
    return [month_of(first, counts, most, weeks) for first in months]


def month_of(first: date, counts: Mapping[date, int], most: int, weeks: Calendar) -> Month:
    """Return a month. most: events of a day, which gets the darkest shade."""

    def cell(day: date) -> Day | None:
        if day.month != first.month:
            return None
        count = counts.get(day, 0)
        return Day(day, count, math.ceil(SHADES * math.sqrt(count / most)) if count and most else 0)

    rows = tuple(tuple(cell(day) for day in week) for week in weeks.monthdatescalendar(first.year, first.month))
    return Month(first, sum(day.count for row in rows for day in row if day), rows)


SOURCES: Mapping[str, str | Promise] = {
    "user": gettext_lazy("you said so"),
    "conversation": gettext_lazy("from a conversation"),
    "skill": gettext_lazy("noted by a skill of an assistant"),
    "system": gettext_lazy("noted by a system"),
    "inferred": gettext_lazy("guessed by an assistant"),
}


@dataclass(frozen=True)
class CountedKind:
    """A kind of events. count: how many there are.

    token: its name in an address, a digest, since what applications call it says something of a person.
    """

    name: str
    count: int

    @property
    def token(self) -> str:
        """Return the name of the kind in an address."""
        return blake2b(self.name.encode(), digest_size=8).hexdigest()


def kind_named(token: str, kinds: Iterable[CountedKind]) -> CountedKind | None:
    """Return the kind that a token names, of those that there are."""
    return next((kind for kind in kinds if kind.token == token), None)


def source_in_words(source: str) -> str:
    """Return where an event comes from, in plain words; a word of the application's own as it is."""
    known = SOURCES.get(source)
    return str(known) if known is not None else _("from %(source)s") % {"source": source}


def when_loaded(view: View) -> View:
    """Return a view that says so while this process still loads the files of the timeline."""

    @wraps(view)
    def loaded(request: HttpRequest, person: Person, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, person, *args, **kwargs)
        except UnavailableError:
            answer = render_page(request, person, "webui/days/loading.html", _("My days"))
            answer.status_code = 503
            return answer

    return loaded


@when_loaded
def days_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the present year."""
    return calendar_page(request, person, this_year())


@when_loaded
def span_page(request: HttpRequest, person: Person, span: str) -> HttpResponse:
    """Show a year, a month, or a day with its events."""
    asked = span_or_404(span)
    if asked.is_all:
        return calendar_page(request, person, this_year())
    return (day_page if asked.is_day else calendar_page)(request, person, asked)


def calendar_page(request: HttpRequest, person: Person, span: Span) -> HttpResponse:
    """Show the calendar of a year or a month."""
    everything = counted(person, span)
    kinds = kinds_of(everything)
    kind = kind_named(request.GET.get("kind", ""), kinds)
    totals = everything.counts[kind.name] if kind else everything.totals
    days = [span.first + timedelta(days=number) for number in range((span.last - span.first).days + 1)]
    by_day = dict(zip(days, totals or [0] * len(days), strict=True))
    context = {
        "span": span,
        "kinds": kinds,
        "kind": kind,
        "total": sum(by_day.values()),
        "months": [month for month in months_of(by_day) if not span.is_month or month.first == span.first],
        "weekdays": weekdays(),
        "days_address": reverse("webui:days"),
        "shades": range(1, SHADES + 1),
        "neighbours": years_beside(person, span),
        "is_partial": everything.since,
        "kept": kept(person),
        "as_of": utcnow(SYSTEM_CLOCK),
    }
    return render_page(request, person, "webui/days/calendar.html", title_of(span), **context)


def day_page(request: HttpRequest, person: Person, span: Span) -> HttpResponse:
    """Show the events of a day, the latest first."""
    kinds = kinds_of(counted(person, span))
    kind = kind_named(request.GET.get("kind", ""), kinds)
    window = span.window
    query = EventQuery(start=window.start, end=window.end, top_k=EVENTS_SHOWN, event_types=(kind.name,) if kind else ())
    try:
        cursor = Cursor.read(request.GET["page"]) if "page" in request.GET else None
        page = event_list(person.access, query, cursor=cursor)
    except (InvalidInputError, NotFoundError):  # an event that has been forgotten since
        page = event_list(person.access, query)
    assert window.start is not None
    assert window.end is not None
    earlier = event_list(person.access, EventQuery(end=window.start - MICROSECOND, top_k=1)).rows
    later = later_day(person, window)
    before, after = (day_span(local_day(earlier[0])) if earlier else None), (day_span(later) if later else None)
    context = {
        "span": span,
        "kinds": kinds,
        "kind": kind,
        "total": kind.count if kind else sum(one.count for one in kinds),
        "events": shown_events(person, page.rows),
        "older": page.older,
        "newer": page.newer,
        "before": before,
        "after": after,
        "is_today": span.first == localdate(),
        "kept": kept(person),
        "as_of": utcnow(SYSTEM_CLOCK),
    }
    return render_page(request, person, "webui/days/day.html", title_of(span), **context)


def title_of(span: Span) -> str:
    """Return the heading of a page."""
    return span.title if span.is_day else _("My days: %(span)s") % {"span": span.title}


def counted(person: Person, span: Span) -> EventDays:
    """Count the person's events on each day of a span, by kind."""
    return event_days(person.access, Scope(), day_spans(span.first, span.last, get_current_timezone()))


def kinds_of(days: EventDays) -> list[CountedKind]:
    """Return the kinds of events that there are, the most frequent first."""
    return [CountedKind(name, count) for name, count in days.by_type.items()]


def shown_events(person: Person, events: Sequence[EventRecord]) -> list[dict[str, Any]]:
    """Return events as a page shows them, each with the memory that was made of it."""
    memories = memories_of_events(person.access, [event.uuid for event in events])
    return [
        {
            "event": event,
            "source": source_in_words(event.source),
            "content": event.content[:SHOWN_CHARS],
            "is_cut": len(event.content) > SHOWN_CHARS,
            "memory": memories.get(event.uuid),
        }
        for event in events
    ]


def later_day(person: Person, window: Window) -> date | None:
    """Return the first day after a window on which something happened."""
    assert window.end is not None
    span = event_extent(person.access, Scope())
    start = window.end + MICROSECOND
    if span is None or span[1] < start:
        return None
    zone = get_current_timezone()
    first, last = start.astimezone(zone).date(), span[1].astimezone(zone).date()
    step = timedelta(days=366)
    while first <= last:
        until = min(last, first + step)
        totals = event_days(person.access, Scope(), day_spans(first, until, zone)).totals
        found = next((number for number, count in enumerate(totals) if count), None)
        if found is not None:
            return first + timedelta(days=found)
        first = until + timedelta(days=1)
    return None


def local_day(event: EventRecord) -> date:
    """Return the day on which an event happened, where the person is."""
    return event.timestamp.astimezone(get_current_timezone()).date()


def years_beside(person: Person, span: Span) -> dict[str, Span | None]:
    """Return the year before and the one after, where something happened then or earlier, then or later."""
    extent = event_extent(person.access, Scope())
    if extent is None:
        return {"before": None, "after": None}
    zone, year = get_current_timezone(), span.first.year
    first, last = (moment.astimezone(zone).year for moment in extent)
    return {
        "before": year_span(year - 1) if first < year else None,
        "after": year_span(year + 1) if last > year or year < localdate().year else None,
    }


def kept(person: Person) -> list[dict[str, Any]]:
    """Return for how long the person's events are kept, by household; the first is what belongs to none."""
    named = [one.name for one in event_counts(person.access, Scope(), "household_id") if one.name]
    days = kept_days(["", *sorted(named)])
    called = display_names("household_id", days)
    return [{"household": called.get(household, ""), "days": count} for household, count in days.items()]
