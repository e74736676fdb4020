"""`timeline prune` and `purge`."""

from django.core.management.base import CommandError, CommandParser

from apps.core.domain.scope import Scope, system_access
from apps.episodic.maintenance.remove import RemovalReport
from apps.episodic.management.timeline.subcommand import Console, Options, Subcommand, counted
from apps.episodic.models import RetentionPolicy
from apps.episodic.retention.prune import prune_preview, timeline_prune
from apps.episodic.retention.purge import events_purge, purge_preview, quarantined_files

WAIT_SECONDS = 60.0


def _add_prune_arguments(parser: CommandParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="Only say how many events would go.")


def _prune(console: Console, options: Options) -> None:
    if not RetentionPolicy.objects.filter(is_enabled=True).exists():
        console.say("No retention policy is switched on: every event is kept.")
        return
    if options["dry_run"]:
        console.say(f"{_described(prune_preview(watch=console.watch))} would go. Nothing changed.")
        return
    report = timeline_prune(watch=console.watch, wait_seconds=WAIT_SECONDS)
    console.say(f"{_described(report)} removed.")
    for failure in report.failures:
        console.warn(failure)
    if report.failures or report.damaged:
        raise CommandError(f"Not everything could be looked at; {counted(report.damaged, 'segment')} damaged.")


def _described(report: RemovalReport) -> str:
    files = counted(report.segments, "file")
    return f"{counted(report.events, 'event')} ({report.rows:,} rows, {report.archived:,} in {files})"


def _add_purge_arguments(parser: CommandParser) -> None:
    parser.add_argument("--user-id", required=True)
    parser.add_argument("--household-id", help="Only those of this household.")
    parser.add_argument("--persona-id", help="Only those of this persona.")
    parser.add_argument("--yes", action="store_true", help="Do it; without this only the number is said.")


def _purge(console: Console, options: Options) -> None:
    scope = Scope(options["user_id"], options["household_id"] or None, options["persona_id"] or None)
    access = system_access("purge")
    if not options["yes"]:
        would = _described(purge_preview(access=access, scope=scope, watch=console.watch))
        raise CommandError(f"This would remove {would} for good. Say --yes to do it.")
    report = events_purge(access=access, scope=scope, watch=console.watch)
    console.say(f"{_described(report)} removed.")
    if aside := quarantined_files():
        console.warn(f"{counted(len(aside), 'file')} in timeline/quarantine may hold some of them: {', '.join(aside)}.")
        console.warn("Look at what was set aside there, and delete it.")


PRUNE = Subcommand("prune", "Remove the events that retention policies let go.", _prune, _add_prune_arguments)
PURGE = Subcommand("purge", "Remove all events of a user for good.", _purge, _add_purge_arguments)
