"""The figures over time on the page of budget and breakers: all of them over one span."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.charts import Chart, Series
from apps.core.admin.kit import dollars, moment
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.pages.times import in_figures, in_words
from apps.core.words import Words
from apps.llm.admin.charts import day_label, money
from apps.llm.domain.breaker import Phase
from apps.llm.domain.forecast import LEAST_DAYS, Forecast, PhaseSpan
from apps.llm.domain.refusals import Help, advice_for
from apps.llm.guards.figures import (
    Buckets,
    Latencies,
    Refusals,
    breaker_lines,
    latencies_over,
    refused_calls,
    spending_forecast,
    spent_on,
)
from apps.llm.reasons import reason_words

DAY = timedelta(days=1)
TITLES = {"purpose": _("Spent by purpose"), "model": _("Spent by model"), "actor": _("Spent by key")}
# The largest values of a dimension, and one colour for all others.
TONES = ("accent", "good", "warn", "info", "loud")
LATENCY_TONES = (("info", "accent"), ("good", "loud"), ("warn", "bad"))
PHASE_TONES = {Phase.CLOSED: "good", Phase.HALF_OPEN: "info", Phase.OPEN: "bad"}
# Of 16, so that the phases differ not by colour alone.
PHASE_HEIGHTS = {Phase.CLOSED: 4, Phase.HALF_OPEN: 10, Phase.OPEN: 16}
PHASE_WORDS = {Phase.CLOSED: _("closed"), Phase.HALF_OPEN: _("half-open"), Phase.OPEN: _("open")}
LINE_WIDTH = 1_000
SHOWN_CHANGES = 50


@dataclass(frozen=True)
class Button:
    """What helps. is_dialog: it asks on the page itself."""

    label: str
    link: str
    is_dialog: bool = False


@dataclass(frozen=True)
class ChartRange:
    """A span of whole days that charts show. hours: of a value of the latencies."""

    name: str
    title: Words
    days: int
    hours: int


SPANS = (
    ChartRange("7d", _("7 days"), 7, 6),
    ChartRange("30d", _("30 days"), 30, 24),
    ChartRange("90d", _("90 days"), 90, 24),
)


def asked_span(request: HttpRequest) -> ChartRange:
    """Return the span that a request names as `range`, else 30 days."""
    name = request.GET.get("range", "")
    return next((span for span in SPANS if span.name == name), SPANS[1])


def figures_page(
    span: ChartRange, limit: Decimal | None, *, buttons: Mapping[Help, Button], clock: Clock = SYSTEM_CLOCK
) -> dict[str, Any]:
    """Return the context of templates/llm/figures.html. limit: of a day. buttons: see `helpful_buttons`."""
    now = utcnow(clock)
    midnight = datetime.combine(now.astimezone(UTC).date() + DAY, time(), UTC)
    start = midnight - span.days * DAY
    days = Buckets(start, DAY, span.days)
    parts = Buckets(start, timedelta(hours=span.hours), span.days * 24 // span.hours)
    forecast = spending_forecast(clock=clock)
    return {
        "span": span,
        "spans": SPANS,
        "money": [spent_chart(name, values, days, limit, forecast) for name, values in spent_on(days).items()],
        "forecast": describe_forecast(forecast, limit),
        "latency": latency_chart(latencies_over(parts), parts),
        "lines": list(describe_lines(breaker_lines(start, now), start, now)),
        "refused": [describe_refusals(one, buttons) for one in refused_calls(start, now)],
    }


def spent_chart(
    name: str, values: Mapping[str, Sequence[Decimal]], days: Buckets, limit: Decimal | None, forecast: Forecast | None
) -> Chart:
    """Return bars of what was spent by day, stacked by the values of a dimension, with what today may still cost."""
    largest = sorted(values, key=lambda value: (-sum(values[value]), value))
    series = [money(value or gettext("none"), tone, values[value]) for value, tone in zip(largest, TONES, strict=False)]
    if rest := largest[len(TONES) :]:
        sums = [sum(amounts, Decimal(0)) for amounts in zip(*(values[value] for value in rest), strict=True)]
        series.append(money(gettext("others (%(count)s)") % {"count": len(rest)}, "quiet", sums))
    if forecast and forecast.rest:
        series.append(money(gettext("Forecast for today"), "line", [Decimal(0)] * (days.count - 1) + [forecast.rest]))
    if limit:
        series.append(money(gettext("Budget"), "bad", [limit] * days.count, is_line=True, is_dashed=True))
    return Chart(
        name=f"spent-{name}",
        title=str(TITLES[name]),
        labels=[day_label(at.date()) for at in days.moments()],
        series=series,
        unit="$",
        is_bars=True,
        is_stacked=True,
        is_whole=False,
    )


def describe_forecast(forecast: Forecast | None, limit: Decimal | None) -> dict[str, Any]:
    """Return the forecast in words, with how it is made."""
    if forecast is None:
        note = gettext("None before there are %(count)s whole days with records of calls.") % {"count": LEAST_DAYS}
        return {"is_known": False, "note": note}
    return {
        "is_known": True,
        "day": dollars(forecast.day),
        "month": dollars(forecast.month),
        "is_above": limit is not None and forecast.day > limit,
        "note": gettext(
            "From the last %(count)s whole days (UTC): today's spending so far, plus the average that those days "
            "cost after this time of day; each remaining day of the month counts as their average."
        )
        % {"count": forecast.days},
    }


def latency_chart(found: Sequence[Latencies], parts: Buckets) -> Chart:
    """Return lines of the median and the 95th percentile of each provider."""
    series = []
    for one, (median, high) in zip(found, LATENCY_TONES, strict=False):
        series.append(duration(gettext("%(provider)s, median") % {"provider": one.provider}, median, one.median))
        series.append(duration(gettext("%(provider)s, 95th percentile") % {"provider": one.provider}, high, one.p95))
    is_daily = parts.width >= DAY
    return Chart(
        name="latency",
        title=gettext("How long calls took"),
        labels=[f"{day_label(at.date())}{'' if is_daily else f', {at:%H:%M}'}" for at in parts.moments()],
        series=series,
        unit="s",
        is_whole=False,
        note=gettext(
            "Successful calls with all their tries and waits, by start time (UTC). A gap means there were none."
        ),
    )


def duration(label: str, tone: str, milliseconds: Sequence[float | None]) -> Series:
    """Return a series of seconds."""
    return Series(
        label=label,
        tone=tone,
        values=[None if value is None else round(value / 1_000, 3) for value in milliseconds],
        words=[gettext("no call") if value is None else in_figures(value) for value in milliseconds],
    )


def describe_lines(
    lines: Mapping[str, Sequence[PhaseSpan]], start: datetime, end: datetime
) -> Iterator[dict[str, Any]]:
    """Yield the line of states of each breaker, drawn in LINE_WIDTH parts, and its phases as rows, the latest first."""
    for provider, spans in lines.items():
        opened = [span for span in spans if span.phase is Phase.OPEN]
        times = ngettext("open once", "open %(count)s times", len(opened)) % {"count": len(opened)}
        yield {
            "provider": provider,
            "says": times if opened else gettext("never open"),
            "parts": [describe_part(span, start, end) for span in spans],
            "rows": [
                (moment(span.start), capfirst(PHASE_WORDS[span.phase]), in_words(span.end - span.start))
                for span in reversed(spans[-SHOWN_CHANGES:])
            ],
        }


def describe_part(span: PhaseSpan, start: datetime, end: datetime) -> dict[str, Any]:
    """Return where a phase is on its line; one of seconds is still seen."""
    x = int(LINE_WIDTH * ((span.start - start) / (end - start)))
    width = int(LINE_WIDTH * ((span.end - start) / (end - start))) - x
    return {
        "x": min(x, LINE_WIDTH - 4),
        "width": max(width, 4),
        "tone": PHASE_TONES[span.phase],
        "title": gettext("%(phase)s from %(time)s, %(span)s")
        % {
            "phase": PHASE_WORDS[span.phase],
            "time": moment(span.start),
            "span": in_words(span.end - span.start),
        },
        "y": (16 - PHASE_HEIGHTS[span.phase]) // 2,
        "height": PHASE_HEIGHTS[span.phase],
    }


def describe_refusals(refused: Refusals, buttons: Mapping[Help, Button]) -> dict[str, Any]:
    """Return calls that were refused for one reason, with the one thing that helps."""
    advice = advice_for(refused.guard, refused.reason)
    calls = reverse("admin:llm_modelcall_changelist")
    return {
        "reason": gettext("%(guard)s: %(reason)s")
        % {"guard": reason_words(refused.guard), "reason": reason_words(refused.reason)},
        "count": ngettext("%(n)s call", "%(n)s calls", refused.count) % {"n": f"{refused.count:,}"},
        "last": moment(refused.last),
        "what": gettext(advice.what),
        "remedy": gettext(advice.remedy),
        "setting": advice.setting,
        "button": buttons.get(advice.help),
        "calls": f"{calls}?{urlencode({'outcome': 'refused', 'guard': refused.guard})}",
    }


def helpful_buttons(user: Any, page: Mapping[str, Any]) -> dict[Help, Button]:
    """Return what would help now and the person may do; a setting is of the environment, which no button changes.

    page: the context of `budget_page`. Nothing is offered that would change nothing.
    """
    buttons = {}
    if page["today"]["has_spent"] and user.has_perm("llm.change_budgetday"):
        buttons[Help.WAIVE] = Button(
            gettext("Reset today's spending"), reverse("admin:llm_budgetday_waive_today"), is_dialog=True
        )
    for provider in reversed(page["providers"]):
        if provider["unpriced"] and user.has_perm("llm.add_price"):
            model = urlencode({"provider": provider["name"], "model": provider["unpriced"][0]})
            label = gettext("Add a price for %(model)s") % {"model": provider["unpriced"][0]}
            buttons[Help.PRICE] = Button(label, f"{reverse('admin:llm_price_add')}?{model}")
        if provider["reset"] and not provider["is_closed"]:
            label = gettext("Reset the breaker of %(provider)s") % {"provider": provider["name"]}
            buttons[Help.RESET] = Button(label, provider["reset"])
    return buttons
