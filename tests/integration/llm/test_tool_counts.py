"""Counts of how models ask for tools, by the day: spec 000 "Dual protocol mode", fallback statistics."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Access, Permission, Scope
from apps.llm.domain.protocol.results import Protocol
from apps.llm.domain.protocol.statistics import ProtocolStatistics
from apps.llm.domain.tools import ToolOutcome, ToolResult
from apps.llm.models import BlockProtocol, RunOutcome, ToolOutputDay, ToolRunDay
from apps.llm.tasks import sweep_guards
from apps.llm.tools.counts import KEPT_DAYS, RunCount, output_count, runs_count, tool_counts_trim, tool_statistics
from apps.llm.tools.requests import output_execute, output_parse
from tests.threads import at_once
from tests.unit.llm.protocol.outputs import END, SAVE, abp, vcp

TODAY = date(2026, 5, 10)
DAY = 86_400_000
READER = Access(Scope(), Permission.READ, "test")


def clock(days_ago: int = 0) -> DeterministicClock:
    return DeterministicClock(int(datetime(2026, 5, 10, 12, tzinfo=UTC).timestamp()) * 1_000 - days_ago * DAY)


def result(name: str = "memory_save", outcome: ToolOutcome = ToolOutcome.DONE, **more: Any) -> ToolResult:
    return ToolResult(name, more.get("protocol", Protocol.ABP), outcome)


ONE = ProtocolStatistics(outputs=1, abp=1, fixed=1)
FALLBACK = ProtocolStatistics(outputs=1, vcp=1, abp_failed=1, fallback_to_vcp=1, refused=2)


@pytest.mark.django_db
class TestCounting:
    def test_outputs_are_added_up_by_the_day(self) -> None:
        for ago, statistics in ((0, ONE), (0, FALLBACK), (2, ONE), (3, ONE)):
            output_count(statistics=statistics, clock=clock(ago))
        found = tool_statistics(3, clock=clock())
        assert list(found.by_day) == [date(2026, 5, 8), date(2026, 5, 9), TODAY]
        assert list(found.by_day.values()) == [ONE, ProtocolStatistics(), ONE + FALLBACK]
        assert (found.since, found.total) == (date(2026, 5, 8), ONE + ONE + FALLBACK)

    def test_runs_are_added_up_by_tool_protocol_and_outcome(self) -> None:
        runs_count(results=[result(), result(), result(outcome=ToolOutcome.FAILED)], clock=clock())
        runs_count(results=[result(protocol=Protocol.VCP)], clock=clock(1))
        runs_count(results=[result(), result("event_query")], clock=clock(2))
        assert tool_statistics(2, clock=clock()).runs == (
            RunCount("memory_save", "abp", "done", 2),
            RunCount("memory_save", "abp", "failed", 1),
            RunCount("memory_save", "vcp", "done", 1),
        )

    def test_names_that_models_make_up_are_counted_together(self) -> None:
        made_up = [result(name, ToolOutcome.UNKNOWN_TOOL) for name in ("x" * 5_000, "y")]
        runs_count(results=made_up, clock=clock())
        assert tool_statistics(1, clock=clock()).runs == (RunCount("unknown", "abp", "unknown_tool", 2),)

    def test_nothing_asked_for_is_no_run(self) -> None:
        runs_count(results=[], clock=clock())
        assert not ToolRunDay.objects.exists()

    def test_without_any_output_there_are_days_without_counts(self) -> None:
        found = tool_statistics(30, clock=clock())
        assert (len(found.by_day), found.total, found.runs) == (30, ProtocolStatistics(), ())
        assert found.total.fallback_rate == 0

    def test_clock_at_midnight_counts_for_new_day(self) -> None:
        midnight = DeterministicClock(int(datetime(2026, 5, 10, tzinfo=UTC).timestamp()) * 1_000)
        output_count(statistics=ONE, clock=midnight)
        midnight.advance(-1)
        output_count(statistics=ONE, clock=midnight)
        assert set(ToolOutputDay.objects.values_list("day", flat=True)) == {TODAY, date(2026, 5, 9)}

    def test_old_days_are_removed(self) -> None:
        for ago in (KEPT_DAYS, KEPT_DAYS + 1):
            output_count(statistics=ONE, clock=clock(ago))
            runs_count(results=[result()], clock=clock(ago))
        tool_counts_trim(clock=clock())
        assert (ToolOutputDay.objects.count(), ToolRunDay.objects.count()) == (1, 1)

    def test_the_hourly_task_removes_old_days(self) -> None:
        ToolOutputDay.objects.create(day=date(2020, 1, 1))
        sweep_guards()
        assert not ToolOutputDay.objects.exists()

    def test_no_output_is_counted_in_two_ways_or_in_none(self) -> None:
        with pytest.raises(IntegrityError), transaction.atomic():
            ToolOutputDay.objects.create(day=TODAY, outputs=2, abp=1)

    def test_transaction_of_caller_still_reaches_disk(self) -> None:
        output_count(statistics=ONE, clock=clock())
        with connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            assert cursor.fetchone() == ("on",)


def test_the_choices_are_those_of_the_domain() -> None:
    assert set(RunOutcome.values) == {outcome.value for outcome in ToolOutcome}
    assert set(BlockProtocol.values) == {protocol.value for protocol in Protocol} - {"text"}


@pytest.mark.django_db
class TestDualProtocolMode:
    def test_what_is_parsed_is_counted(self) -> None:
        broken = f"{SAVE} what?{END}"
        for text in (abp("memory_search", "{}"), vcp("memory_search"), broken, "Nothing to do."):
            output_parse(text=text)
        total = tool_statistics(1).total
        assert (total.outputs, total.abp, total.vcp, total.text) == (4, 1, 1, 2)
        assert (total.abp_failed, total.fallback_to_vcp, total.fallback_to_text) == (1, 1, 1)
        assert (total.asked, total.fallback_rate) == (3, 2 / 3)
        assert not ToolRunDay.objects.exists()

    def test_what_is_run_is_counted_with_its_outcome(self) -> None:
        output_execute(access=READER, text=abp("memory_search", '{"query": "tea"}'))
        output_execute(access=READER, text=abp("memory_save", '{"content": "tea"}'))
        output_execute(access=READER, text=vcp("made_up"))
        assert tool_statistics(1).runs == (
            RunCount("memory_save", "abp", "forbidden", 1),
            RunCount("memory_search", "abp", "done", 1),
            RunCount("unknown", "vcp", "unknown_tool", 1),
        )
        assert tool_statistics(1).total.outputs == 3


@pytest.mark.django_db(transaction=True)
def test_no_count_is_lost_among_callers_at_once() -> None:
    def count() -> None:
        for _ in range(10):
            output_count(statistics=ONE + FALLBACK, clock=clock())
            runs_count(results=[result(), result("event_query")], clock=clock())
            runs_count(results=[result("event_query"), result()], clock=clock())

    at_once(*[count] * 8)
    found = tool_statistics(1, clock=clock())
    assert found.total.outputs == 160
    assert [run.runs for run in found.runs] == [160, 160]
