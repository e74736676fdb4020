"""Work on segments that a person asked for: done in the background, with its outcome (spec 000, Segments).

A run is one piece of work, or the same work on one segment after another, each in a task of its own: so no task is
long, and the outcome of the ended ones is visible while the run goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from apps.core.domain.errors import MemoryHubError
from apps.core.jobs import BackgroundJob
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.doctor import DoctorReport, FindingKind, segment_verify, timeline_doctor
from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_seal
from apps.episodic.maintenance.runner import MaintenanceRunningError
from apps.episodic.models import Segment

TASK = "apps.episodic.tasks.work_part"
JOB = BackgroundJob(TASK, "timeline")
# How long a task waits for another maintenance, and how many tasks do so one after the other.
WAIT_SECONDS = 30.0
MAX_TRIES = 10
# Of merging; the next task goes on with what is left then.
PART_SECONDS = 120.0
MAX_MESSAGES = 200
FINDING_TEXTS = {
    FindingKind.DAMAGED: "Its file is damaged.",
    FindingKind.ROWS_DIFFER: "Rows and file differ.",
    FindingKind.RECORDED_TWICE: "Some events are there twice.",
    FindingKind.UNKNOWN_FILE: "An unknown file.",
    FindingKind.LEFT_OVER: "A file that is not needed any more.",
    FindingKind.STRANGE_FILE: "A file that does not belong here.",
}
# No event is missing because of them.
UNTIDY = frozenset({FindingKind.UNKNOWN_FILE, FindingKind.LEFT_OVER, FindingKind.STRANGE_FILE})


class JobKind(StrEnum):
    """What a person can ask for. SEAL and VERIFY take segments; without any, SEAL takes all closed ones."""

    SEAL = "seal"
    VERIFY = "verify"
    COMPACT = "compact"
    CHECK = "check"
    REPAIR = "repair"


class MessageSeverity(StrEnum):
    """How serious a message is: all is well, something is left to do, or something is wrong."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class JobMessage:
    """One outcome of a job. subject: the id of a segment or the name of a file, if the message is about one."""

    text: str
    severity: MessageSeverity = MessageSeverity.GOOD
    subject: str = ""


@dataclass(frozen=True)
class JobStatus:
    """How far a run is. left: the number of segments still to come; None before the first task has ended."""

    kind: JobKind | None = None
    messages: tuple[JobMessage, ...] = ()
    left: int | None = None
    finished: bool = False
    failed: bool = False


class StepResult(NamedTuple):
    """The outcome of one task. repeat: whether the same step has to be taken again."""

    messages: list[JobMessage]
    repeat: bool = False


def enqueue_job(*, kind: JobKind, segment_ids: Sequence[int] = ()) -> UUID:
    """Have the work done by the workers. Return the run, by which `run_status` finds it."""
    return JOB.start(task_name=f"timeline: {kind}", kind=kind.value, segment_ids=list(segment_ids), tries=0)


def run_part(*, kind: str, segment_ids: list[int], run: str, tries: int = 0) -> dict[str, Any]:
    """Do the next part of a run, and enqueue the task after it if there is more. Repeating a part does no harm.

    tries: how often another maintenance was in the way.
    """
    current, later = segment_ids[:1], segment_ids[1:]
    messages, repeat = attempt_step(JobKind(kind), current, tries)
    finished = not (repeat or later)
    if not finished:
        JOB.enqueue(
            run=run,
            task_name=f"timeline: {kind}",
            kind=kind,
            segment_ids=segment_ids if repeat else later,
            tries=tries + 1 if repeat and not messages else 0,
        )
    if len(messages) > MAX_MESSAGES:
        more = JobMessage(f"and {len(messages) - MAX_MESSAGES:,} more.", MessageSeverity.WARN)
        messages = [*messages[:MAX_MESSAGES], more]
    # Results of 0.1.0 have the same keys, so `run_status` reads a run that began before an upgrade.
    lines = [{"text": one.text, "tone": one.severity.value, "subject": one.subject} for one in messages]
    return {"lines": lines, "left": len(later), "finished": finished}


def attempt_step(kind: JobKind, segment_ids: list[int], tries: int) -> StepResult:
    """Take a step, with the first of these segments. Return no message when another maintenance is to be waited for."""
    subject = ""
    try:
        return STEPS[kind](segment_ids[0] if segment_ids else None)
    except MaintenanceRunningError as running:
        if tries + 1 < MAX_TRIES:
            return StepResult([], repeat=True)
        detail = running.detail
    except MemoryHubError as error:
        detail = error.detail
    if uuid := Segment.objects.filter(pk__in=segment_ids[:1]).values_list("uuid", flat=True).first():
        subject = str(uuid)
    return StepResult([JobMessage(detail, MessageSeverity.BAD, subject)])


