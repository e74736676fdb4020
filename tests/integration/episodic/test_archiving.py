"""Files take the place of rows (DESIGN D8)."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.episodic.domain.alarms import WarningKind
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.maintenance import archive
from apps.episodic.maintenance.archive import rows_drop, segment_archive
from apps.episodic.maintenance.compact import segments_replace
from apps.episodic.models import Catalogue, Segment, TimelineEvent
from apps.episodic.recording.record import RecordAction, event_record
from apps.episodic.store.catalogue import StaleSegmentError, catalogue_bump, segment_quarantine
from apps.episodic.warnings import active_warnings
from tests.integration.episodic.upkeep import (
    ACCESS,
    START,
    a_sealed_segment,
    an_archived_segment,
    archived,
    clock_at,
    contents,
    draft,
    expected,
    hot,
    maintain,
    record,
    states,
)
from tests.segments import segment_path
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def version() -> int:
    return Catalogue.objects.get().version if Catalogue.objects.exists() else 0


def flip_a_byte(segment: Segment, place: float = 0.5) -> None:
    """Change one byte of a segment's file, at this share of its size."""
    path = segment_path(segment.file_name)
    raw = bytearray(path.read_bytes())
    raw[int(len(raw) * place)] ^= 0x10
    path.write_bytes(raw)


def test_segment_is_archived_when_it_was_closed_long_enough_ago() -> None:
    segment = a_sealed_segment(range(5))
    maintain(days=6.99)
    segment.refresh_from_db()
    assert segment.state == "sealed"
    assert maintain(days=7).archived == 1
    segment.refresh_from_db()
    assert (segment.state, segment.rows) == ("archived", "gone")
    assert segment.archived_at == START + timedelta(days=7)
    assert (hot(), len(archived())) == ([], 5)


def test_what_is_archived_is_what_was_recorded() -> None:
    a_sealed_segment(range(5), metadata={"a": [1, {"ü": None}]}, importance=0.25)
    before = {event.uuid: event for event in hot()}
    maintain(days=7)
    assert {event.uuid: event for event in archived()} == before


def test_version_of_catalogue_rises_with_change_and_not_with_removal_of_rows() -> None:
    segment = a_sealed_segment(range(5))
    assert version() == 0
    segment_archive(segment, clock=clock_at())
    assert version() == 1
    rows_drop(segment)
    assert version() == 1


def test_version_is_raised_only_together_with_change(transactional_db: None) -> None:
    with pytest.raises(RuntimeError, match=r"transaction\.atomic"):
        catalogue_bump()


def test_rows_leave_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ROWS_AT_ONCE", 2)
    segment = a_sealed_segment(range(5))
    segment_archive(segment, clock=clock_at())
    with CaptureQueriesContext(connection) as queries:
        rows_drop(segment)
    assert sum(query["sql"].startswith("DELETE") for query in queries) == 3
    assert not TimelineEvent.objects.exists()


def test_file_that_was_damaged_while_it_lay_there_does_not_take_place_of_rows() -> None:
    segment = a_sealed_segment(range(20))
    flip_a_byte(segment)
    report = maintain(days=7)
    assert (report.archived, report.damaged) == (0, 1)
    assert contents() == expected(range(20))
    segment.refresh_from_db()
    assert (segment.state, segment.rows) == ("sealing", "complete")
    [warning] = active_warnings()
    assert (warning.kind, warning.severity) == (WarningKind.SEGMENT_DAMAGED, "notice"), "its rows are all there"
    report = maintain(days=7.1)
    assert (report.sealed, report.archived) == (1, 1)
    assert not active_warnings().exists()
    assert contents() == expected(range(20))


def test_file_with_fewer_events_than_rows_does_not_take_their_place() -> None:
    segment = a_sealed_segment(range(5))
    row = TimelineEvent.objects.latest("pk")
    row.pk, row.identity = None, segment.uuid
    row.save(force_insert=True)
    with pytest.raises(SegmentDamagedError, match="as many events"):
        segment_archive(segment, clock=clock_at())


