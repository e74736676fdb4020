"""Maintenance of the timeline: one run at a time, bounded, and reported (spec 000, Episodic Timeline Store)."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django_q.models import OrmQ

from apps.core.domain.scope import Scope
from apps.episodic import tasks
from apps.episodic.domain.alarms import WarningKind
from apps.episodic.maintenance import runner
from apps.episodic.maintenance.doctor import segment_verify
from apps.episodic.maintenance.run import timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.maintenance.runner import MaintenanceRunningError
from apps.episodic.maintenance.seal import SEAL_STEPS
from apps.episodic.management.commands.timeline import SUBCOMMANDS
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.schedules import SCHEDULES
from apps.episodic.store.catalogue import try_maintenance_lock
from apps.episodic.warnings import active_warnings
from tests.integration.episodic.upkeep import (
    a_sealed_segment,
    an_archived_segment,
    clock_at,
    contents,
    expected,
    files,
    maintain,
    record,
    states,
)
from tests.segments import segment_path

pytestmark = pytest.mark.django_db


class OtherMaintenance(threading.Thread):
    """A maintenance in another process, which goes on until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.running, self.may_end = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            with try_maintenance_lock() as alone:
                assert alone
                self.running.set()
                self.may_end.wait(30)
        finally:
            connection.close()


@pytest.fixture
def other() -> Iterator[OtherMaintenance]:
    other = OtherMaintenance()
    other.start()
    assert other.running.wait(30)
    yield other
    other.may_end.set()
    other.join(30)


def queued() -> list[tuple[str, dict[str, Any]]]:
    found = [(task.task["func"], task.task["kwargs"]) for task in OrmQ.objects.order_by("id")]
    return [(name.removeprefix("apps.episodic.tasks."), given) for name, given in found if "episodic" in name]


