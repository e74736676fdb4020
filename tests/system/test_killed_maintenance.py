"""Maintenance is killed at every step that it names: no event is lost, none is there twice, and nothing stays wrong.

A real process takes the steps and kills itself with SIGKILL. What counts is compared before anything else has run, and
again after the next maintenance.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from apps.core.domain.scope import Scope
from apps.episodic.domain.segment_state import ENDED
from apps.episodic.maintenance import archive, remove
from apps.episodic.maintenance.archive import ARCHIVE_STEPS, DROP_STEPS
from apps.episodic.maintenance.compact import MERGE_STEPS, REPLACE_STEPS
from apps.episodic.maintenance.doctor import timeline_doctor
from apps.episodic.maintenance.remove import REMOVE_STEPS
from apps.episodic.maintenance.repair import REPAIR_STEPS
from apps.episodic.maintenance.run import TIDY_STEPS
from apps.episodic.maintenance.seal import SEAL_STEPS
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.store.files import PUT_STEPS, WRITE_STEPS, list_files
from apps.events.models import Event
from tests.buckets import bucket as bucket
from tests.buckets import bucketed_timeline as bucketed_timeline
from tests.buckets import store_port as store_port
from tests.buckets import wire as wire
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
)
from tests.segments import segment_path
from tests.system.killed import WORKS, Order, die_doing, use_small_parts

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("timeline_dir"),
    pytest.mark.xdist_group("killed"),
]

MINUTE = 1 / 1_440


@dataclass(frozen=True)
class Case:
    """A timeline, what is done to it and when, and which events are there afterwards."""

    name: str
    prepare: Callable[[], Any]
    work: str
    days: float
    steps: tuple[str, ...]
    left: range
    before: range


def _to_seal() -> None:
    record(range(6))


def _to_seal_again() -> None:
    segment = a_sealed_segment(range(6))
    Segment.objects.filter(pk=segment.pk).update(state="sealing")


def _to_archive() -> None:
    a_sealed_segment(range(9))
    record(range(9, 12))


def _to_merge() -> None:
    for number in range(3):
        an_archived_segment(range(number * 3, number * 3 + 3))
    record(range(9, 12))


def _to_prune() -> None:
    """Wholly expired and partly expired: archived, sealed and open."""
    RetentionPolicy.objects.update_or_create(household_id="", defaults={"days": 90, "is_enabled": True})
    an_archived_segment([0, 1])
    an_archived_segment([2, 3, 8])
    a_sealed_segment([4, 9])
    record([5, 6, 7, 10, 11])


def _to_delete_from_file() -> None:
    an_archived_segment(range(9))
    record(range(9, 12))


def _to_delete_row() -> None:
    a_sealed_segment(range(9))
    record(range(9, 12))


def _to_tidy() -> None:
    _to_merge()
    maintain()
    segment_path("2026-01-01-cut-off.segment").with_suffix(".segment.part").write_bytes(b"half of it")


def _to_repair() -> None:
    """A good file out of service, of which some events were recorded again, and a damaged one that has its rows."""
    _to_put_back()
    record(range(3))
    bad = a_sealed_segment(range(6, 9))
    Segment.objects.filter(pk=bad.pk).update(sha256="0" * 64)


def _to_put_back() -> None:
    """A good file out of service."""
    away = an_archived_segment(range(6))
    Segment.objects.filter(pk=away.pk).update(state="quarantined", damage="checksum: once")
    record(range(6, 9))


CASES = [
    Case("seal", _to_seal, "seal", 0, (*SEAL_STEPS, *WRITE_STEPS), range(6), range(6)),
    Case("seal again", _to_seal_again, "seal", 0.1, SEAL_STEPS, range(6), range(6)),
    Case("archive", _to_archive, "maintain", 7, (*ARCHIVE_STEPS, *DROP_STEPS), range(12), range(12)),
    Case("compact", _to_merge, "compact", 0, (*MERGE_STEPS, *REPLACE_STEPS, *WRITE_STEPS), range(12), range(12)),
    Case("prune", _to_prune, "prune", 90 + 8 * MINUTE, (*REMOVE_STEPS, *REPLACE_STEPS), range(8, 12), range(12)),
    Case("delete", _to_delete_from_file, "delete", 0, (*REPLACE_STEPS, *WRITE_STEPS), range(1, 12), range(12)),
    Case("delete a row", _to_delete_row, "delete", 0, REMOVE_STEPS, range(1, 12), range(12)),
    Case("tidy", _to_tidy, "maintain", 1, TIDY_STEPS, range(12), range(12)),
]
# Steps that the same piece of work takes several times, and at which of them it dies as well.
AGAIN = {
    ("archive", "archive: drop rows"): (2, 4),
    ("prune", "remove: rows"): (2,),
    ("prune", "replace: flip"): (2,),
    ("prune", "replace: flipped"): (2,),
    ("tidy", "tidy: remove file"): (2, 3),
}
PLACES = [
    pytest.param(case, step, time, id=f"{case.name}: {step} {time}")
    for case in CASES
    for step in case.steps
    for time in (1, *AGAIN.get((case.name, step), ()))
]


@pytest.fixture(autouse=True)
def small_parts() -> Iterator[None]:
    before = django_settings.MEMORYHUB, archive.ROWS_AT_ONCE, remove.ROWS_AT_ONCE
    use_small_parts()
    yield
    django_settings.MEMORYHUB, archive.ROWS_AT_ONCE, remove.ROWS_AT_ONCE = before


def pruned_ids() -> list[str]:
    """Return the ids of pruned events."""
    payloads = Event.objects.filter(name="memory:episodic:pruned").values_list("payload", flat=True)
    return sorted(uuid for payload in payloads for uuid in payload["event_ids"])


def ids() -> set[str]:
    return {str(event.uuid) for event in [*hot(), *archived()]}


def known_files() -> set[str]:
    kept = Segment.objects.exclude(state__in=ENDED).exclude(file_name="")
    return set(kept.values_list("file_name", flat=True))


@pytest.mark.parametrize(("case", "step", "time"), PLACES)
def test_killed_at_any_step_it_loses_nothing_and_doubles_nothing(
    case: Case, step: str, time: int, timeline_dir: Path
) -> None:
    case.prepare()
    assert contents() == expected(case.before)
    before = ids()
    assert die_doing(Order(case.work, case.days, step, time), timeline_dir), f"it never came to {step}"

    counts = contents()
    assert not expected(case.left) - counts, "nothing is lost"
    assert not counts - expected(case.before), "nothing is there twice"
    assert pruned_ids() == sorted(before - ids()), "what is gone is emitted once, and nothing else is"

    WORKS[case.work](case.days, lambda name: None)
    maintain(days=case.days, wait_seconds=10)
    maintain(days=case.days + 1, wait_seconds=10)
    assert contents() == expected(case.left)
    assert pruned_ids() == sorted(before - ids())
    assert (files(), list_files().parts) == (known_files(), ())
    assert timeline_doctor(clock=clock_at(case.days + 1)).findings == []
    assert not Segment.objects.filter(rows="leaving").exists()


def bucket_steps(case: Case) -> list[str]:
    """Return the steps of a case where its files are put into a bucket."""
    written = {step for step in case.steps if step in WRITE_STEPS}
    return [*(step for step in case.steps if step not in written), *(PUT_STEPS if written else ())]


@pytest.mark.parametrize(
    ("case", "step"),
    [
        pytest.param(case, step, id=f"{case.name}: {step}")
        for case in CASES
        if case.name in {"seal", "archive", "compact"}
        for step in bucket_steps(case)
    ],
)
@pytest.mark.usefixtures("bucketed_timeline")
def test_nor_does_it_with_a_bucket(case: Case, step: str, timeline_dir: Path) -> None:
    test_killed_at_any_step_it_loses_nothing_and_doubles_nothing(case, step, 1, timeline_dir)


MENDS = [
    *((_to_repair, step) for step in (*REPAIR_STEPS, *REPLACE_STEPS, "seal: sealed") if step != "repair: put back"),
    *((_to_put_back, step) for step in ("repair: put back", "repair: wait for writers")),
]


@pytest.mark.parametrize(("prepare", "step"), MENDS)
def test_repair_that_is_killed_at_any_step_is_finished_by_next_one(
    prepare: Callable[[], None], step: str, timeline_dir: Path
) -> None:
    prepare()
    assert die_doing(Order("doctor", 1, step), timeline_dir), f"it never came to {step}"
    assert not contents() - expected(range(9)), "nothing is there twice"
    timeline_doctor(repair=True, clock=clock_at(1), wait_seconds=10)
    maintain(days=2, wait_seconds=10)
    assert contents() == expected(range(9))
    assert timeline_doctor(clock=clock_at(2)).findings == []
    assert files() == known_files()


@pytest.mark.parametrize("tidy", ["maintain", "doctor"])
@pytest.mark.parametrize("step", ["replace: flipped", "repair: set aside"])
def test_damaged_file_is_set_aside_even_if_repair_is_killed_before_it_does_that(
    step: str, tidy: str, timeline_dir: Path
) -> None:
    bad = an_archived_segment(range(400))
    path = segment_path(bad.file_name)
    damaged = path.read_bytes()[: path.stat().st_size * 2 // 3]
    path.write_bytes(damaged)
    assert die_doing(Order("doctor", 1, step), timeline_dir)
    assert bad.file_name in files(), "it had no time to move it"
    WORKS[tidy](2, lambda _: None)
    assert list_files().quarantined == (bad.file_name,)
    assert (timeline_dir / "quarantine" / bad.file_name).read_bytes() == damaged
    assert files() == known_files()


def test_killed_purge_emits_nothing_about_other_users(timeline_dir: Path) -> None:
    an_archived_segment(range(6))
    others = {str(event.uuid) for event in archived() if not event.key.is_in(Scope("user-0"))}
    assert die_doing(Order("purge", 0, "replace: flipped"), timeline_dir)
    assert ids() == others
    assert not others & set(pruned_ids())


def test_a_process_that_is_not_killed_ends(timeline_dir: Path) -> None:
    record(range(3))
    assert not die_doing(Order("seal", 0, "no such step"), timeline_dir)
    assert Segment.objects.filter(state="sealed").count() == 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_step_that_is_taken_is_one_at_which_it_is_killed(case: Case) -> None:
    named = {*SEAL_STEPS, *WRITE_STEPS, *ARCHIVE_STEPS, *DROP_STEPS, *MERGE_STEPS, *REPLACE_STEPS, *REMOVE_STEPS}
    named |= {*TIDY_STEPS, *REPAIR_STEPS}
    taken: list[str] = []
    case.prepare()
    WORKS[case.work](case.days, taken.append)
    assert set(case.steps) <= set(taken) <= named
    for (name, step), times in AGAIN.items():
        assert name != case.name or taken.count(step) >= max(times)