def test_rows_stay_when_their_file_is_found_damaged_before_all_of_them_have_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "ROWS_AT_ONCE", 4)
    segment = a_sealed_segment(range(10))
    segment_archive(segment, clock=clock_at())
    steps: list[str] = []

    def damaged_after_two_batches(step: str) -> None:
        steps.append(step)
        if steps.count("archive: drop rows") == 3:
            segment_quarantine(segment_id=segment.pk, error=SegmentDamagedError(Damage.CHECKSUM, "bad"))

    with pytest.raises(StaleSegmentError):
        rows_drop(segment, step=damaged_after_two_batches)
    segment.refresh_from_db()
    assert (segment.state, segment.rows, TimelineEvent.objects.count()) == ("quarantined", "leaving", 2)
    maintain(days=1)
    assert TimelineEvent.objects.count() == 2, "they may be all that is left"


def test_rows_count_again_when_file_is_damaged() -> None:
    segment = a_sealed_segment(range(10))
    segment_archive(segment, clock=clock_at())
    assert hot() == []
    flip_a_byte(segment)
    assert maintain().damaged == 1
    assert contents() == expected(range(10))
    assert (len(hot()), states()[0]) == (10, "sealing")
    maintain()
    maintain(days=7)
    assert (hot(), contents()) == ([], expected(range(10)))


def test_an_event_that_is_archived_is_known_again() -> None:
    an_archived_segment(range(5))
    result = event_record(access=ACCESS, draft=draft(3), clock=clock_at())
    assert (result.action, result.segment) == (RecordAction.DUPLICATE, None)
    assert record(range(7)) != []
    assert contents() == expected(range(7))


def test_quarantining_twice_warns_once() -> None:
    segment = an_archived_segment(range(5))
    error = SegmentDamagedError(Damage.CHECKSUM, "bad")
    assert segment_quarantine(segment_id=segment.pk, error=error)
    assert not segment_quarantine(segment_id=segment.pk, error=error)
    assert active_warnings().count() == 1
    assert version() == 2


def test_a_replaced_segment_is_not_quarantined() -> None:
    first = an_archived_segment(range(5))
    an_archived_segment(range(5, 10))
    assert maintain().merged == 2
    assert not segment_quarantine(segment_id=first.pk, error=SegmentDamagedError(Damage.MISSING, "gone"))
    assert not active_warnings().exists()


@pytest.mark.django_db(transaction=True)
def test_files_are_not_put_in_or_out_of_service_in_transaction_that_may_still_be_undone() -> None:
    away, sealed = an_archived_segment(range(5)), a_sealed_segment(range(5, 10))
    error = SegmentDamagedError(Damage.CHECKSUM, "bad")
    changes = (
        lambda: segment_quarantine(segment_id=away.pk, error=error),
        lambda: segment_archive(sealed, clock=clock_at()),
        lambda: segments_replace([away], iter(()), clock=clock_at(), on_replace=lambda _: None),
    )
    for change in changes:
        with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
            change()
    assert (version(), states()) == (1, ["archived", "sealed", "open"])


@pytest.mark.django_db(transaction=True)
def test_those_who_find_several_segments_damaged_at_once_never_wait_in_circle() -> None:
    segments = [an_archived_segment(range(number * 5, number * 5 + 5)) for number in range(4)]
    error = SegmentDamagedError(Damage.MISSING, "gone")

    def find(order: Sequence[Segment]) -> int:
        return sum(segment_quarantine(segment_id=segment.pk, error=error) for segment in order)

    found = at_once(*[partial(find, segments[number:] + segments[:number]) for number in range(4)])
    assert sum(found) == 4
    assert sorted(states()) == ["open", *["quarantined"] * 4]
    assert active_warnings().count() == 4
