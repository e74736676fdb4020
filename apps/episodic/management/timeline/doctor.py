"""`timeline doctor` and `verify`."""

from django.core.management.base import CommandError, CommandParser

from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.doctor import WITH_FILE, segment_verify, timeline_doctor
from apps.episodic.management.timeline.subcommand import (
    Console,
    Options,
    Subcommand,
    count_of,
    find_segment,
    optional_segment,
)
from apps.episodic.models import Segment


def add_doctor_arguments(parser: CommandParser) -> None:
    """Add the options of `doctor`."""
    parser.add_argument("--repair", action="store_true", help="Repair what can be repaired.")
    parser.add_argument(
        "--give-up", action="store_true", help="With --repair: give up segments that cannot be read at all."
    )


def run_doctor(console: Console, options: Options) -> None:
    """Examine the timeline, and print what is wrong. Raises CommandError if anything still is."""
    if options["give_up"] and not options["repair"]:
        raise CommandError("--give-up needs --repair.")
    report = timeline_doctor(repair=options["repair"], give_up=options["give_up"], watch=console.watch)
    for finding in report.findings:
        repaired = " Repaired." if finding.repaired else ""
        lost = f" {count_of(finding.lost, 'event')} lost." if finding.lost else ""
        console.say(f"{finding.kind.value}: {finding.subject}: {finding.detail}{repaired}{lost}")
    for failure in report.failures:
        console.warn(failure)
    segments, events = count_of(report.segments, "segment"), count_of(report.events, "event")
    console.say(f"{segments} sound: {events}, {report.size_bytes:,} bytes.")
    if report.findings:
        repaired_count = sum(finding.repaired for finding in report.findings)
        findings, lost_events = count_of(len(report.findings), "finding"), count_of(report.lost, "event")
        console.say(f"{findings}: {repaired_count} repaired, {lost_events} lost.")
    if not report.is_healthy:
        raise CommandError("Something is wrong." if options["repair"] else "Something is wrong; --repair may help.")


def run_verify(console: Console, options: Options) -> None:
    """Verify one file or all. Raises CommandError if one is not sound."""
    if options["segment"]:
        segments = [find_segment(options["segment"])]
    else:
        states = [*WITH_FILE, SegmentState.QUARANTINED]
        segments = list(Segment.objects.filter(state__in=states).order_by("first_timestamp", "id"))
    with console.watch("Verifying", len(segments)) as advance:
        bad = 0
        for segment in segments:
            after = segment_verify(segment_id=segment.pk)
            advance(1)
            if after.state not in WITH_FILE:
                bad += 1
                console.say(f"{after.uuid}: {after.state}: {after.damage or 'it has no file'}")
    console.say(f"{count_of(len(segments) - bad, 'segment')} sound.")
    if bad:
        raise CommandError("Something is wrong; see `timeline doctor`.")


DOCTOR = Subcommand(
    "doctor",
    "Compare every segment, every file and every row, and report what is wrong.",
    run_doctor,
    add_doctor_arguments,
)
VERIFY = Subcommand(
    "verify",
    "Read files from end to end: take damaged ones out of service, and put good ones back.",
    run_verify,
    optional_segment("The id of the segment to verify; default: all."),
)
