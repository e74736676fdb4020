"""Requests for tools, counted by day in the database, which all processes share and a restart keeps.

The metrics count the same since their process began. A count does not wait for the disk: what can be lost with the
database's machine is the last second of some counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import connection, transaction
from django.db.models import Sum

from apps.core.db.statements import Statement, run
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.llm.domain.protocol.statistics import COUNTERS, ProtocolStatistics
from apps.llm.domain.tools import ToolOutcome, ToolResult
from apps.llm.models import ToolOutputDay, ToolRunDay

KEPT_DAYS = 400
# One label for all names that models invent, whose number has no limit.
UNKNOWN = "unknown"
_WITHOUT_WAITING = Statement("SET LOCAL synchronous_commit = off")
_ADDED = ", ".join(f"{name} = llm_tooloutputday.{name} + EXCLUDED.{name}" for name in COUNTERS)
_COUNT_OUTPUT = f"""
INSERT INTO llm_tooloutputday (day, {", ".join(COUNTERS)}) VALUES (%s, {", ".join(["%s"] * len(COUNTERS))})
ON CONFLICT (day) DO UPDATE SET {_ADDED}
"""  # noqa: S608  (our own names)
_COUNT_RUNS = """
INSERT INTO llm_toolrunday (day, tool, protocol, outcome, runs) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (day, tool, protocol, outcome) DO UPDATE SET runs = llm_toolrunday.runs + EXCLUDED.runs
"""


@dataclass(frozen=True)
class RunCount:
    """The number of requests for a tool in one protocol with one outcome."""

    tool: str
    protocol: str
    outcome: str
    runs: int


@dataclass(frozen=True)
class ToolStatistics:
    """Requests for tools from `since` on. by_day: each day, oldest first."""

    since: date
    total: ProtocolStatistics
    by_day: Mapping[date, ProtocolStatistics]
    runs: tuple[RunCount, ...]


def counted_name(result: ToolResult) -> str:
    """Return the name under which a run is counted."""
    return UNKNOWN if result.outcome is ToolOutcome.UNKNOWN_TOOL else result.name


def output_count(*, statistics: ProtocolStatistics, clock: Clock = SYSTEM_CLOCK) -> None:
    """Count one or several outputs, today."""
    counts = [getattr(statistics, name) for name in COUNTERS]
    write_counts([Statement(_COUNT_OUTPUT, [utcnow(clock).date(), *counts])])


def runs_count(*, results: Iterable[ToolResult], clock: Clock = SYSTEM_CLOCK) -> None:
    """Count the outcomes of requests, today."""
    today = utcnow(clock).date()
    counts = Counter((counted_name(result), result.protocol.value, result.outcome.value) for result in results)
    # In one order, so that two callers never deadlock.
    write_counts([Statement(_COUNT_RUNS, [today, *key, runs]) for key, runs in sorted(counts.items())])


def tool_counts_trim(*, clock: Clock = SYSTEM_CLOCK) -> None:
    """Delete the counts of days that are no longer shown."""
    before = utcnow(clock).date() - timedelta(days=KEPT_DAYS)
    ToolOutputDay.objects.filter(day__lt=before).delete()
    ToolRunDay.objects.filter(day__lt=before).delete()


def tool_statistics(days: int, *, clock: Clock = SYSTEM_CLOCK) -> ToolStatistics:
    """Return the counts of the last `days` days, today among them."""
    today = utcnow(clock).date()
    since = today - timedelta(days=days - 1)
    rows = ToolOutputDay.objects.filter(day__range=(since, today))
    found = {row.day: ProtocolStatistics(**{name: getattr(row, name) for name in COUNTERS}) for row in rows}
    by_day = {day: found.get(day, ProtocolStatistics()) for day in (since + timedelta(days=n) for n in range(days))}
    runs = ToolRunDay.objects.filter(day__range=(since, today)).order_by("tool", "protocol", "outcome")
    grouped = runs.values_list("tool", "protocol", "outcome").annotate(Sum("runs"))
    total = sum(by_day.values(), ProtocolStatistics())
    return ToolStatistics(since, total, by_day, tuple(RunCount(*row) for row in grouped))


def write_counts(statements: list[Statement]) -> None:
    """Write counts without waiting for the disk, unless in a transaction of the caller."""
    if not statements:
        return
    # A caller's own transaction may hold what must reach the disk.
    before = [] if connection.in_atomic_block else [_WITHOUT_WAITING]
    with transaction.atomic(savepoint=False):
        run(*before, *statements)
