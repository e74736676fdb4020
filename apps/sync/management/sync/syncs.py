"""The subcommands of `sync` about runs, the state of a source, conflicts and rollbacks."""

from functools import partial

from django.core.management.base import CommandError

from apps.core.management.subcommands import Console, Options, Subcommand, argument, count_of
from apps.sync import selectors, services
from apps.sync.domain.errors import KNOWLEDGE_UNAVAILABLE, NO_ITEMS
from apps.sync.domain.state import Resolution
from apps.sync.management.sync.subcommand import (
    ACCESS,
    EXIT_NO_ITEMS,
    EXIT_PARTIAL,
    EXIT_UNAVAILABLE,
    SOURCE,
    RunProgress,
    find_source,
    read_uuid,
)
from apps.sync.models import SyncKind, SyncRun, SyncRunState
from apps.sync.schemas.conflicts import DECISIONS, conflict_json
from apps.sync.schemas.preview import preview_json
from apps.sync.schemas.runs import checkpoint_json, run_detail_json, run_json, should_sync_json
from apps.sync.schemas.sources import state_json

RECENT = 5
MAX_CONFLICTS = 1_000
ENDS = {
    SyncRunState.COMPLETE: "complete",
    SyncRunState.PARTIAL: "some files could not be read; the others are synced",
    SyncRunState.LIMITED: "more changes are waiting for the next sync",
    SyncRunState.FAILED: "failed",
    SyncRunState.INTERRUPTED: "interrupted",
}
# What of a dry run is printed; `--json` has all.
MAX_SHOWN = 200
ALLOW_EMPTY = argument("--allow-empty", action="store_true", help="Delete all pointers if no files are left.")


def run_status(console: Console, options: Options) -> None:
    """Show the state of a source, whether a sync is due, the last runs, and what it can be taken back to."""
    source = find_source(options["source"])
    state = state_json(source, selectors.state_of(ACCESS, source.uuid))
    due = selectors.should_sync_of(ACCESS, source.uuid)
    runs = list(selectors.run_list(ACCESS, source.uuid)[:RECENT])
    checkpoints = list(selectors.checkpoint_list(ACCESS, source.uuid)[:RECENT])
    answer = {
        "state": state,
        "should_sync": should_sync_json(due),
        "runs": [run_json(run, ACCESS) for run in runs],
        "checkpoints": [checkpoint_json(each) for each in checkpoints],
    }
    lines = [f"{name.replace('_', ' '):>20}  {value}" for name, value in state.items() if value not in ("", None)]
    lines.append(f"{'sync due':>20}  {'yes' if due.should else 'no'} ({due.reason}) {due.detail}".rstrip())
    for run in runs:
        progress = f", {run.step} {run.done:,}/{run.total:,}" if run.state == "running" else ""
        lines.append(f"{'run':>20}  {run.requested_at:%Y-%m-%d %H:%M} {run.kind} {run.state} {run.code}{progress}")
    lines += [
        f"{'checkpoint':>20}  {each.uuid} before {each.run.kind} of {each.created_at:%Y-%m-%d %H:%M}"
        for each in checkpoints
    ]
    console.answer(answer, *lines)


def run_conflicts(console: Console, options: Options) -> None:
    """List conflicts."""
    listed = selectors.conflict_list(ACCESS, find_source(options["source"]).uuid)
    found = list((listed if options["all"] else listed.open())[:MAX_CONFLICTS])
    lines = [f"{each.uuid}  {each.type:<18} {each.item_id:<24} {each.resolution or each.suggested}" for each in found]
    console.answer([conflict_json(each) for each in found], *(lines or ["No conflict waits for a person."]))


def run_resolve(console: Console, options: Options) -> None:
    """Decide a conflict."""
    uuid = read_uuid(options["conflict"])
    if uuid is None:
        raise CommandError("Name a conflict by its id: `manage.py sync conflicts SOURCE` lists them.")
    resolution = Resolution(options["resolution"])
    conflict = services.conflict_resolve(access=ACCESS, uuid=uuid, resolution=resolution)
    console.answer(conflict_json(conflict), f"{conflict.type} of {conflict.item_id}: {conflict.resolution}.")


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


def run_sync(console: Console, options: Options, *, kind: SyncKind) -> None:
    """Sync a source with a progress bar for each step. Raises CommandError unless it is complete."""
    source = find_source(options["source"])
    with RunProgress(console.stream) as show:
        run = services.sync_run(
            access=ACCESS,
            uuid=source.uuid,
            kind=kind,
            item_id=options.get("item", ""),
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
    Subcommand("full", "Read everything and sync it.", partial(run_sync, kind=SyncKind.FULL), [SOURCE, ALLOW_EMPTY]),
    Subcommand(
        "incremental",
        "Sync what changed since the last sync.",
        partial(run_sync, kind=SyncKind.INCREMENTAL),
        [SOURCE, ALLOW_EMPTY],
    ),
    Subcommand(
        "item",
        "Sync one item.",
        partial(run_sync, kind=SyncKind.SINGLE),
        [SOURCE, argument("item", help="The id of an item.")],
    ),
    Subcommand("dry-run", "Show what each file would become, without writing.", run_dry, [SOURCE]),
    Subcommand("status", "Show the state after the last sync, and whether a sync is due.", run_status, [SOURCE]),
    Subcommand(
        "conflicts",
        "List the conflicts that are waiting for a person.",
        run_conflicts,
        [SOURCE, argument("--all", action="store_true", help="Include resolved ones.")],
    ),
    Subcommand(
        "resolve",
        "Decide a conflict.",
        run_resolve,
        [argument("conflict", help="The id of a conflict."), argument("resolution", choices=DECISIONS)],
    ),
    Subcommand(
        "rollback",
        "Roll a source back to a checkpoint.",
        run_rollback,
        [
            SOURCE,
            argument("checkpoint", nargs="?", help="The id of the checkpoint; without it, the checkpoints are listed."),
        ],
    ),
)
