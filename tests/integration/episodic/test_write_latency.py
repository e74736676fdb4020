"""Slow writes are noticed by the process that writes."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from apps.core.domain.clock import DeterministicClock
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.recording import record
from apps.episodic.recording.record import REPORT_EVERY_MS, Stopwatch, WriteLatency

LIMIT = 100


@pytest.fixture(autouse=True)
def _limit(settings: Any) -> None:
    timeline = replace(settings.MEMORYHUB.timeline, write_ms=LIMIT)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, timeline=timeline)


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was reported, instead of reporting it."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(record, "warning_report", lambda **given: sent.append(given))
    return sent


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(0)


def test_slow_writes_are_reported_with_their_figure(reports: list[dict[str, Any]], clock: DeterministicClock) -> None:
    watched = WriteLatency()
    for _ in range(3):
        watched.note(250, clock=clock)
    assert reports == [
        {
            "kind": WarningKind.WRITE_LATENCY,
            "severity": Severity.WARNING,
            "detail": "The 95th percentile of recent writes is 250 ms; the limit is 100 ms.",
            "clock": clock,
        }
    ]


def test_slow_writes_are_reported_every_ten_seconds(reports: list[dict[str, Any]], clock: DeterministicClock) -> None:
    watched = WriteLatency()
    for _ in range(30):
        watched.note(1_000, clock=clock)
        clock.advance(REPORT_EVERY_MS // 5)
    assert [report["severity"] for report in reports] == [Severity.CRITICAL] * 6


def test_quick_writes_are_not_reported(reports: list[dict[str, Any]], clock: DeterministicClock) -> None:
    watched = WriteLatency()
    for _ in range(300):
        watched.note(LIMIT, clock=clock)
    assert reports == []


def test_writes_of_many_threads_are_counted_together(reports: list[dict[str, Any]], clock: DeterministicClock) -> None:
    watched = WriteLatency()
    threads = [threading.Thread(target=watched.note, args=[250], kwargs={"clock": clock}) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 1


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The durations that were noted, where every call takes 1,000 ms."""
    durations: list[float] = []
    times = iter(range(0, 1_000_000, 1_000))
    monkeypatch.setattr(record, "monotonic_ms", lambda: next(times))
    monkeypatch.setattr(record.write_latency, "note", lambda duration, clock: durations.append(duration))
    return durations


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("count", "expected"), [(0, 1_000), (1, 1_000), (100, 1_000), (101, 500), (1_000, 100)])
def test_batch_may_take_as_long_as_one_write_for_every_hundred_of_it(
    noted: list[float], count: int, expected: float
) -> None:
    Stopwatch(count).stop()
    assert noted == [expected]


@pytest.mark.django_db(transaction=True)
def test_write_in_transaction_is_noted_after_commit(noted: list[float]) -> None:
    with transaction.atomic():
        Stopwatch(1).stop()
        assert noted == []
    assert noted == [1_000]


@pytest.mark.django_db(transaction=True)
def test_failing_to_warn_fails_no_write(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(duration: float, clock: Any) -> None:
        raise OSError("nowhere to warn")

    monkeypatch.setattr(record.write_latency, "note", fail)
    Stopwatch(1).stop()
    assert "nowhere to warn" in caplog.text
