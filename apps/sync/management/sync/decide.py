"""`sync conflicts`, `resolve` and `rollback`."""

from django.core.management.base import CommandError, CommandParser

from apps.sync import selectors, services
from apps.sync.domain.state import Resolution
from apps.sync.management.sync.subcommand import (
    ACCESS,
    Console,
    Options,
    Subcommand,
    find_source,
    read_uuid,
    source_argument,
)
from apps.sync.management.sync.syncs import print_run
from apps.sync.schemas.conflicts import DECISIONS, conflict_json
from apps.sync.schemas.runs import checkpoint_json

MAX_SHOWN = 1_000


def add_conflicts_arguments(parser: CommandParser) -> None:
    """Add the options of `conflicts`."""
    source_argument(parser)
    parser.add_argument("--all", action="store_true", help="Include resolved ones.")


def run_conflicts(console: Console, options: Options) -> None:
    """List conflicts."""
    listed = selectors.conflict_list(ACCESS, find_source(options["source"]).uuid)
    found = list((listed if options["all"] else listed.open())[:MAX_SHOWN])
    lines = [f"{each.uuid}  {each.type:<18} {each.item_id:<24} {each.resolution or each.suggested}" for each in found]
    console.answer([conflict_json(each) for each in found], *(lines or ["No conflict waits for a person."]))


def add_resolve_arguments(parser: CommandParser) -> None:
    """Add the arguments of `resolve`."""
    parser.add_argument("conflict", help="The id of a conflict.")
    parser.add_argument("resolution", choices=DECISIONS)


def run_resolve(console: Console, options: Options) -> None:
    """Decide a conflict."""
    uuid = read_uuid(options["conflict"])
    if uuid is None:
        raise CommandError("Name a conflict by its id: `manage.py sync conflicts SOURCE` lists them.")
    resolution = Resolution(options["resolution"])
    conflict = services.conflict_resolve(access=ACCESS, uuid=uuid, resolution=resolution)
    console.answer(conflict_json(conflict), f"{conflict.type} of {conflict.item_id}: {conflict.resolution}.")


def add_rollback_arguments(parser: CommandParser) -> None:
    """Add the arguments of `rollback`."""
    source_argument(parser)
    parser.add_argument(
        "checkpoint", nargs="?", help="The id of the checkpoint; without it, the checkpoints are listed."
    )


def run_rollback(console: Console, options: Options) -> None:
    """Take a source back to a checkpoint, or list those that it has."""
    source = find_source(options["source"])
    if not options["checkpoint"]:
        found = list(selectors.checkpoint_list(ACCESS, source.uuid))
        lines = [f"{each.uuid}  before the {each.run.kind} sync of {each.created_at:%Y-%m-%d %H:%M}" for each in found]
        console.answer([checkpoint_json(each) for each in found], *(lines or ["There are no checkpoints yet."]))
        return
    checkpoint = read_uuid(options["checkpoint"])
    if checkpoint is None:
        raise CommandError(f"That is not the id of a checkpoint: `manage.py sync rollback {source.name}` lists them.")
    print_run(console, services.sync_rollback(access=ACCESS, uuid=source.uuid, checkpoint=checkpoint))
    if not console.is_json:
        console.say(f"{source.name} is paused; `manage.py sync resume {source.name}` syncs it again.")


SUBCOMMANDS = (
    Subcommand(
        "conflicts", "List the conflicts that are waiting for a person.", run_conflicts, add_conflicts_arguments
    ),
    Subcommand("resolve", "Decide a conflict.", run_resolve, add_resolve_arguments),
    Subcommand("rollback", "Roll a source back to a checkpoint.", run_rollback, add_rollback_arguments),
)
