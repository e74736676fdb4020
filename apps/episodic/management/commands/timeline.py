"""Maintain the timeline by hand."""

from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope, system_access
from apps.core.files import new_file
from apps.core.management.subcommands import Console, Options, Subcommand, SubcommandsCommand, argument, count_of
from apps.episodic.domain.segment_file.lines import encode_line
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.domain.window import EventQuery
from apps.episodic.maintenance.doctor import WITH_FILE, segment_verify, timeline_doctor
from apps.episodic.maintenance.remove import RemovalReport
from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.queries.export import events_count, events_export
from apps.episodic.retention.prune import prune_preview, timeline_prune
from apps.episodic.retention.purge import events_purge, purge_preview, quarantined_files
from apps.episodic.store.archived_segments import count_damaged

# How long a part waits for another maintenance.
MAINTAIN_SECONDS = 10.0
PRUNE_SECONDS = 60.0
# Events of an export between two looks at the bar.
SHOWN_EVERY = 1_000


def find_segment(uuid: str) -> Segment:
    """Return the segment of an id. Raises CommandError."""
    try:
        return Segment.objects.get(uuid=uuid)
    except (Segment.DoesNotExist, ValidationError) as error:
        raise CommandError(f"There is no segment {uuid}.") from error


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


def print_report(console: Console, report: MaintenanceReport) -> None:
    """Print what was done. Raises CommandError where something failed."""
    done = [
        (report.closed, "closed"), (report.sealed, "sealed"), (report.archived, "archived"), (report.merged, "merged"),
    ]  # fmt: skip
    parts = [f"{count_of(number, 'segment')} {what}" for number, what in done if number]
    if report.removed:
        parts.append(f"{count_of(report.removed, 'file')} removed")
    console.say(", ".join(parts) + "." if parts else "Nothing was due.")
    for failure in report.failures:
        console.warn(failure)
    if report.damaged:
        console.warn(f"{count_of(report.damaged, 'segment')} damaged; see `timeline doctor`.")
    if report.failures or report.damaged:
        raise CommandError("Not everything could be completed.")


def run_seal(console: Console, options: Options) -> None:
    """Seal one segment, or all that can be sealed."""
    segment_id = find_segment(options["segment"]).pk if options["segment"] else None
    print_report(console, timeline_seal(segment_id=segment_id, watch=console.watch, wait_seconds=MAINTAIN_SECONDS))


def describe_removal(report: RemovalReport) -> str:
    """Return the numbers of events from rows and files."""
    files = count_of(report.segments, "file")
    return f"{count_of(report.events, 'event')} ({report.rows:,} rows, {report.archived:,} in {files})"


def run_prune(console: Console, options: Options) -> None:
    """Remove what is expired, or say how much it is."""
    if not RetentionPolicy.objects.filter(is_enabled=True).exists():
        console.say("No retention policy is switched on: all events are kept.")
        return
    if options["dry_run"]:
        console.say(f"{describe_removal(prune_preview(watch=console.watch))} would be removed. Nothing changed.")
        return
    report = timeline_prune(watch=console.watch, wait_seconds=PRUNE_SECONDS)
    console.say(f"{describe_removal(report)} removed.")
    for failure in report.failures:
        console.warn(failure)
    if report.failures or report.damaged:
        raise CommandError(f"Not everything could be examined; {count_of(report.damaged, 'segment')} damaged.")


def run_purge(console: Console, options: Options) -> None:
    """Remove all events of a scope, or say how many they are."""
    scope = Scope(options["user_id"], options["household_id"] or None, options["persona_id"] or None)
    access = system_access("purge")
    if not options["yes"]:
        preview = describe_removal(purge_preview(access=access, scope=scope, watch=console.watch))
        raise CommandError(f"This would remove {preview} for good. Add --yes to do it.")
    report = events_purge(access=access, scope=scope, watch=console.watch)
    console.say(f"{describe_removal(report)} removed.")
    if files := quarantined_files():
        console.warn(
            f"{count_of(len(files), 'file')} in timeline/quarantine may hold some of them: {', '.join(files)}."
        )
        console.warn("Check what was set aside there, and delete it.")


