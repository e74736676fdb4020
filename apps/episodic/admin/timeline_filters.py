"""What a request asks of the page of the timeline: a span, a range in it, a type, a person, and words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, localtime, make_aware
from django.utils.translation import gettext_lazy as _

from apps.core.admin.lists import comparable
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.core.words import Words
from apps.episodic.domain.event import MAX_EVENT_TYPE_CHARS, MICROSECOND
from apps.episodic.domain.histogram import Buckets
from apps.episodic.domain.window import Window

SPANS: Mapping[str, tuple[Words, timedelta | None]] = {
    "hour": (_("Last hour"), timedelta(hours=1)),
    "day": (_("Last day"), timedelta(days=1)),
    "week": (_("Last week"), timedelta(days=7)),
    "month": (_("Last month"), timedelta(days=30)),
    "all": (_("All"), None),
}
DEFAULT_SPAN = "week"
MAX_TEXT_CHARS = 2_000


@dataclass(frozen=True)
class TimelineFilters:
    """What was asked for, as the form shows it. start, end: of the range, the end not included; None for none."""

    span: str = DEFAULT_SPAN
    start: datetime | None = None
    end: datetime | None = None
    event_type: str = ""
    user: str = ""
    text: str = ""

    @property
    def scope(self) -> Scope:
        """Return whose events are asked for."""
        return Scope(self.user or None)

    @property
    def types(self) -> tuple[str, ...]:
        """Return the types that are asked for; none for all."""
        return (self.event_type,) if self.event_type else ()

    @property
    def has_range(self) -> bool:
        """Return whether a range of the bars is asked for."""
        return bool(self.start or self.end)

    @property
    def is_narrowed(self) -> bool:
        """Return whether more than a span is asked for."""
        return bool(self.has_range or self.event_type or self.user or self.text)

    def query(self, **changes: str) -> dict[str, str]:
        """Return it as the parameters of an address; those without a value are left out."""
        values = {
            "range": "" if self.span == DEFAULT_SPAN else self.span,
            "from": moment_text(self.start),
            "to": moment_text(self.end),
            "type": self.event_type,
            "user": self.user,
            "q": self.text,
        }
        return {name: value for name, value in {**values, **changes}.items() if value}

    def shown(self, now: datetime, extent: tuple[datetime, datetime] | None) -> tuple[datetime, datetime]:
        """Return the time that the bars show: the span, or the range itself where it reaches beyond it.

        extent: of the events, which `all` shows; None where there are none.
        """
        length = SPANS[self.span][1]
        begins, ends = (now - length, now) if length else (extent or (now - timedelta(hours=1), now))
        ends = max(ends, now)
        start, end = self.start or begins, self.end or ends
        # The first bar begins before the span does, and the last one ends after it.
        slack = (ends - begins) / 20 + timedelta(minutes=1)
        is_inside = begins - slack <= start and end <= ends + slack
        return (begins, ends) if is_inside or start >= end else (start, end - MICROSECOND)

    def chosen(self, buckets: Buckets) -> Window:
        """Return the time of which events are listed: the range, or all that the bars show."""
        first, last = buckets.span
        return Window(self.start or first, self.end - MICROSECOND if self.end else last)


def moment_text(at: datetime | None) -> str:
    """Return a moment for an address and for a field of a form, in the zone of the page to the minute."""
    return localtime(at).strftime("%Y-%m-%dT%H:%M") if at else ""


def read_filters(parameters: Mapping[str, Any]) -> TimelineFilters:
    """Return what a request asks for; what makes no sense is as if it were missing."""
    span = parameters.get("range", "")
    start, end = parse_moment(parameters.get("from", "")), parse_moment(parameters.get("to", ""))
    if start and end and start >= end:
        start = end = None
    return TimelineFilters(
        span=span if span in SPANS else DEFAULT_SPAN,
        start=start,
        end=end,
        event_type=comparable(parameters.get("type"))[:MAX_EVENT_TYPE_CHARS],
        user=comparable(parameters.get("user"))[:MAX_IDENTIFIER_CHARS],
        text=comparable(parameters.get("q"))[:MAX_TEXT_CHARS],
    )


def parse_moment(text: str) -> datetime | None:
    """Return the moment that a text names, in the zone of the page where it names no offset; None for none."""
    try:
        found = parse_datetime(text[:40])
    except ValueError:
        return None
    if found is None or not 1 < found.year < 9_999:
        return None
    return make_aware(found) if is_naive(found) else found
