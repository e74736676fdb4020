"""`timeline prune` and `purge`."""

from django.core.management.base import CommandError, CommandParser

from apps.core.domain.scope import Scope, system_access
from apps.episodic.maintenance.remove import RemovalReport
from apps.episodic.management.timeline.subcommand import Console, Options, Subcommand, count_of
from apps.episodic.models import RetentionPolicy
from apps.episodic.retention.prune import prune_preview, timeline_prune
from apps.episodic.retention.purge import events_purge, purge_preview, quarantined_files

WAIT_SECONDS = 60.0


def describe_removal(report: RemovalReport) -> str:
    """Return the numbers of events from rows and files."""
    files = count_of(report.segments, "file")
    return f"{count_of(report.events, 'event')} ({report.rows:,} rows, {report.archived:,} in {files})"


def add_prune_arguments(parser: CommandParser) -> None:
    """Add the options of `prune`."""
    parser.add_argument("--dry-run", action="store_true", help="Only show how many events would be removed.")


def run_prune(console: Console, options: Options) -> None:
    """Remove what is expired, or say how much it is."""
    if not RetentionPolicy.objects.filter(is_enabled=True).exists():
        console.say("No retention policy is switched on: all events are kept.")
        return
    if options["dry_run"]:
        console.say(f"{describe_removal(prune_preview(watch=console.watch))} would be removed. Nothing changed.")
        return
    report = timeline_prune(watch=console.watch, wait_seconds=WAIT_SECONDS)
    console.say(f"{describe_removal(report)} removed.")
    for failure in report.failures:
        console.warn(failure)
    if report.failures or report.damaged:
        raise CommandError(f"Not everything could be examined; {count_of(report.damaged, 'segment')} damaged.")


def add_purge_arguments(parser: CommandParser) -> None:
    """Add the options of `purge`."""
    parser.add_argument("--user-id", required=True)
    parser.add_argument("--household-id", help="Only events of this household.")
    parser.add_argument("--persona-id", help="Only events of this persona.")
    parser.add_argument("--yes", action="store_true", help="Remove them; without this, only show how many.")


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


PRUNE = Subcommand("prune", "Remove the events that retention policies expire.", run_prune, add_prune_arguments)
PURGE = Subcommand("purge", "Remove all events of a user for good.", run_purge, add_purge_arguments)
