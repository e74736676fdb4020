"""Work on segments that a person asked for: done in the background, with what came of it (spec 000, Segments).

A run is one piece of work, or the same with one segment after the other, each in a task of its own: so no task is long,
and what is done is seen while the rest goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from django_q.models import Task
from django_q.tasks import async_task

from apps.core.domain.errors import MemoryHubError
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.doctor import DoctorReport, Finding, Problem, segment_verify, timeline_doctor
from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_seal
from apps.episodic.maintenance.runner import MaintenanceRunningError
from apps.episodic.models import Segment

TASK = "apps.episodic.tasks.work_part"
# For maintenance that is at work already; so long in a task, and then in further ones.
WAIT_SECONDS = 30.0
MAX_TRIES = 10
# Of merging; what is left then is done in the next task.
PART_SECONDS = 120.0
MAX_LINES = 200
PROBLEMS = {
    Problem.DAMAGED: "Its file is damaged.",
    Problem.ROWS_DIFFER: "Rows and file differ.",
    Problem.RECORDED_TWICE: "Some events are there twice.",
    Problem.UNKNOWN_FILE: "A file that nobody knows.",
    Problem.LEFT_OVER: "A file that is not needed any more.",
    Problem.STRANGE_FILE: "A file that does not belong here.",
}
# Nothing is missing for them.
UNTIDY = frozenset({Problem.UNKNOWN_FILE, Problem.LEFT_OVER, Problem.STRANGE_FILE})


class Work(StrEnum):
    """What a person can ask for. Sealing and verifying are about segments; sealing also about all closed ones."""

    SEAL = "seal"
    VERIFY = "verify"
    COMPACT = "compact"
    CHECK = "check"
    REPAIR = "repair"


class Tone(StrEnum):
    """How good what came of it is: well, nothing bad but something to do, or bad."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Line:
    """What came of one part. subject: the id of a segment or the name of a file, where it is about one."""

    text: str
    tone: Tone = Tone.GOOD
    subject: str = ""


@dataclass(frozen=True)
class RunStatus:
    """How far a run is. left: segments that are still to come; None before the first task is done."""

    kind: Work | None = None
    lines: tuple[Line, ...] = ()
    left: int | None = None
    finished: bool = False
    failed: bool = False


def work_later(*, kind: Work, segment_ids: Sequence[int] = ()) -> UUID:
    """Ask the workers for it; gives the run, by which `run_status` finds it."""
    run = uuid4()
    _enqueue(kind, list(segment_ids), str(run))
    return run


def run_part(*, kind: str, segment_ids: list[int], run: str, tries: int = 0) -> dict[str, Any]:
    """The next task of a run; asks for the one after it, if there is more. Doing one twice does no harm.

    tries: how often another maintenance was in the way.
    """
    work, (now, later) = Work(kind), (segment_ids[:1], segment_ids[1:])
    lines, again = _attempt(work, now, tries)
    if again or later:
        left_over = now + later if again else later
        _enqueue(work, left_over, run, tries + 1 if again and not lines else 0)
    return {
        "lines": [asdict(line) for line in _bounded(lines)],
        "left": len(later),
        "finished": not (again or later),
    }


def _attempt(work: Work, now: list[int], tries: int) -> "_Part":
    """What came of it, and whether it is to be done again: then without a line, when nothing was done."""
    try:
        return _PARTS[work](now[0] if now else None)
    except MaintenanceRunningError as running:
        is_over = tries + 1 >= MAX_TRIES
        return [Line(running.detail, Tone.BAD, _subject(now))] if is_over else [], not is_over
    except MemoryHubError as error:
        return [Line(error.detail, Tone.BAD, _subject(now))], False


def _bounded(lines: list[Line]) -> list[Line]:
    left_out = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], Line(f"and {left_out:,} more.", Tone.WARN)] if left_out > 0 else lines


def run_status(run: UUID) -> RunStatus:
    """What came of the tasks of a run that are done."""
    parts = list(Task.objects.filter(group=_group(str(run))).order_by("started"))
    if not parts:
        return RunStatus()
    results: list[dict[str, Any]] = [part.result for part in parts if part.success]
    return RunStatus(
        kind=Work(parts[0].kwargs["kind"]),
        lines=tuple(_line(line) for result in results for line in result["lines"]),
        left=results[-1]["left"] if results else None,
        finished=any(result["finished"] for result in results),
        failed=any(not part.success for part in parts),
    )


def _line(line: dict[str, str]) -> Line:
    return Line(line["text"], Tone(line["tone"]), line["subject"])


_Part = tuple[list[Line], bool]


