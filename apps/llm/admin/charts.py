"""Charts of the pages about models: bars by day, and the gauge of the budget."""

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
class BarPart:
    """A part of a bar. tone: the class of its colour. height: in percent of the chart."""

    tone: str
    height: float


@dataclass(frozen=True)
class DayBar:
    """A day. text: what it says, in words. label: its day where there is room for one."""

    day: date
    parts: tuple[BarPart, ...]
    text: str
    label: str


def spending_chart(days: Sequence[SpentDay], limit: Decimal | None) -> dict[str, Any]:
    """Return bars of what was spent by day, and the line of today's limit."""
    highest = max([*(one.spent for one in days), limit or Decimal(0)]) or Decimal(1)
    bars = [
        DayBar(one.day, *spent_parts(one, highest), day_label(number, len(days), one.day))
        for number, one in enumerate(days)
    ]
    return {
        "bars": bars,
        "top": dollars(highest),
        "line": share_of_height(limit, highest) if limit else None,
        "line_label": f"limit {dollars(limit)}" if limit else "",
        "total": dollars(sum((one.spent for one in days), Decimal(0))),
        "is_empty": not any(one.spent for one in days),
    }


def protocol_chart(by_day: Mapping[date, ProtocolStatistics]) -> dict[str, Any]:
    """Return bars of the outputs of each day, by protocol."""
    highest = max((one.outputs for one in by_day.values()), default=0) or 1
    bars = [
        DayBar(day, *protocol_parts(day, one, highest), day_label(number, len(by_day), day))
        for number, (day, one) in enumerate(by_day.items())
    ]
    legend = [(f"mh-{name}", label) for name, label in PROTOCOLS]
    return {"bars": bars, "top": f"{highest:,}", "legend": legend, "line": None}


def gauge(budget: BudgetStatus) -> dict[str, Any]:
    """Return the arc of a budget: what is spent, and above it what is reserved, in percent of the arc."""
    spent = min(100.0, budget.percent)
    return {
        "tone": budget.tone,
        "spent": f"{spent:.2f}",
        "committed": f"{min(100.0, budget.percent + budget.reserved_percent):.2f}",
        "percent": f"{budget.percent:,.0f}" if budget.percent >= 10 else f"{budget.percent:.1f}",
        # By how many degrees the mark of a threshold is turned from the left end of the arc.
        "ticks": [
            {"threshold": threshold, "degrees": f"{threshold * 1.8:.1f}"} for threshold in WARNING_THRESHOLDS[:-1]
        ],
    }


def spent_parts(one: SpentDay, highest: Decimal) -> tuple[tuple[BarPart, ...], str]:
    """Return the parts of a bar of spending, and what it says."""
    share = one.spent * 100 / one.limit if one.limit else Decimal(0)
    tone = "mh-bad" if share >= 100 else "mh-warn" if share >= 70 else "mh-spent"
    parts = (
        BarPart("mh-waived", share_of_height(one.waived, highest)),
        BarPart(tone, share_of_height(one.spent - one.waived, highest)),
    )
    of = f" of {dollars(one.limit)}" if one.limit else ""
    waived = f", {dollars(one.waived)} of it waived" if one.waived else ""
    return tuple(part for part in parts if part.height), f"{one.day.isoformat()}: {dollars(one.spent)}{of}{waived}"


def protocol_parts(day: date, one: ProtocolStatistics, highest: int) -> tuple[tuple[BarPart, ...], str]:
    """Return the parts of a bar of outputs, and what it says."""
    parts = [BarPart(f"mh-{name}", share_of_height(getattr(one, name), highest)) for name, _ in reversed(PROTOCOLS)]
    counts = ", ".join(f"{getattr(one, name):,} {label}" for name, label in PROTOCOLS)
    return tuple(part for part in parts if part.height), f"{day.isoformat()}: {counts}"


def share_of_height(value: Decimal | int | None, highest: Decimal | int) -> float:
    """Return a height in percent of the chart, no lower than what can be seen."""
    return max(LOWEST, round(float(value / highest) * 100, 2)) if value else 0.0


def day_label(number: int, count: int, day: date) -> str:
    """Return the label of a bar: the last day has one, and every fifth before it."""
    return f"{day:%b} {day.day}" if (count - 1 - number) % LABELLED_EVERY == 0 else ""
