"""What the timeline warns about: begun once, made worse and ended, with hub events (spec 000, Warning escalation)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from prometheus_client import REGISTRY

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.episodic.models import Segment, TimelineWarning
from apps.episodic.warnings import (
    active_warnings,
    refresh_warning_metrics,
    suspending_warnings,
    warning_end,
    warning_report,
)
from apps.events.models import Event
from tests.threads import at_once

pytestmark = pytest.mark.django_db

START = 1_770_000_000_000


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(START)


@pytest.fixture
def report(clock: DeterministicClock) -> Callable[..., bool]:
    """Report slow writes, or what is given."""

    def send(**changes: Any) -> bool:
        given = {"kind": WarningKind.WRITE_LATENCY, "severity": Severity.WARNING, "detail": "slow", **changes}
        return warning_report(**given, clock=clock)

    return send


def emitted() -> list[tuple[str, dict[str, Any]]]:
    return list(Event.objects.order_by("id").values_list("name", "payload"))


def a_segment() -> Segment:
    return Segment.objects.create(state="archived", sha256="x", file_name=str(uuid4()), opened_at=to_datetime(START))


def test_scenario_warning_escalation_severity_and_hint(report: Callable[..., bool]) -> None:
    segment = a_segment()
    assert report(kind=WarningKind.SEGMENT_DAMAGED, severity=Severity.CRITICAL, detail="bad checksum", segment=segment)
    assert emitted() == [
        (
            "memory:episodic:warning",
            {
                "kind": "segment_damaged",
                "severity": "critical",
                "detail": "bad checksum",
                "hint": HINTS[WarningKind.SEGMENT_DAMAGED],
                "segment_id": str(segment.uuid),
                "at": to_datetime(START).isoformat(),
            },
        )
    ]


def test_scenario_warning_escalation_a_healthy_signal_ends_it(
    report: Callable[..., bool], clock: DeterministicClock
) -> None:
    report()
    clock.advance(60_000)
    assert warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)
    name, payload = emitted()[-1]
    assert name == "memory:episodic:healthy"
    assert payload == {
        "kind": "write_latency",
        "segment_id": None,
        "warned_at": to_datetime(START).isoformat(),
        "is_healthy": True,
        "at": to_datetime(START + 60_000).isoformat(),
    }
    assert not active_warnings().exists()


def test_every_kind_has_a_hint() -> None:
    assert set(HINTS) == set(WarningKind)


def test_what_is_noticed_again_is_only_seen_again(report: Callable[..., bool], clock: DeterministicClock) -> None:
    report()
    clock.advance(4_999)
    assert not report(detail="still slow")
    warning = active_warnings().get()
    assert (warning.last_seen_at, warning.detail) == (to_datetime(START), "slow")
    clock.advance(1)
    assert not report(detail="slower")
    warning = active_warnings().get()
    assert (warning.began_at, warning.last_seen_at) == (to_datetime(START), to_datetime(START + 5_000))
    assert warning.detail == "slower"
    assert len(emitted()) == 1


def test_worse_severity_is_reported_better_one_ignored(report: Callable[..., bool]) -> None:
    assert report(severity=Severity.NOTICE)
    assert not suspending_warnings().exists()
    assert report(severity=Severity.CRITICAL, detail="very slow")
    assert not report(severity=Severity.WARNING)
    assert active_warnings().get().severity == Severity.CRITICAL
    assert [payload["severity"] for _, payload in emitted()] == ["notice", "critical"]


def test_each_segment_and_kind_has_warning_of_its_own(report: Callable[..., bool], clock: DeterministicClock) -> None:
    segments = [a_segment(), a_segment()]
    for segment in segments:
        assert report(kind=WarningKind.SEGMENT_DAMAGED, segment=segment)
    assert report(kind=WarningKind.CAPACITY)
    assert active_warnings().count() == 3
    assert warning_end(kind=WarningKind.SEGMENT_DAMAGED, segment=segments[0], clock=clock)
    assert not warning_end(kind=WarningKind.SEGMENT_DAMAGED, clock=clock)
    assert active_warnings().count() == 2


def test_it_is_healthy_only_when_nothing_suspends_any_more(
    report: Callable[..., bool], clock: DeterministicClock
) -> None:
    report()
    report(kind=WarningKind.CAPACITY)
    report(kind=WarningKind.MAINTENANCE_FAILED, severity=Severity.NOTICE)
    warning_end(kind=WarningKind.CAPACITY, clock=clock)
    warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)
    assert [payload["is_healthy"] for name, payload in emitted() if name.endswith("healthy")] == [False, True]


def test_ending_what_is_not_there_says_so_and_tells_nobody(clock: DeterministicClock) -> None:
    assert not warning_end(kind=WarningKind.CAPACITY, clock=clock)
    assert emitted() == []


def test_what_is_over_may_begin_again(report: Callable[..., bool], clock: DeterministicClock) -> None:
    report()
    warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock)
    assert report()
    assert TimelineWarning.objects.count() == 2


def test_warning_that_is_rolled_back_was_never_told(report: Callable[..., bool]) -> None:
    with transaction.atomic():
        report()
        transaction.set_rollback(True)
    assert emitted() == []
    assert not active_warnings().exists()


def test_a_detail_is_cut_where_the_column_ends(report: Callable[..., bool]) -> None:
    report(detail="x" * 600)
    assert active_warnings().get().detail == "x" * 500


def test_database_keeps_no_second_active_warning_of_kind(report: Callable[..., bool]) -> None:
    report()
    copy = active_warnings().get()
    copy.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        copy.save(force_insert=True)


def gauge(kind: WarningKind) -> float | None:
    return REGISTRY.get_sample_value("memoryhub_timeline_warnings", {"kind": kind.value})


@pytest.mark.django_db(transaction=True)
def test_the_metrics_show_how_many_are_active(report: Callable[..., bool], clock: DeterministicClock) -> None:
    for segment in (a_segment(), a_segment()):
        report(kind=WarningKind.SEGMENT_DAMAGED, segment=segment)
    assert gauge(WarningKind.SEGMENT_DAMAGED) == 2
    warning_end(kind=WarningKind.SEGMENT_DAMAGED, segment=Segment.objects.all()[0], clock=clock)
    assert gauge(WarningKind.SEGMENT_DAMAGED) == 1
    TimelineWarning.objects.update(ended_at=to_datetime(START) + timedelta(minutes=1))
    refresh_warning_metrics()
    assert gauge(WarningKind.SEGMENT_DAMAGED) == 0


@pytest.mark.django_db(transaction=True)
def test_concurrent_reports_are_one_warning_and_one_event(report: Callable[..., bool]) -> None:
    segment = a_segment()
    news = at_once(*[lambda: report(kind=WarningKind.SEGMENT_DAMAGED, segment=segment)] * 8, *[report] * 8)
    assert sorted(news) == [False] * 14 + [True] * 2
    assert active_warnings().count() == len(emitted()) == 2


@pytest.mark.django_db(transaction=True)
def test_later_of_two_ends_is_healthy_signal(report: Callable[..., bool], clock: DeterministicClock) -> None:
    for _ in range(5):
        report()
        report(kind=WarningKind.CAPACITY)
        at_once(
            lambda: warning_end(kind=WarningKind.CAPACITY, clock=clock),
            lambda: warning_end(kind=WarningKind.WRITE_LATENCY, clock=clock),
        )
    ends = [payload["is_healthy"] for name, payload in emitted() if name.endswith("healthy")]
    assert sorted(ends) == [False] * 5 + [True] * 5
