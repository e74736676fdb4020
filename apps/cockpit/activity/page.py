"""*Activity*: one stream of what happened, filtered and grouped, with a histogram that narrows it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timezone import is_naive, localtime, make_aware
from django.utils.translation import gettext, gettext_lazy

from apps.cockpit.activity.objects import Objects, objects_of
from apps.cockpit.activity.phrases import ACT, BY_NAME, KINDS, EntryKind, phrase
from apps.cockpit.activity.sources import MAX_NEW, SOURCES, AskedEntries, count_new
from apps.cockpit.domain.activity import ACTOR_KINDS, THE_HUB, Entry, Group, Places, describe_actor, group, merge
from apps.cockpit.pages import render_fragment, render_page
from apps.core.admin.charts import Chart, Series
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import comparable
from apps.core.bounds import is_bound
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

BARS = 60
# Widths of a bar: the narrowest of them that makes at most BARS is taken.
WIDTHS = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440))
EPOCH = datetime.fromtimestamp(0, UTC)
SPANS = {
    "1h": (gettext_lazy("1 hour"), timedelta(hours=1)),
    "24h": (gettext_lazy("24 hours"), timedelta(hours=24)),
    "7d": (gettext_lazy("7 days"), timedelta(days=7)),
}
DEFAULT_SPAN = "24h"
MAX_SPAN = timedelta(days=31)
HERE = "cockpit_activity"
# By kind of actor.
ACTOR_ICONS = {"key": "key", "person": "person", "command": "terminal", "hub": "dns"}
GROUPS = 40


@dataclass(frozen=True)
class ActivityBar:
    """The entries of a span of time."""

    start: datetime
    end: datetime
    count: int


@dataclass(frozen=True)
class Histogram:
    """Bars, the oldest first. since: from when on they are counted; None when all are."""

    bars: list[ActivityBar]
    since: datetime | None

    @property
    def total(self) -> int:
        """Return how many entries are counted."""
        return sum(bar.count for bar in self.bars)

    def chart(self) -> Chart:
        """Return the bars as a chart."""
        days = len({localtime(bar.start).date() for bar in self.bars})
        shape = "H:i" if days <= 2 else gettext("D j, H:i")
        return Chart(
            name="activity",
            title=gettext("Entries"),
            labels=[date_format(localtime(bar.start), shape) for bar in self.bars],
            series=[Series(label=gettext("Entries"), values=[bar.count for bar in self.bars], tone="accent")],
            is_bars=True,
        )


def read_histogram(asked: AskedEntries) -> Histogram:
    """Return how many entries there are in each part of a span of time."""
    minutes: Counter[datetime] = Counter()
    since = None
    for source in SOURCES:
        counts, reached = source.count_by_minute(asked)
        minutes.update(counts)
        since = max(filter(None, (since, reached)), default=None)
    width = next((one for one in WIDTHS if (asked.end - asked.start) <= one * BARS), WIDTHS[-1])
    first = asked.start - (asked.start - EPOCH) % width
    count = -(-(asked.end - first) // width)
    totals: Counter[int] = Counter()
    for minute, number in minutes.items():
        totals[max(0, (minute - first) // width)] += number
    bars = [ActivityBar(first + index * width, first + (index + 1) * width, totals[index]) for index in range(count)]
    return Histogram(bars, since)


@dataclass(frozen=True)
class Filters:
    """What was asked for, as the form shows it. start, end: of a narrowed span, None for one that ends now."""

    span: str
    kind: str
    actor: str
    person: str
    start: datetime | None
    end: datetime | None

    def query(self, **changes: str) -> dict[str, str]:
        """Return it as the parameters of an address; those without a value are left out."""
        values = {
            "range": "" if self.span == DEFAULT_SPAN else self.span,
            "kind": self.kind,
            "actor": self.actor,
            "person": self.person,
            "from": moment_text(self.start),
            "to": moment_text(self.end),
        }
        return {name: value for name, value in {**values, **changes}.items() if value}


def moment_text(at: datetime | None) -> str:
    """Return a moment for an address and for a field of a form, in the zone of the page to the minute."""
    return localtime(at).strftime("%Y-%m-%dT%H:%M") if at else ""


def read_filters(parameters: Mapping[str, Any]) -> Filters:
    """Return what a request asks for; what makes no sense is as if it were missing."""
    span, kind = parameters.get("range", ""), parameters.get("kind", "")
    start, end = parse_moment(parameters.get("from", "")), parse_moment(parameters.get("to", ""))
    if start is None or end is None or not timedelta() < end - start <= MAX_SPAN:
        start = end = None
    return Filters(
        span=span if span in SPANS else DEFAULT_SPAN,
        kind=kind if kind in BY_NAME else "",
        actor=comparable(parameters.get("actor"))[:200],
        person=comparable(parameters.get("person"))[:200],
        start=start,
        end=end,
    )


def parse_moment(text: str) -> datetime | None:
    """Return the moment that a text names, in the zone of the page where it names no offset; None for none."""
    try:
        found = parse_datetime(text[:40])
    except ValueError:
        return None
    if found is None or not 1970 < found.year < 9000:
        return None
    return make_aware(found) if is_naive(found) else found


def allowed_kinds(request: HttpRequest) -> list[EntryKind]:
    """Return the kinds of entries that the viewer may see; those without a scope are not for accounts with a bound."""
    bound = is_bound(request.user)
    return [kind for kind in KINDS if request.user.has_perm(kind.permission) and (kind.is_scoped or not bound)]


def asked_of(request: HttpRequest, filters: Filters, now: datetime) -> AskedEntries:
    """Return what the sources are asked for."""
    kinds = {kind.name for kind in allowed_kinds(request) if filters.kind in ("", kind.name)}
    end = filters.end or now
    actor = filters.actor
    actors = (actor, *(f"{prefix}:{actor}" for prefix in ACTOR_KINDS)) if actor else ()
    return AskedEntries(
        access=operator_access(request),
        kinds=frozenset(kinds),
        start=filters.start or end - SPANS[filters.span][1],
        end=end,
        actors=actors,
        person=filters.person,
    )


def activity(request: HttpRequest) -> HttpResponse:
    """Show what happened."""
    now = utcnow(SYSTEM_CLOCK)
    filters = read_filters(request.GET)
    asked = asked_of(request, filters, now)
    places = Places.parse(request.GET.get("before", ""))
    page = read_page(asked, places)
    histogram = read_histogram(asked)
    found = {source.name: source.newest(asked) for source in SOURCES}
    context: dict[str, Any] = {
        "now": now,
        "tab": "activity",
        "filters": filters,
        "kinds": allowed_kinds(request),
        "spans": [
            {
                "title": title,
                "url": address(filters, **{"range": name, "from": "", "to": ""}),
                "is_current": filters.start is None and filters.span == name,
            }
            for name, (title, _length) in SPANS.items()
        ],
        "rows": rows_of(page.groups, objects_of(request, page.groups)),
        "page": page,
        "older": address(filters, before=str(page.older)) if page.older else "",
        "is_first": not places.by_source,
        "newest": str(Places({name: position for name, position in found.items() if position is not None})),
        "histogram": histogram,
        "chart": histogram.chart(),
        "bars": [
            {
                "bar": bar,
                "from": moment_text(bar.start),
                "to": moment_text(bar.end),
                "url": address(filters, **{"from": moment_text(bar.start), "to": moment_text(bar.end)}),
            }
            for bar in histogram.bars
        ],
        "here": address(filters),
        "cleared": reverse(HERE),
        "is_narrowed": bool(filters.kind or filters.actor or filters.person or filters.start),
        "start": moment_text(filters.start),
        "end": moment_text(filters.end),
    }
    return render_page(request, "cockpit/activity/page.html", gettext("Activity"), **context)


def activity_new(request: HttpRequest) -> HttpResponse:
    """Show how many entries are newer than those on the page."""
    filters = read_filters(request.GET)
    newest = request.GET.get("newest", "")
    asked = asked_of(request, filters, utcnow(SYSTEM_CLOCK))
    count = 0 if filters.end else count_new(asked, Places.parse(newest))
    context = {"new": count, "is_most": count == MAX_NEW, "here": address(filters), "newest": newest}
    return render_fragment(request, "cockpit/activity/new.html", filters=filters, **context)


def address(filters: Filters, **changes: str) -> str:
    """Return the address of the stream with these filters."""
    query = filters.query(**changes)
    return f"{reverse(HERE)}?{urlencode(query)}" if query else reverse(HERE)


def rows_of(groups: Iterable[Group], objects: Objects) -> list[dict[str, Any]]:
    """Return the groups as the page shows them."""
    rows = []
    for shown in groups:
        first = shown.first
        actor, actor_kind = describe_actor(first.actor)
        actor = gettext("The hub") if (actor, actor_kind) == (THE_HUB, "hub") else actor
        person = "" if actor == first.person and first.verb.startswith(ACT) else first.person
        words = phrase(first.verb, shown.count, person, first.words)
        named = [found for one in shown.named if (found := objects.get((one.kind, one.subject)))]
        more = shown.count - len(named) if named else 0
        row = {"group": shown, "kind": BY_NAME[first.kind], "actor": actor, "icon": ACTOR_ICONS[actor_kind]}
        rows.append({**row, "words": words, "objects": named, "more": more})
    return rows


@dataclass(frozen=True)
class StreamPage:
    """Groups, the latest first. older: where the next page begins, None at the end. searched: back to when, where the
    search of a source was cut off before its end."""

    groups: list[Group]
    older: Places | None
    searched: datetime | None


def read_page(asked: AskedEntries, places: Places) -> StreamPage:
    """Return the page below these places.

    What is older than the point to which every source was read waits for the next page, so that none is left out.
    """
    found = {source.name: source.read(asked, places.before(source.name)) for source in SOURCES}
    horizon = max((one.reached for one in found.values() if one.reached is not None), default=None)
    entries = [entry for entry in merge(one.entries for one in found.values()) if is_within(entry, horizon)]
    groups, taken = group(entries, GROUPS)
    is_cut = len(taken) < len(entries)
    older = places.moved(taken)
    if not is_cut:
        # Those sources go on below their windows whose every entry was taken.
        below = {
            name: one.floor
            for name, one in found.items()
            if one.floor is not None
            and one.reached == horizon
            and all(is_within(each, horizon) for each in one.entries)
        }
        older = Places({**older.by_source, **below})
    is_end = not is_cut and horizon is None
    searched = None if is_cut or all(one.floor is None for one in found.values()) else horizon
    return StreamPage(groups, None if is_end else older, searched)


def is_within(entry: Entry, horizon: datetime | None) -> bool:
    """Return whether an entry is as new as the point to which every source was read."""
    return horizon is None or entry.at >= horizon