def _seal(segment_id: int | None) -> _Part:
    report = timeline_seal(segment_id=segment_id, wait_seconds=WAIT_SECONDS)
    if segment_id is None:
        done = _counted(report.sealed, "segment was", "segments were")
        return [Line(f"{done} sealed." if report.sealed else "Nothing was there to seal."), *_failures(report)], False
    return [*_sealed(Segment.objects.get(pk=segment_id)), *_failures(report)], False


def _sealed(segment: Segment) -> Iterator[Line]:
    subject = str(segment.uuid)
    if segment.state == SegmentState.SEALED:
        yield Line(f"Sealed: {_events(segment.event_count)} in {segment.size_bytes:,} bytes.", subject=subject)
    elif segment.state == SegmentState.OPEN:
        yield Line("It holds nothing, so it stays open.", subject=subject)
    else:
        is_over = segment.state == SegmentState.PRUNED
        yield Line(f"It is {segment.state} now.", Tone.GOOD if is_over else Tone.WARN, subject)


def _verify(segment_id: int | None) -> _Part:
    assert segment_id is not None
    before = Segment.objects.filter(pk=segment_id).values_list("state", flat=True).first()
    after = segment_verify(segment_id=segment_id, wait_seconds=WAIT_SECONDS)
    return [_verified(before, after)], False


def _verified(before: str | None, after: Segment) -> Line:
    subject, figures = str(after.uuid), f"{_events(after.event_count)}, {after.size_bytes:,} bytes"
    if before == SegmentState.QUARANTINED and after.state != SegmentState.QUARANTINED:
        return Line(f"Back in service: {figures}.", subject=subject)
    if after.state in (SegmentState.SEALED, SegmentState.ARCHIVED):
        return Line(f"Sound: {figures}.", subject=subject)
    if after.state == SegmentState.QUARANTINED:
        return Line(f"Damaged: {after.damage}", Tone.BAD, subject=subject)
    if before in (SegmentState.SEALED, SegmentState.ARCHIVED):
        told = f"Damaged: {after.damage} Its rows are all there, and are sealed again."
        return Line(told, Tone.BAD, subject=subject)
    return Line(f"It is {after.state}: there is no file to verify.", subject=subject)


def _compact(_: int | None) -> _Part:
    report = timeline_compact(seconds=PART_SECONDS, wait_seconds=WAIT_SECONDS)
    if report.merged:
        told = f"{_counted(report.merged, 'small segment', 'small segments')} became fewer."
    else:
        told = "There are no small segments side by side to merge."
    return [Line(told), *_failures(report)], not report.finished


def _check(_: int | None) -> _Part:
    return _examined(timeline_doctor(wait_seconds=WAIT_SECONDS)), False


def _repair(_: int | None) -> _Part:
    return _examined(timeline_doctor(repair=True, wait_seconds=WAIT_SECONDS)), False


def _examined(report: DoctorReport) -> list[Line]:
    sound = f"{_counted(report.segments, 'segment is', 'segments are')} sound: {_events(report.events)}, "
    return [
        Line(f"{sound}{report.size_bytes:,} bytes."),
        *map(_found, report.findings),
        *(Line(failure, Tone.BAD) for failure in report.failures),
    ]


def _found(finding: Finding) -> Line:
    lost = f" {_counted(finding.lost, 'event is', 'events are')} lost." if finding.lost else ""
    told = f"{PROBLEMS[finding.problem]} {finding.detail}{' Repaired.' if finding.repaired else ''}{lost}"
    if finding.repaired and not finding.lost:
        return Line(told, Tone.GOOD, finding.subject)
    return Line(told, Tone.WARN if finding.problem in UNTIDY else Tone.BAD, finding.subject)


_PARTS: dict[Work, Callable[[int | None], _Part]] = {
    Work.SEAL: _seal,
    Work.VERIFY: _verify,
    Work.COMPACT: _compact,
    Work.CHECK: _check,
    Work.REPAIR: _repair,
}


def _failures(report: MaintenanceReport) -> Iterator[Line]:
    if report.damaged:
        yield Line(f"{_counted(report.damaged, 'file was', 'files were')} found damaged.", Tone.BAD)
    for failure in report.failures:
        yield Line(failure, Tone.BAD)


def _events(count: int) -> str:
    return _counted(count, "event", "events")


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _subject(segment_ids: Sequence[int]) -> str:
    uuid = Segment.objects.filter(pk__in=segment_ids[:1]).values_list("uuid", flat=True).first()
    return str(uuid) if uuid else ""


def _group(run: str) -> str:
    return f"timeline {run}"


def _enqueue(kind: Work, segment_ids: list[int], run: str, tries: int = 0) -> None:
    payload = {"kind": kind.value, "segment_ids": segment_ids, "run": run, "tries": tries}
    async_task(TASK, **payload, q_options={"group": _group(run), "task_name": f"timeline: {kind}"})
