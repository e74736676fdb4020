"""`sync status`."""

from apps.sync import selectors
from apps.sync.management.sync.subcommand import ACCESS, Console, Options, Subcommand, find_source, source_argument
from apps.sync.schemas.runs import checkpoint_json, run_json, should_sync_json
from apps.sync.schemas.sources import state_json

RECENT = 5


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


SUBCOMMANDS = (
    Subcommand("status", "Show the state after the last sync, and whether a sync is due.", run_status, source_argument),
)
