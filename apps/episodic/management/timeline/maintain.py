"""`timeline maintain`, `seal` and `compact`."""

from django.core.management.base import CommandError

from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.management.timeline.subcommand import (
    Console,
    Options,
    Subcommand,
    count_of,
    find_segment,
    optional_segment,
)

WAIT_SECONDS = 10.0


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


def run_maintain(console: Console, options: Options) -> None:
    """Do what is due."""
    print_report(console, timeline_maintain(watch=console.watch, wait_seconds=WAIT_SECONDS))


def run_compact(console: Console, options: Options) -> None:
    """Merge small segments."""
    print_report(console, timeline_compact(watch=console.watch, wait_seconds=WAIT_SECONDS))


def run_seal(console: Console, options: Options) -> None:
    """Seal one segment, or all that can be sealed."""
    segment_id = find_segment(options["segment"]).pk if options["segment"] else None
    print_report(console, timeline_seal(segment_id=segment_id, watch=console.watch, wait_seconds=WAIT_SECONDS))


MAINTAIN = Subcommand("maintain", "Close, seal, archive and merge what is due, as the schedule does.", run_maintain)
COMPACT = Subcommand("compact", "Merge small archived segments into fewer.", run_compact)
SEAL = Subcommand(
    "seal",
    "Close the open segment now, and write every closed segment to its file.",
    run_seal,
    optional_segment("The id of the segment to seal; default: all that can be sealed."),
)
