"""The four charts of the first page, of the samples that the worker takes every minute, over a span of time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from apps.core.admin.charts import Chart, Series
from apps.core.words import Words
from apps.monitor.services import series_read


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


Values = Mapping[str, Sequence[tuple[datetime, float | None]]]


@dataclass(frozen=True, kw_only=True)
class ChartPlan:
    """A chart before its numbers are read. series: name of a series, its label and its tone."""

    name: str
    title: Words
    series: tuple[tuple[str, Words, str], ...]
    unit: str = ""
    is_bars: bool = True
    is_stacked: bool = False
    is_whole: bool = True


PLANS = (
    ChartPlan(
        name="requests",
        title=_("Requests and errors"),
        series=(
            ("requests", _("Requests"), "accent"),
            ("errors_4xx", _("Refused"), "warn"),
            ("errors_5xx", _("Failed"), "bad"),
        ),
    ),
    ChartPlan(
        name="searches",
        title=_("How long searches take"),
        series=(("search_p50", _("Median"), "info"), ("search_p95", _("95th percentile"), "warn")),
        unit="ms",
        is_bars=False,
        is_whole=False,
    ),
    ChartPlan(
        name="saves",
        title=_("Saves and events"),
        series=(("saves", _("Memories"), "accent"), ("events_recorded", _("Events"), "good")),
    ),
    ChartPlan(
        name="decisions",
        title=_("Decisions by outcome"),
        series=(
            ("decisions_superseded_existing", _("Superseded"), "accent"),
            ("decisions_merged", _("Merged"), "good"),
            ("decisions_kept_existing", _("Kept existing"), "info"),
            ("decisions_rejected", _("Rejected"), "bad"),
            ("decisions_noticed", _("Noticed"), "warn"),
            ("decisions_kept_both", _("Kept both"), "quiet"),
            ("decisions_reverted", _("Reverted"), "loud"),
        ),
        is_stacked=True,
    ),
)


def now_charts(span: Span, now: datetime) -> list[Chart]:
    """Return the charts of a span until now; all their series are read at once."""
    names = [name for plan in PLANS for name, _label, _tone in plan.series]
    values = series_read(names, now - span.length, now, span.points)
    return [build_chart(plan, values, span) for plan in PLANS]


def build_chart(plan: ChartPlan, values: Values, span: Span) -> Chart:
    """Return one chart with its numbers, from its first sample on."""
    found = {name: values.get(name, ()) for name, _label, _tone in plan.series}
    sampled = [at for each in found.values() for at, value in each if value is not None]
    first = min(sampled, default=None)
    if first is not None:
        found = {name: [one for one in each if one[0] >= first] for name, each in found.items()}
    moments = [at for at, _ in max(found.values(), key=len)]
    return Chart(
        name=plan.name,
        title=str(plan.title),
        labels=[span.label(at) for at in moments],
        series=[
            Series(label=str(label), values=[value for _, value in found[name]] or [None] * len(moments), tone=tone)
            for name, label, tone in plan.series
        ],
        unit=plan.unit,
        is_bars=plan.is_bars,
        is_stacked=plan.is_stacked,
        is_whole=plan.is_whole,
    )
