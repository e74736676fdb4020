"""`sync full`, `incremental`, `item` and `dry-run`."""

from django.core.management.base import CommandError, CommandParser

from apps.sync import services
from apps.sync.domain.errors import KNOWLEDGE_UNAVAILABLE, NO_ITEMS
from apps.sync.management.sync.subcommand import (
    ACCESS,
    EXIT_NO_ITEMS,
    EXIT_PARTIAL,
    EXIT_UNAVAILABLE,
    Console,
    Options,
    RunProgress,
    Subcommand,
    count_of,
    find_source,
    source_argument,
)
from apps.sync.models import SyncKind, SyncRun, SyncRunState
from apps.sync.schemas.preview import preview_json
from apps.sync.schemas.runs import run_detail_json

ENDS = {
    SyncRunState.COMPLETE: "complete",
    SyncRunState.PARTIAL: "some files could not be read; the others are synced",
    SyncRunState.LIMITED: "more changes are waiting for the next sync",
    SyncRunState.FAILED: "failed",
    SyncRunState.INTERRUPTED: "interrupted",
}
# What of a dry run is printed; `--json` has all.
MAX_SHOWN = 200


def run_full(console: Console, options: Options) -> None:
    """Read everything."""
    sync(console, options, SyncKind.FULL)


def run_incremental(console: Console, options: Options) -> None:
    """Read what changed since the last sync."""
    sync(console, options, SyncKind.INCREMENTAL)


def run_item(console: Console, options: Options) -> None:
    """Sync one item."""
    sync(console, options, SyncKind.SINGLE, options["item"])


def sync(console: Console, options: Options, kind: SyncKind, item_id: str = "") -> None:
    """Sync a source with a progress bar for each step. Raises CommandError unless it is complete."""
    source = find_source(options["source"])
    with RunProgress(console.stream) as show:
        run = services.sync_run(
            access=ACCESS,
            uuid=source.uuid,
            kind=kind,
            item_id=item_id,
            reason="command",
            on_progress=show,
            allow_empty=bool(options.get("allow_empty")),
        )
    print_run(console, run)


def print_run(console: Console, run: SyncRun) -> None:
    """Print what a run did. Raises CommandError unless it is complete, or goes on with the next one."""
    did = f"{run.added:,} added, {run.updated:,} updated, {run.deleted:,} deleted, {run.unchanged:,} unchanged"
    more = [count_of(run.conflicts, "conflict")] if run.conflicts else []
    more += [f"{count_of(run.remaining, 'change')} to come"] if run.remaining else []
    lines = [f"{SyncKind(run.kind).label}: {ENDS.get(SyncRunState(run.state), run.state)}; {', '.join([did, *more])}."]
    if run.to_commit:
        lines.append(f"At commit {run.to_commit[:12]}.")
    if run.fallback:
        lines.append(f"Everything was read: {run.fallback}")
    console.answer(run_detail_json(run, ACCESS), *lines)
    for failed in run.failed_items:
        console.warn(f"{failed['path']}: {failed['code']}: {failed['detail']}")
    if run.state == SyncRunState.PARTIAL:
        raise CommandError(f"{run.code}: {count_of(run.failed, 'file')} could not be read.", returncode=EXIT_PARTIAL)
    if run.code == NO_ITEMS:
        raise CommandError(f"{run.code}: {run.detail}", returncode=EXIT_NO_ITEMS)
    if run.state in {SyncRunState.FAILED, SyncRunState.INTERRUPTED}:
        code = EXIT_UNAVAILABLE if run.code == KNOWLEDGE_UNAVAILABLE else 1
        raise CommandError(f"{run.code}: {run.detail}", returncode=code)


def add_sync_arguments(parser: CommandParser) -> None:
    """Add the arguments of `full` and `incremental`."""
    source_argument(parser)
    parser.add_argument("--allow-empty", action="store_true", help="Delete all pointers if no files are left.")


def add_item_arguments(parser: CommandParser) -> None:
    """Add the arguments of `item`."""
    source_argument(parser)
    parser.add_argument("item", help="The id of an item.")


def run_dry(console: Console, options: Options) -> None:
    """Say what a full sync would do."""
    preview = services.sync_preview(access=ACCESS, uuid=find_source(options["source"]).uuid)
    items = [file.item for file in preview.files if file.item is not None]
    lines = [f"{item.type.mark:<9} {item.item_id:<24} {item.status:<11} {item.title}" for item in items[:MAX_SHOWN]]
    lines += [f"... and {len(items) - MAX_SHOWN:,} more"] if len(items) > MAX_SHOWN else []
    refused = [file.refused for file in preview.files if file.refused is not None]
    lines += [f"REFUSED   {each.path}: {each.code}: {each.detail}" for each in refused[:MAX_SHOWN]]
    lines += [f"CONFLICT  {found.type} of {found.item_id}: {resolution}" for found, resolution in preview.conflicts]
    delta = preview.delta
    lines.append(
        f"{len(delta.added):,} would be added, {len(delta.updated):,} updated, {len(delta.deleted):,} deleted; "
        f"{len(delta.unchanged):,} unchanged, {count_of(len(refused), 'file')} refused. Nothing was written."
    )
    lines += [preview.advice] if preview.advice else []
    console.answer(preview_json(preview), *lines)


SUBCOMMANDS = (
    Subcommand("full", "Read everything and sync it.", run_full, add_sync_arguments),
    Subcommand("incremental", "Sync what changed since the last sync.", run_incremental, add_sync_arguments),
    Subcommand("item", "Sync one item.", run_item, add_item_arguments),
    Subcommand("dry-run", "Show what each file would become, without writing.", run_dry, source_argument),
)