def command(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    call_command("timeline", *arguments)
    return capsys.readouterr().out


# One at a time


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_second_says_so_and_leaves(other: OtherMaintenance) -> None:
    record(range(3))
    for work in (timeline_maintain, timeline_seal, timeline_compact):
        with pytest.raises(MaintenanceRunningError, match="already being maintained"):
            work(clock=clock_at(10))
    assert states() == ["open"]
    other.may_end.set()
    other.join(30)
    assert maintain(days=10).sealed == 1


@pytest.mark.django_db(transaction=True)
def test_what_person_asked_for_waits_for_its_turn(other: OtherMaintenance) -> None:
    record(range(3))
    timer = threading.Timer(0.1, other.may_end.set)
    timer.start()
    assert timeline_seal(clock=clock_at(), wait_seconds=30).sealed == 1


@pytest.mark.django_db(transaction=True)
def test_schedule_that_finds_another_maintenance_leaves_it_to_next_minute_but_retention_asks_again(
    other: OtherMaintenance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "WAIT_SECONDS", 0.0)
    RetentionPolicy.objects.update_or_create(household_id="", defaults={"days": 90, "is_enabled": True})
    tasks.maintain()
    assert queued() == []
    tasks.prune()
    tasks.prune(resume=True)
    assert queued() == [("prune", {"resume": False}), ("prune", {"resume": True})]


@pytest.mark.django_db(transaction=True)
def test_right_to_maintain_ends_with_work_however_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    record(range(3))

    def stop(step: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timeline_seal(clock=clock_at(), step=stop)
    other = OtherMaintenance()
    other.start()
    assert other.running.wait(30)
    other.may_end.set()
    other.join(30)


# Bounded


def test_work_that_goes_on_for_long_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SECONDS", 0.0)
    RetentionPolicy.objects.update(is_enabled=True, days=1)
    for number in range(2):
        an_archived_segment([number], scope=Scope("ana"))
    OrmQ.objects.all().delete()
    tasks.prune()
    a_sealed_segment([5])
    Segment.objects.filter(state="sealed").update(state="sealing")
    tasks.maintain()
    assert queued() == [("prune", {"resume": True}), ("maintain", {})]


def test_work_that_came_to_its_end_is_not_asked_for_again() -> None:
    a_sealed_segment(range(3))
    OrmQ.objects.all().delete()
    tasks.maintain()
    RetentionPolicy.objects.update(is_enabled=True, days=1)
    tasks.prune()
    assert queued() == []
    assert states() == ["pruned", "open"]


def test_schedules_are_those_of_maintenance_and_retention() -> None:
    assert [(spec.name, spec.every, spec.minutes) for spec in SCHEDULES] == [
        ("timeline: maintain", "I", 1),
        ("timeline: prune", "D", None),
    ]


# One that fails


def test_one_failing_segment_does_not_keep_others_from_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        record([number])
        segment = Segment.objects.get(state="open")
        from apps.episodic.recording.rows import segment_close

        segment_close(segment_id=segment.pk)
    bad = Segment.objects.order_by("pk")[1]
    seal = "apps.episodic.maintenance.run.segment_seal"
    real = timeline_seal.__globals__["segment_seal"]

    def refuse(segment: Segment, **options: Any) -> None:
        if segment.pk == bad.pk:
            raise PermissionError(13, "words that must not be logged")
        real(segment, **options)

    with monkeypatch.context() as patch:
        patch.setattr(seal, refuse)
        report = maintain()
    assert (report.sealed, len(report.failures)) == (2, 1)
    assert states() == ["sealed", "sealing", "sealed", "open"]
    [warning] = active_warnings()
    assert (warning.kind, warning.segment) == (WarningKind.MAINTENANCE_FAILED, bad)
    assert "Sealing: PermissionError" in warning.detail
    assert "words" not in warning.detail
    maintain()
    assert not active_warnings().exists()
    assert contents() == expected(range(3))


def test_a_database_that_is_gone_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    record([1])
    monkeypatch.setattr(runner, "connection", Unusable())
    with pytest.raises(RuntimeError, match="gone"):
        timeline_seal(clock=clock_at(), step=gone)


class Unusable:
    def is_usable(self) -> bool:
        return False


def gone(step: str) -> None:
    raise RuntimeError("gone")


def test_damage_is_logged_without_content(caplog: pytest.LogCaptureFixture) -> None:
    segment = an_archived_segment(range(3))
    segment_path(segment.file_name).unlink()
    assert segment_verify(segment_id=segment.pk).damage.startswith("missing:")
    assert "event 1" not in caplog.text


# By hand


def test_maintenance_by_hand_says_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    record(range(5))
    assert command("seal", capsys=capsys) == "1 segment closed, 1 segment sealed.\n"
    assert command("seal", capsys=capsys) == "Nothing was due.\n"
    assert command("maintain", capsys=capsys) == "Nothing was due.\n"
    for part in (range(5, 7), range(7, 9)):
        an_archived_segment(part)
    assert command("compact", capsys=capsys) == "2 segments merged.\n"


def test_one_segment_can_be_sealed_and_verified_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    record(range(5))
    uuid = str(Segment.objects.get().uuid)
    assert command("seal", uuid, capsys=capsys) == "1 segment closed, 1 segment sealed.\n"
    assert command("verify", uuid, capsys=capsys) == "1 segment sound.\n"
    for unknown in ("nonsense", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(CommandError, match="There is no segment"):
            call_command("timeline", "verify", unknown)


def test_long_work_shows_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    record(range(5))
    call_command("timeline", "seal")
    call_command("timeline", "doctor")
    assert capsys.readouterr().err == "Sealing: 1/1\nVerifying: 1/1\n"


def test_doctor_by_hand_names_what_is_wrong_and_what_became_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    segment = an_archived_segment(range(400))
    assert command("doctor", capsys=capsys).startswith("1 segment sound: 400 events, ")
    path = segment_path(segment.file_name)
    raw = bytearray(path.read_bytes())
    raw[200] ^= 1
    path.write_bytes(raw)
    with pytest.raises(CommandError, match="--repair may help"):
        call_command("timeline", "doctor")
    output = capsys.readouterr().out
    assert output.startswith(f"damaged: {segment.uuid}: checksum: ")
    assert "1 finding: 0 repaired, 0 events lost." in output
    output = command("doctor", "--repair", capsys=capsys)
    assert "Repaired. 128 events lost." in output
    assert "1 finding: 1 repaired, 128 events lost." in output


def test_giving_up_goes_with_repairing() -> None:
    with pytest.raises(CommandError, match="needs --repair"):
        call_command("timeline", "doctor", "--give-up")


def test_verifying_by_hand_names_what_is_damaged(capsys: pytest.CaptureFixture[str]) -> None:
    bad = an_archived_segment(range(5))
    an_archived_segment(range(5, 10))
    segment_path(bad.file_name).unlink()
    with pytest.raises(CommandError, match="Something is wrong"):
        call_command("timeline", "verify")
    output = capsys.readouterr().out
    assert f"{bad.uuid}: quarantined: missing:" in output
    assert "1 segment sound." in output


def test_pruning_by_hand_can_be_rehearsed(capsys: pytest.CaptureFixture[str]) -> None:
    record(range(5))
    assert command("prune", capsys=capsys) == "No retention policy is switched on: all events are kept.\n"
    RetentionPolicy.objects.update(is_enabled=True, days=1)
    assert "5 events (5 rows, 0 in 0 files) would be removed. Nothing changed." in command(
        "prune", "--dry-run", capsys=capsys
    )
    assert contents() == expected(range(5))
    assert command("prune", capsys=capsys) == "5 events (5 rows, 0 in 0 files) removed.\n"


def test_purging_by_hand_wants_to_be_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    an_archived_segment([1, 2], scope=Scope("ana", "home"))
    record([3], scope=Scope("ana"))
    with pytest.raises(CommandError, match=r"3 events \(1 rows, 2 in 1 file\) for good\. Add --yes"):
        call_command("timeline", "purge", "--user-id", "ana")
    output = command("purge", "--user-id", "ana", "--household-id", "home", "--yes", capsys=capsys)
    assert output == "2 events (0 rows, 2 in 1 file) removed.\n"
    assert contents() == expected([3])


def test_a_purge_names_what_was_set_aside(capsys: pytest.CaptureFixture[str]) -> None:
    segment = an_archived_segment(range(400), scope=Scope("ana"))
    path = segment_path(segment.file_name)
    path.write_bytes(path.read_bytes()[:-100])
    call_command("timeline", "doctor", "--repair")
    call_command("timeline", "purge", "--user-id", "ana", "--yes")
    assert f"may hold some of them: {segment.file_name}." in capsys.readouterr().err


def test_a_refusal_is_a_sentence() -> None:
    segment = an_archived_segment([1], scope=Scope("ana"))
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    with pytest.raises(CommandError, match="nothing was removed"):
        call_command("timeline", "purge", "--user-id", "ana", "--yes")


def test_every_subcommand_is_tested() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert all(f'"{one.name}"' in tests for one in SUBCOMMANDS)


def test_steps_are_named_after_what_takes_them() -> None:
    taken: list[str] = []
    record([1])
    timeline_seal(clock=clock_at(), step=taken.append)
    assert [step for step in taken if step.startswith("seal: ")] == list(SEAL_STEPS)
    assert len(files()) == 1