def parse_moment(text: str) -> datetime:
    """Return a time. Raises ValueError for a text that is none, or has no offset."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError
    return moment


# What argparse calls a wrong value.
parse_moment.__name__ = "moment (ISO 8601 with an offset)"


def run_export(console: Console, options: Options) -> None:
    """Write events to a new file. Raises CommandError when some could not be read."""
    scope = Scope(*(options[name] or None for name in ("user_id", "household_id", "persona_id")))
    query = EventQuery(scope, start=options["start"], end=options["end"], event_types=tuple(options["event_type"]))
    access = system_access("export")
    with console.watch("Exporting", events_count(access, query)) as advance, new_file(options["file"]) as file:
        written = 0
        for written, event in enumerate(events_export(access, query), 1):
            file.write(encode_line(event))
            if written % SHOWN_EVERY == 0:
                advance(SHOWN_EVERY)
        advance(written % SHOWN_EVERY)
    console.say(f"{count_of(written, 'event')} written to {options['file']}.")
    if damaged := count_damaged():
        raise CommandError(
            f"{count_of(damaged, 'damaged segment')} could not be read, and events may be missing. "
            "Repair with `manage.py timeline doctor --repair`, then export again."
        )


SUBCOMMANDS = (
    Subcommand(
        "doctor",
        "Compare every segment, every file and every row, and report what is wrong.",
        run_doctor,
        [
            argument("--repair", action="store_true", help="Repair what can be repaired."),
            argument(
                "--give-up", action="store_true", help="With --repair: give up segments that cannot be read at all."
            ),
        ],
    ),
    Subcommand(
        "verify",
        "Read files from end to end: take damaged ones out of service, and put good ones back.",
        run_verify,
        [argument("segment", nargs="?", help="The id of the segment to verify; default: all.")],
    ),
    Subcommand(
        "maintain",
        "Close, seal, archive and merge what is due, as the schedule does.",
        lambda console, _: print_report(console, timeline_maintain(watch=console.watch, wait_seconds=MAINTAIN_SECONDS)),
    ),
    Subcommand(
        "seal",
        "Close the open segment now, and write every closed segment to its file.",
        run_seal,
        [argument("segment", nargs="?", help="The id of the segment to seal; default: all that can be sealed.")],
    ),
    Subcommand(
        "compact",
        "Merge small archived segments into fewer.",
        lambda console, _: print_report(console, timeline_compact(watch=console.watch, wait_seconds=MAINTAIN_SECONDS)),
    ),
    Subcommand(
        "prune",
        "Remove the events that retention policies expire.",
        run_prune,
        [argument("--dry-run", action="store_true", help="Only show how many events would be removed.")],
    ),
    Subcommand(
        "purge",
        "Remove all events of a user for good.",
        run_purge,
        [
            argument("--user-id", required=True),
            argument("--household-id", help="Only events of this household."),
            argument("--persona-id", help="Only events of this persona."),
            argument("--yes", action="store_true", help="Remove them; without this, only show how many."),
        ],
    ),
    Subcommand(
        "export",
        "Write events to a file, one JSON object per line.",
        run_export,
        [
            argument("file", type=Path, help="The file to write; it must not exist yet."),
            argument("--user-id", help="Only events of this user; without an identifier, all events."),
            argument("--household-id", help="Only events of this household."),
            argument("--persona-id", help="Only events of this persona."),
            argument("--from", dest="start", type=parse_moment, help="Only events at or after this time."),
            argument("--to", dest="end", type=parse_moment, help="Only events at or before this time."),
            argument("--event-type", action="append", default=[], help="Only events of this type; may be repeated."),
        ],
    ),
)


class Command(SubcommandsCommand):
    help = "Maintain the timeline: check, repair and archive its segments, and export or remove events."
    subcommands = SUBCOMMANDS

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run_chosen(options)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
