"""`timeline doctor` and `verify`."""

from django.core.management.base import CommandError, CommandParser

from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.maintenance.doctor import DoctorReport, segment_verify, timeline_doctor
from apps.episodic.management.timeline.maintain import found, optional_segment
from apps.episodic.management.timeline.subcommand import Console, Options, Subcommand, counted
from apps.episodic.models import Segment

WITH_FILE = (SegmentState.SEALED, SegmentState.ARCHIVED, SegmentState.QUARANTINED)
SOUND = (SegmentState.SEALED, SegmentState.ARCHIVED)


def _add_doctor_arguments(parser: CommandParser) -> None:
    parser.add_argument("--repair", action="store_true", help="Repair what can be repaired.")
    parser.add_argument(
        "--give-up", action="store_true", help="With --repair: end segments of which nothing can be read."
    )


def _doctor(console: Console, options: Options) -> None:
    if options["give_up"] and not options["repair"]:
        raise CommandError("--give-up goes with --repair.")
    report = timeline_doctor(repair=options["repair"], give_up=options["give_up"], watch=console.watch)
    _tell(console, report)
    if not report.is_healthy:
        raise CommandError("Something is wrong." if options["repair"] else "Something is wrong; --repair may help.")


def _tell(console: Console, report: DoctorReport) -> None:
    for finding in report.findings:
        repaired = " Repaired." if finding.repaired else ""
        lost = f" {counted(finding.lost, 'event')} lost." if finding.lost else ""
        console.say(f"{finding.kind.value}: {finding.subject}: {finding.detail}{repaired}{lost}")
    for failure in report.failures:
        console.warn(failure)
    console.say(
        f"{counted(report.segments, 'segment')} sound: {counted(report.events, 'event')}, {report.size_bytes:,} bytes."
    )
    if report.findings:
        put_right = sum(finding.repaired for finding in report.findings)
        console.say(
            f"{counted(len(report.findings), 'finding')}: {put_right} repaired, {counted(report.lost, 'event')} lost."
        )


def _verify(console: Console, options: Options) -> None:
    if options["segment"]:
        segments = [found(options["segment"])]
    else:
        segments = list(Segment.objects.filter(state__in=WITH_FILE).order_by("first_timestamp", "id"))
    with console.watch("Verifying", len(segments)) as advance:
        bad = 0
        for segment in segments:
            after = segment_verify(segment_id=segment.pk)
            advance(1)
            if after.state not in SOUND:
                bad += 1
                console.say(f"{after.uuid}: {after.state}: {after.damage or 'it has no file'}")
    console.say(f"{counted(len(segments) - bad, 'segment')} sound.")
    if bad:
        raise CommandError("Something is wrong; see `timeline doctor`.")


DOCTOR = Subcommand(
    "doctor",
    "Hold every segment, every file and every row against each other, and say what is wrong.",
    _doctor,
    _add_doctor_arguments,
)
VERIFY = Subcommand(
    "verify",
    "Read files from end to end: out of service with a damaged one, and back with one that is good again.",
    _verify,
    optional_segment("The id of the one to verify; default: all."),
)
