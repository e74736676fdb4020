"""*Activity*: one stream of what happened, grouped, with a histogram that narrows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from apps.cockpit.activity.filters import (
    SPANS,
    Filters,
    allowed_kinds,
    asked_of,
    moment_text,
    read_filters,
)
from apps.cockpit.activity.histogram import Histogram, read_histogram
from apps.cockpit.activity.objects import Object, Objects, objects_of
from apps.cockpit.activity.phrases import ACT, BY_NAME, Kind, phrase
from apps.cockpit.activity.sources import MAX_NEW, count_new, newest_places
from apps.cockpit.activity.stream import read_page
from apps.cockpit.domain.activity import THE_HUB, Group, Places, describe_actor
from apps.cockpit.pages import render_fragment, render_page
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

HERE = "cockpit_activity"
# By kind of actor.
ACTOR_ICONS = {"key": "key", "person": "person", "command": "terminal", "hub": "dns"}


@dataclass(frozen=True)
class Row:
    """A group as the page shows it."""

    group: Group
    kind: Kind
    actor: str
    icon: str
    words: str
    objects: list[Object]
    more: int


def activity(request: HttpRequest) -> HttpResponse:
    """Show what happened."""
    now = utcnow(SYSTEM_CLOCK)
    filters = read_filters(request.GET)
    asked = asked_of(request, filters, now)
    places = Places.parse(request.GET.get("before", ""))
    page = read_page(asked, places)
    histogram = read_histogram(asked)
    context: dict[str, Any] = {
        "now": now,
        "tab": "activity",
        "filters": filters,
        "kinds": allowed_kinds(request),
        "spans": span_links(filters),
        "rows": rows_of(page.groups, objects_of(request, page.groups)),
        "page": page,
        "older": address(filters, before=str(page.older)) if page.older else "",
        "is_first": not places.by_source,
        "newest": str(newest_places(asked)),
        "histogram": histogram,
        "chart": histogram.chart(),
        "bars": bar_links(filters, histogram),
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


def span_links(filters: Filters) -> list[dict[str, Any]]:
    """Return the spans until now that can be chosen."""
    return [
        {
            "title": title,
            "url": address(filters, **{"range": name, "from": "", "to": ""}),
            "is_current": filters.start is None and filters.span == name,
        }
        for name, (title, _) in SPANS.items()
    ]


def bar_links(filters: Filters, histogram: Histogram) -> list[dict[str, Any]]:
    """Return the bars of the histogram, each with the address that narrows the stream to it."""
    return [
        {
            "bar": bar,
            "from": moment_text(bar.start),
            "to": moment_text(bar.end),
            "url": address(filters, **{"from": moment_text(bar.start), "to": moment_text(bar.end)}),
        }
        for bar in histogram.bars
    ]


def rows_of(groups: Iterable[Group], objects: Objects) -> list[Row]:
    """Return the groups as the page shows them."""
    rows = []
    for group in groups:
        first = group.first
        actor, actor_kind = describe_actor(first.actor)
        actor = gettext("The hub") if (actor, actor_kind) == (THE_HUB, "hub") else actor
        person = "" if actor == first.person and first.verb.startswith(ACT) else first.person
        words = phrase(first.verb, group.count, person, first.words)
        named = [found for one in group.named if (found := objects.get((one.kind, one.subject)))]
        more = group.count - len(named) if named else 0
        rows.append(Row(group, BY_NAME[first.kind], actor, ACTOR_ICONS[actor_kind], words, named, more))
    return rows
