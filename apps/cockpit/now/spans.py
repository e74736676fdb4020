"""The spans of time that charts show."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from apps.core.words import Words


@dataclass(frozen=True)
class Span:
    """A span until now. points: how many values a series has in it. moment: how a label names one of them."""

    name: str
    title: Words
    length: timedelta
    points: int
    moment: Words

    @property
    def step(self) -> timedelta:
        """Return the time between two values."""
        return self.length / self.points

    def label(self, at: datetime) -> str:
        """Return a moment as a label of the horizontal axis."""
        return date_format(localtime(at), str(self.moment))


SPANS = (
    Span("1h", _("1 hour"), timedelta(hours=1), 60, "H:i"),
    Span("24h", _("24 hours"), timedelta(hours=24), 96, "H:i"),
    Span("7d", _("7 days"), timedelta(days=7), 84, _("D j, H:i")),
    Span("30d", _("30 days"), timedelta(days=30), 90, _("M j, H:i")),
)


def asked_span(request: HttpRequest) -> Span:
    """Return the span that a request names as `range`, else the last 24 hours."""
    name = request.GET.get("range", "")
    return next((span for span in SPANS if span.name == name), SPANS[1])
