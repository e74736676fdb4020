"""Damage is found, kept away from everything else, and repaired as far as that can be (DESIGN D8)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.episodic.domain.alarms import WarningKind
from apps.episodic.domain.segment_file.format import Damage, SegmentDamagedError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance import doctor as doctors
from apps.episodic.maintenance import repair as maintenance_repair
from apps.episodic.maintenance.archive import segment_archive
from apps.episodic.maintenance.doctor import DoctorReport, FindingKind, segment_verify, timeline_doctor
from apps.episodic.models import Catalogue, Segment, TimelineEvent
from apps.episodic.store.catalogue import segment_quarantine
from apps.episodic.store.files import list_files
from apps.episodic.warnings import active_warnings
from apps.events.models import Event
from tests.integration.episodic.upkeep import (
    a_sealed_segment,
    an_archived_segment,
    archived,
    clock_at,
    contents,
    expected,
    files,
    hot,
    maintain,
    record,
    states,
)
from tests.segments import segment_path

pytestmark = pytest.mark.django_db

MANY = range(400)


def examine(days: float = 1, **options: bool) -> DoctorReport:
    return timeline_doctor(clock=clock_at(days), **options)


def repair(days: float = 1, **options: bool) -> DoctorReport:
    return examine(days, repair=True, **options)


def problems(report: DoctorReport) -> list[tuple[str, bool]]:
    return [(finding.kind.value, finding.repaired) for finding in report.findings]


def path_of(segment: Segment) -> Path:
    return segment_path(Segment.objects.get(pk=segment.pk).file_name)


def flip_a_byte(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[200] ^= 0x10
    path.write_bytes(raw)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def remove(path: Path) -> None:
    path.unlink()


def make_unknown(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"version":1,', b'"version":9,'))


def overwrite(path: Path) -> None:
    path.write_bytes(b"something else altogether " * 100)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "checksum": flip_a_byte,
    "truncated": truncate,
    "missing": remove,
    "unknown_version": make_unknown,
    "not_a_segment": overwrite,
}
each_damage = pytest.mark.parametrize(("code", "damage"), list(DAMAGES.items()), ids=list(DAMAGES))


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    an_archived_segment(range(10))
    a_sealed_segment(range(10, 15))
    record(range(15, 20))
    report = examine()
    assert (report.is_healthy, report.findings, report.segments, report.events) == (True, [], 2, 15)
    assert report.size_bytes == sum(segment_path(name).stat().st_size for name in files())
    assert set(Segment.objects.exclude(state="open").values_list("checked_at", flat=True)) == {examined_at()}


def examined_at() -> object:
    from apps.core.domain.clock import utcnow

    return utcnow(clock_at(1))


@each_damage
def test_damaged_archived_segment_is_found_and_changed_only_on_request(
    code: str, damage: Callable[[Path], None]
) -> None:
    bad = an_archived_segment(MANY)
    an_archived_segment(range(500, 510))
    damage(path_of(bad))
    report = examine()
    assert problems(report) == [("damaged", False)]
    assert report.findings[0].subject == str(bad.uuid)
    assert report.findings[0].detail.startswith(f"{code}:")
    assert not report.is_healthy
    bad.refresh_from_db()
    assert bad.state == "archived"


@each_damage
def test_damaged_archived_segment_is_verified_out_of_service_and_everything_else_answers(
    code: str, damage: Callable[[Path], None]
) -> None:
    bad = an_archived_segment(MANY)
    an_archived_segment(range(500, 510))
    record(range(600, 605))
    damage(path_of(bad))
    before = Catalogue.objects.get().version
    assert segment_verify(segment_id=bad.pk, clock=clock_at(1)).state == SegmentState.QUARANTINED
    assert Catalogue.objects.get().version == before + 1
    assert contents() == expected([*range(500, 510), *range(600, 605)])
    [warning] = active_warnings()
    assert (warning.kind, warning.severity, warning.segment) == (WarningKind.SEGMENT_DAMAGED, "critical", bad)
    assert code in warning.detail


@each_damage
def test_damaged_segment_that_still_has_its_rows_is_sealed_again(code: str, damage: Callable[[Path], None]) -> None:
    segment = a_sealed_segment(range(50))
    damage(path_of(segment))
    report = repair()
    assert (problems(report), report.lost, report.is_healthy) == ([("damaged", True)], 0, True)
    segment.refresh_from_db()
    assert (segment.state, segment.damage, len(files())) == ("sealed", "", 1)
    assert not active_warnings().exists()
    assert examine().findings == []
    assert contents() == expected(range(50))


@pytest.mark.parametrize("damage", [flip_a_byte, truncate])
def test_of_damaged_file_what_can_be_read_comes_back_and_rest_is_counted(damage: Callable[[Path], None]) -> None:
    segment = an_archived_segment(MANY)
    damage(path_of(segment))
    report = repair()
    assert problems(report) == [("damaged", True)]
    assert 0 < report.lost < len(MANY)
    assert report.is_healthy
    left = contents()
    assert left.total() == len(MANY) - report.lost
    assert not left - expected(MANY), "each once, and nothing else"
    segment.refresh_from_db()
    assert (segment.state, segment.lost_count) == ("compacted", report.lost)
    assert list_files().quarantined == (segment.file_name,), "kept to be examined"
    assert not active_warnings().exists()
    assert examine(2).findings == []


@pytest.mark.parametrize("damage", [remove, make_unknown, overwrite])
def test_file_of_which_nothing_can_be_read_is_left_for_person(damage: Callable[[Path], None]) -> None:
    segment = an_archived_segment(MANY)
    damage(path_of(segment))
    report = repair()
    assert (problems(report), report.is_healthy) == ([("damaged", False)], False)
    segment.refresh_from_db()
    assert segment.state == "quarantined"
    assert problems(repair()) == [("damaged", False)], "nor the next time"


@pytest.mark.parametrize("damage", [remove, overwrite])
def test_a_person_may_give_up_what_cannot_be_read(damage: Callable[[Path], None]) -> None:
    segment = an_archived_segment(MANY)
    damage(path_of(segment))
    report = repair(give_up=True)
    assert (problems(report), report.lost) == ([("damaged", True)], len(MANY))
    segment.refresh_from_db()
    assert (segment.state, segment.lost_count) == ("pruned", len(MANY))
    assert not active_warnings().exists()
    assert examine(2).findings == []


@each_damage
def test_file_that_was_put_back_from_backup_is_in_service_again(code: str, damage: Callable[[Path], None]) -> None:
    segment = an_archived_segment(MANY)
    backup = path_of(segment).read_bytes()
    damage(path_of(segment))
    assert segment_verify(segment_id=segment.pk).state == SegmentState.QUARANTINED
    assert segment_verify(segment_id=segment.pk).state == SegmentState.QUARANTINED
    path_of(segment).write_bytes(backup)
    back = segment_verify(segment_id=segment.pk)
    assert (back.state, back.damage) == (SegmentState.ARCHIVED, "")
    assert not active_warnings().exists()
    assert contents() == expected(MANY)
    assert examine().is_healthy


def test_file_of_another_segment_is_not_taken_for_its_own() -> None:
    first, second = an_archived_segment(range(100)), an_archived_segment(range(100, 200))
    path_of(first).write_bytes(path_of(second).read_bytes())
    report = repair()
    assert problems(report) == [("damaged", False)]
    assert report.findings[0].detail.startswith("mismatch:")
    assert contents() == expected(range(100, 200))


def test_damaged_file_of_another_segment_is_not_salvaged_for_its_own() -> None:
    first, second = an_archived_segment(range(400)), an_archived_segment(range(400, 800))
    path_of(first).write_bytes(path_of(second).read_bytes())
    truncate(path_of(first))
    assert problems(repair()) == [("damaged", False)]
    assert contents() == expected(range(400, 800))


def test_events_recorded_again_do_not_come_back_twice() -> None:
    segment = an_archived_segment(range(20))
    backup = path_of(segment).read_bytes()
    path_of(segment).unlink()
    segment_verify(segment_id=segment.pk)
    assert len(record(range(5))) == 5, "they are unknown now"
    an_archived_segment(range(5, 8))
    record(range(8, 10))
    path_of(segment).write_bytes(backup)
    assert repair().is_healthy
    assert contents() == expected(range(20))
    assert examine(2).findings == []


def test_what_is_recorded_in_very_moment_of_coming_back_is_taken_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    segment = an_archived_segment(range(20))
    segment_quarantine(segment_id=segment.pk, error=SegmentDamagedError(Damage.CHECKSUM, "for a moment"))
    look = maintenance_repair.find_duplicates

    def look_too_early(*arguments: object) -> object:
        found = look(*arguments)  # type: ignore[arg-type]
        record(range(3))
        return found

    monkeypatch.setattr(maintenance_repair, "find_duplicates", look_too_early)
    assert repair().is_healthy
    assert contents() == expected(range(20))
    assert [event.content for event in archived()].count("event 1") == 1, "the first of the two stays"


def two_damaged_segments_of_the_same_days() -> tuple[Segment, bytes]:
    """The first is known to be damaged, the second not yet; return the first, and what its file held."""
    first, second = an_archived_segment(range(0, 400, 2)), an_archived_segment(range(1, 400, 2))
    whole = path_of(first).read_bytes()
    for segment in (first, second):
        truncate(path_of(segment))
    segment_verify(segment_id=first.pk)
    return first, whole


def test_file_that_is_good_again_comes_back_while_another_one_is_found_damaged() -> None:
    segment, whole = two_damaged_segments_of_the_same_days()
    path_of(segment).write_bytes(whole)
    assert segment_verify(segment_id=segment.pk).state == "archived"
    assert states() == ["archived", "quarantined", "open"]
    assert contents() == expected(range(0, 400, 2))


def test_segments_of_same_days_are_repaired_at_once_however_many_are_damaged() -> None:
    two_damaged_segments_of_the_same_days()
    report = repair()
    assert problems(report) == [("damaged", True), ("damaged", True)]
    assert report.failures == []
    assert len(contents()) == 400 - report.lost
    assert examine(3).is_healthy


def test_event_that_is_both_row_and_archived_is_found_and_made_one() -> None:
    segment = an_archived_segment(range(5))
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    record([1, 2, 7])
    Segment.objects.filter(pk=segment.pk).update(state="archived")
    assert problems(examine()) == [("recorded_twice", False)]
    assert problems(repair()) == [("recorded_twice", True)]
    assert contents() == expected([*range(5), 7])


def test_rows_that_are_left_fill_gaps_of_damaged_file() -> None:
    segment = a_sealed_segment(MANY)
    segment_archive(segment, clock=clock_at())
    rows = TimelineEvent.objects.filter(segment=segment)
    rows.filter(pk__in=list(rows.order_by("pk").values_list("pk", flat=True)[:10])).delete()
    overwrite(path_of(segment))
    report = repair()
    assert (problems(report), report.lost) == ([("damaged", True)], 10)
    maintain(days=2)
    assert contents() == expected(range(10, 400))
    assert not TimelineEvent.objects.exists()
    assert examine(3).findings == []


def test_sealed_segment_with_other_rows_than_its_file_is_sealed_again() -> None:
    segment = a_sealed_segment(range(10))
    TimelineEvent.objects.filter(segment=segment, content="event 3").delete()
    assert problems(examine()) == [("rows_differ", False)]
    assert problems(repair()) == [("rows_differ", True)]
    segment.refresh_from_db()
    assert (segment.state, segment.event_count) == ("sealed", 9)


def test_unknown_files_are_set_aside_and_never_removed() -> None:
    segment = an_archived_segment(range(5))
    stranger = segment_path("2026-01-01-stranger.segment")
    stranger.write_bytes(path_of(segment).read_bytes())
    assert problems(examine()) == [("unknown_file", False)]
    assert problems(repair()) == [("unknown_file", True)]
    assert list_files().quarantined == (stranger.name,)
    assert contents() == expected(range(5))


def test_what_killed_processes_left_is_removed() -> None:
    first = an_archived_segment(range(5))
    an_archived_segment(range(5, 9))
    maintain()
    part = path_of(first).with_suffix(".segment.part")
    part.write_bytes(b"half")
    assert sorted(problems(examine())) == [("left_over", False)] * 3
    assert examine(0).findings == [finding for finding in examine(0).findings if finding.subject == part.name]
    assert problems(repair()) == [("left_over", True)] * 3
    assert len(files()) == 1
    assert not part.exists()


def test_what_is_no_segment_at_all_is_named_and_left_alone() -> None:
    an_archived_segment(range(5))
    note = list_files() and segment_path("a.segment").with_name("notes.txt")
    note.write_text("mine")
    assert problems(repair()) == [("strange_file", False)]
    assert note.exists()


def test_unreadable_segment_does_not_stop_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first = an_archived_segment(range(5))
    an_archived_segment(range(5, 10))
    verify = doctors.file_verify

    def refuse(segment: Segment) -> object:
        if segment.pk == first.pk:
            raise PermissionError(13, "words that must not be logged")
        return verify(segment)

    monkeypatch.setattr(doctors, "file_verify", refuse)
    report = examine()
    assert (report.segments, len(report.failures), report.is_healthy) == (1, 1, False)
    assert "Permission denied" in report.failures[0]
    assert "words" not in report.failures[0]


def test_every_problem_is_tested() -> None:
    source = Path(__file__).read_text()
    assert all(f'("{problem.value}"' in source for problem in FindingKind)


def test_rows_stay_what_they_are_when_their_segment_is_verified() -> None:
    segment = a_sealed_segment(range(10))
    assert segment_verify(segment_id=segment.pk, clock=clock_at(1)).state == SegmentState.SEALED
    flip_a_byte(path_of(segment))
    assert segment_verify(segment_id=segment.pk).state == SegmentState.SEALING
    assert len(hot()) == 10
    assert states() == ["sealing", "open"]


def told_gone() -> list[tuple[str, str]]:
    """Return the ids of pruned events, each with the reason."""
    events = Event.objects.filter(name="memory:episodic:pruned").order_by("id").values_list("payload", flat=True)
    return sorted((uuid, payload["reason"]) for payload in events for uuid in payload["event_ids"])


def test_repair_tells_of_ids_of_events_that_stay_under_others() -> None:
    segment = an_archived_segment(range(6))
    first = {event.content: str(event.uuid) for event in archived()}
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    record(range(3))
    assert repair().is_healthy
    assert told_gone() == sorted((first[f"event {number}"], "repair") for number in range(3))
    assert not {uuid for uuid, _ in told_gone()} & {str(event.uuid) for event in [*hot(), *archived()]}


def test_repair_tells_of_ids_of_rows_that_give_way_to_file() -> None:
    segment = an_archived_segment(range(5))
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    second = record([1, 2, 7])
    Segment.objects.filter(pk=segment.pk).update(state="archived")
    assert repair().is_healthy
    assert told_gone() == sorted((str(uuid), "repair") for uuid in second[:2])


def test_row_with_id_that_its_file_has_goes_without_word() -> None:
    segment = an_archived_segment(range(5))
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    record([1])
    Segment.objects.filter(pk=segment.pk).update(state="archived")
    [uuid] = [event.uuid for event in archived() if event.content == "event 1"]
    TimelineEvent.objects.update(uuid=uuid)
    assert problems(repair()) == [("recorded_twice", True)]
    assert told_gone() == []
