"""Charts of the pages about models: bars by the day, and the gauge of the budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from apps.core.admin.kit import dollars
from apps.llm.domain.budget import WARNING_THRESHOLDS
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.guards.calls import SpentDay
from apps.llm.guards.status import BudgetStatus

# A bar lower than that, in percent of the chart, would not be seen.
LOWEST = 2.0
LABELLED_EVERY = 5
PROTOCOLS = (("abp", "ABP"), ("vcp", "VCP"), ("text", "no tool asked for"))


@dataclass(frozen=True)
class Part:
    """A part of a bar. tone: the class of its colour. height: in percent of the chart."""

    tone: str
    height: float


@dataclass(frozen=True)
class Bar:
    """A day. told: what it says, in words. label: its day where there is room for one."""

    day: date
    parts: tuple[Part, ...]
    told: str
    label: str


def spending_chart(days: Sequence[SpentDay], limit: Decimal | None) -> dict[str, Any]:
    """Bars of what was spent by the day, and the line of today's limit."""
    highest = max([*(one.spent for one in days), limit or Decimal(0)]) or Decimal(1)
    bars = [
        Bar(one.day, _spent_parts(one, highest), _spent_words(one), _label(number, len(days), one.day))
        for number, one in enumerate(days)
    ]
    return {
        "bars": bars,
        "top": dollars(highest),
        "line": _share(limit, highest) if limit else None,
        "line_label": f"limit {dollars(limit)}" if limit else "",
        "total": dollars(sum((one.spent for one in days), Decimal(0))),
        "is_empty": not any(one.spent for one in days),
    }


def protocol_chart(by_day: Mapping[date, ProtocolStatistics]) -> dict[str, Any]:
    """Bars of the outputs of each day, by protocol."""
    highest = max((one.outputs for one in by_day.values()), default=0) or 1
    bars = [
        Bar(day, _protocol_parts(one, highest), _protocol_words(day, one), _label(number, len(by_day), day))
        for number, (day, one) in enumerate(by_day.items())
    ]
    legend = [(f"mh-{name}", label) for name, label in PROTOCOLS]
    return {"bars": bars, "top": f"{highest:,}", "legend": legend, "line": None}


def gauge(budget: BudgetStatus) -> dict[str, Any]:
    """The arc of a budget: what is spent, and above it what is reserved, in percent of the arc."""
    spent = min(100.0, budget.percent)
    return {
        "tone": budget.tone,
        "spent": f"{spent:.2f}",
        "committed": f"{min(100.0, budget.percent + budget.reserved_percent):.2f}",
        "percent": f"{budget.percent:,.0f}" if budget.percent >= 10 else f"{budget.percent:.1f}",
        "ticks": [_tick(threshold) for threshold in WARNING_THRESHOLDS[:-1]],
    }


def _spent_parts(one: SpentDay, highest: Decimal) -> tuple[Part, ...]:
    counted = one.spent - one.waived
    share = one.spent * 100 / one.limit if one.limit else Decimal(0)
    tone = "mh-bad" if share >= 100 else "mh-warn" if share >= 70 else "mh-spent"
    parts = [Part("mh-waived", _share(one.waived, highest)), Part(tone, _share(counted, highest))]
    return tuple(part for part in parts if part.height)


def _spent_words(one: SpentDay) -> str:
    of = f" of {dollars(one.limit)}" if one.limit else ""
    waived = f", {dollars(one.waived)} of it waived" if one.waived else ""
    return f"{one.day.isoformat()}: {dollars(one.spent)}{of}{waived}"


def _protocol_parts(one: ProtocolStatistics, highest: int) -> tuple[Part, ...]:
    parts = [Part(f"mh-{name}", _share(getattr(one, name), highest)) for name, _ in reversed(PROTOCOLS)]
    return tuple(part for part in parts if part.height)


def _protocol_words(day: date, one: ProtocolStatistics) -> str:
    counts = ", ".join(f"{getattr(one, name):,} {label}" for name, label in PROTOCOLS)
    return f"{day.isoformat()}: {counts}"


def _share(value: Decimal | int | None, highest: Decimal | int) -> float:
    return max(LOWEST, round(float(value / highest) * 100, 2)) if value else 0.0


def _label(number: int, count: int, day: date) -> str:
    """The last day has one, and every fifth before it."""
    return f"{day:%b} {day.day}" if (count - 1 - number) % LABELLED_EVERY == 0 else ""


def _tick(threshold: int) -> dict[str, Any]:
    """Where a threshold is on the arc: by how many degrees its mark is turned from the left end."""
    return {"threshold": threshold, "degrees": f"{threshold * 1.8:.1f}"}
