"""`timeline maintain`, `seal` and `compact`."""

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from apps.episodic.maintenance.run import MaintenanceReport, timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.management.timeline.subcommand import Console, Options, Subcommand, counted
from apps.episodic.models import Segment

WAIT_SECONDS = 10.0


def tell(console: Console, report: MaintenanceReport) -> None:
    """What was done. Raises CommandError where something failed."""
    done = [
        (report.closed, "closed"), (report.sealed, "sealed"), (report.archived, "archived"), (report.merged, "merged"),
    ]  # fmt: skip
    told = [f"{counted(number, 'segment')} {what}" for number, what in done if number]
    if report.removed:
        told.append(f"{counted(report.removed, 'file')} removed")
    console.say(", ".join(told) + "." if told else "Nothing was due.")
    for failure in report.failures:
        console.warn(failure)
    if report.damaged:
        console.warn(f"{counted(report.damaged, 'segment')} damaged; see `timeline doctor`.")
    if report.failures or report.damaged:
        raise CommandError("Not everything could be done.")


def _maintain(console: Console, options: Options) -> None:
    tell(console, timeline_maintain(watch=console.watch, wait_seconds=WAIT_SECONDS))


def _compact(console: Console, options: Options) -> None:
    tell(console, timeline_compact(watch=console.watch, wait_seconds=WAIT_SECONDS))


def _seal(console: Console, options: Options) -> None:
    segment = found(options["segment"]).pk if options["segment"] else None
    tell(console, timeline_seal(segment_id=segment, watch=console.watch, wait_seconds=WAIT_SECONDS))


def found(uuid: str) -> Segment:
    """The segment of an id. Raises CommandError."""
    try:
        return Segment.objects.get(uuid=uuid)
    except (Segment.DoesNotExist, ValidationError) as error:
        raise CommandError(f"There is no segment {uuid}.") from error


def optional_segment(help_text: str) -> Callable[[CommandParser], None]:
    """An argument for the id of a segment."""

    def add(parser: CommandParser) -> None:
        parser.add_argument("segment", nargs="?", help=help_text)

    return add


MAINTAIN = Subcommand("maintain", "Close, seal, archive and merge what is due, as the schedule does.", _maintain)
COMPACT = Subcommand("compact", "Merge small archived segments into fewer.", _compact)
SEAL = Subcommand(
    "seal",
    "Close the open segment now, and write every closed one into its file.",
    _seal,
    optional_segment("The id of the one to seal; default: all that can be."),
)