def run_status(run: UUID) -> JobStatus:
    """Return the outcome of the tasks of a run that have ended."""
    ended = JOB.results(run)
    if ended.kwargs is None:
        return JobStatus()
    lines = (line for result in ended.results for line in result["lines"])
    return JobStatus(
        kind=JobKind(ended.kwargs["kind"]),
        messages=tuple(JobMessage(line["text"], MessageSeverity(line["tone"]), line["subject"]) for line in lines),
        left=ended.results[-1]["left"] if ended.results else None,
        finished=ended.finished,
        failed=ended.failed,
    )


def step_seal(segment_id: int | None) -> StepResult:
    """Seal a segment, or all closed ones."""
    report = timeline_seal(segment_id=segment_id, wait_seconds=WAIT_SECONDS)
    if segment_id is None:
        done = f"{count_of(report.sealed, 'segment was', 'segments were')} sealed."
        return StepResult([JobMessage(done if report.sealed else "Nothing was there to seal."), *failures_of(report)])
    segment = Segment.objects.get(pk=segment_id)
    severity = MessageSeverity.GOOD
    if segment.state == SegmentState.SEALED:
        text = f"Sealed: {count_of(segment.event_count, 'event', 'events')} in {segment.size_bytes:,} bytes."
    elif segment.state == SegmentState.OPEN:
        text = "It holds nothing, so it stays open."
    else:
        text = f"It is {segment.state} now."
        severity = MessageSeverity.GOOD if segment.state == SegmentState.PRUNED else MessageSeverity.WARN
    return StepResult([JobMessage(text, severity, str(segment.uuid)), *failures_of(report)])


def step_verify(segment_id: int | None) -> StepResult:
    """Verify the file of a segment."""
    assert segment_id is not None
    before = Segment.objects.filter(pk=segment_id).values_list("state", flat=True).first()
    after = segment_verify(segment_id=segment_id, wait_seconds=WAIT_SECONDS)
    figures = f"{count_of(after.event_count, 'event', 'events')}, {after.size_bytes:,} bytes"
    severity = MessageSeverity.GOOD
    if before == SegmentState.QUARANTINED and after.state != SegmentState.QUARANTINED:
        text = f"Back in service: {figures}."
    elif after.state in (SegmentState.SEALED, SegmentState.ARCHIVED):
        text = f"Sound: {figures}."
    elif after.state == SegmentState.QUARANTINED:
        text, severity = f"Damaged: {after.damage}", MessageSeverity.BAD
    elif before in (SegmentState.SEALED, SegmentState.ARCHIVED):
        text = f"Damaged: {after.damage} Its rows are all there, and are sealed again."
        severity = MessageSeverity.BAD
    else:
        text = f"It is {after.state}: there is no file to verify."
    return StepResult([JobMessage(text, severity, str(after.uuid))])


def step_compact(_: int | None) -> StepResult:
    """Merge small segments for as long as a task may take."""
    report = timeline_compact(seconds=PART_SECONDS, wait_seconds=WAIT_SECONDS)
    text = "There are no small segments side by side to merge."
    if report.merged:
        text = f"{count_of(report.merged, 'small segment', 'small segments')} became fewer."
    return StepResult([JobMessage(text), *failures_of(report)], repeat=not report.finished)


STEPS: dict[JobKind, Callable[[int | None], StepResult]] = {
    JobKind.SEAL: step_seal,
    JobKind.VERIFY: step_verify,
    JobKind.COMPACT: step_compact,
    JobKind.CHECK: lambda _: StepResult(describe_report(timeline_doctor(wait_seconds=WAIT_SECONDS))),
    JobKind.REPAIR: lambda _: StepResult(describe_report(timeline_doctor(repair=True, wait_seconds=WAIT_SECONDS))),
}


def describe_report(report: DoctorReport) -> list[JobMessage]:
    """Return what was sound, then each finding, then each failure."""
    sound = f"{count_of(report.segments, 'segment is', 'segments are')} sound: "
    figures = f"{count_of(report.events, 'event', 'events')}, {report.size_bytes:,} bytes."
    messages = [JobMessage(f"{sound}{figures}")]
    for finding in report.findings:
        text = f"{FINDING_TEXTS[finding.kind]} {finding.detail}{' Repaired.' if finding.repaired else ''}"
        severity = MessageSeverity.WARN if finding.kind in UNTIDY else MessageSeverity.BAD
        if finding.lost:
            text += f" {count_of(finding.lost, 'event is', 'events are')} lost."
        elif finding.repaired:
            severity = MessageSeverity.GOOD
        messages.append(JobMessage(text, severity, finding.subject))
    return [*messages, *(JobMessage(failure, MessageSeverity.BAD) for failure in report.failures)]


def failures_of(report: MaintenanceReport) -> list[JobMessage]:
    """Return a message for damaged files, and one for each failure."""
    texts = list(report.failures)
    if report.damaged:
        texts.insert(0, f"{count_of(report.damaged, 'file was', 'files were')} found damaged.")
    return [JobMessage(text, MessageSeverity.BAD) for text in texts]


def count_of(count: int, one: str, several: str) -> str:
    """Return a number with the words for one or for several."""
    return f"{count:,} {one if count == 1 else several}"
