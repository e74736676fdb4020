"""`sync add`, `list`, `show`, `pause`, `resume` and `remove`."""

import json
from typing import Any

from django.core.management.base import CommandError

from apps.core.management.subcommands import Console, Options, Subcommand, argument, count_of
from apps.sync import selectors, services
from apps.sync.domain.triggers import parse_duration
from apps.sync.management.sync.subcommand import ACCESS, SOURCE, find_source
from apps.sync.models import ConventionChoices, KnowledgeSource, LayerChoices, SourceKind
from apps.sync.schemas.sources import read_time, source_json

TEXTS = ("owner", "project", "branch", "folder", "layer", "convention", "credentials", "webhook_secret")


def run_add(console: Console, options: Options) -> None:
    """Create a source."""
    values: dict[str, Any] = {name: options[name] for name in ("name", "location", "kind")}
    values |= {("user_id" if name == "owner" else name): options[name] for name in TEXTS if options[name]}
    values |= {name: options[name] for name in ("include", "exclude", "max_items") if options[name] is not None}
    if options["mapping"]:
        try:
            values["mapping"] = json.loads(options["mapping"])
        except ValueError as error:
            raise CommandError("--mapping must be a JSON object.") from error
    if options["resolution"]:
        pairs = [text.partition("=") for text in options["resolution"]]
        if not all(sign for _, sign, _ in pairs):
            raise CommandError("Write --resolution TYPE=RESOLUTION, such as orphaned_pointer=manual.")
        values["resolutions"] = {name: value for name, _, value in pairs}
    if options["staleness"]:
        values["staleness_seconds"] = parse_duration(options["staleness"])
    if options["sessions"] is not None:
        values["session_threshold"] = options["sessions"]
    if options["daily_at"]:
        values["daily_at"] = read_time(options["daily_at"])
    source = services.source_create(access=ACCESS, values=values)
    console.answer(
        source_json(source, ACCESS),
        f"Created {source.name} ({source.uuid}).",
        f"Try it: manage.py sync dry-run {source.name}",
    )


def run_list(console: Console, options: Options) -> None:
    """List all sources."""
    sources = list(selectors.source_list(ACCESS))
    console.answer([source_json(source, ACCESS) for source in sources], *map(describe, sources))
    if not sources and not console.is_json:
        console.say("There are no sources: `manage.py sync add` creates one.")


def describe(source: KnowledgeSource) -> str:
    """Return a source as a line."""
    synced = source.state.last_sync_at
    when = f"synced {synced:%Y-%m-%d %H:%M}" if synced else "not synced yet"
    halted = "  PAUSED" if source.paused else "" if source.enabled else "  OFF"
    return f"{source.name:<24} {source.user_id:<20} {source.kind:<7} {when}  {source.location}{halted}"


def run_show(console: Console, options: Options) -> None:
    """Show a source."""
    shown = source_json(find_source(options["source"]), ACCESS)
    lines = [f"{name:>18}  {read_value(value)}" for name, value in shown.items() if value not in ("", None, [], {})]
    console.answer(shown, *lines)


def read_value(value: Any) -> str:
    """Return a value of a source in a line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def run_pause(console: Console, options: Options) -> None:
    """Pause a source."""
    source = services.source_pause(access=ACCESS, uuid=find_source(options["source"]).uuid, reason=options["reason"])
    console.answer(source_json(source, ACCESS), f"{source.name} is paused: no trigger starts a sync.")


def run_resume(console: Console, options: Options) -> None:
    """Resume a source."""
    source = services.source_resume(access=ACCESS, uuid=find_source(options["source"]).uuid)
    console.answer(source_json(source, ACCESS), f"{source.name} will sync when a trigger is met.")


def run_remove(console: Console, options: Options) -> None:
    """Delete a source, or say what that would do."""
    source = find_source(options["source"])
    items = count_of(source.items.count(), "item")
    if not options["yes"]:
        raise CommandError(
            f"This would delete {source.name} with {items}, and soft-delete its memories. Add --yes to do it."
        )
    services.source_delete(access=ACCESS, uuid=source.uuid)
    console.answer({"id": str(source.uuid), "deleted": True}, f"{source.name} is deleted with {items}.")


SUBCOMMANDS = (
    Subcommand(
        "add",
        "Create a source.",
        run_add,
        [
            argument("name"),
            argument("location", help="An address (https, ssh), or a path below a permitted folder."),
            argument("--owner", help="The owner of the pointers, such as team:platform."),
            argument("--kind", choices=SourceKind.values, default=SourceKind.GIT, help="Default: git."),
            argument("--project", help="A tag for the memories."),
            argument("--branch", help="Default: the branch that is checked out."),
            argument("--folder", help="Only what is below this folder of the source."),
            argument("--include", action="append", help="Only files of this pattern; repeat it for more."),
            argument("--exclude", action="append", help="No file of this pattern; repeat it for more."),
            argument("--layer", choices=LayerChoices.values, help="For items that do not name one. Default: team."),
            argument("--convention", choices=ConventionChoices.values, help="Default: recognised file by file."),
            argument(
                "--mapping",
                help="How the source's own words map to the hub's: a JSON object with fields, statuses and kinds.",
            ),
            argument("--resolution", action="append", metavar="TYPE=RESOLUTION", help="Instead of the default."),
            argument("--credentials", help="The name of a secret to read the repository with."),
            argument("--webhook-secret", help="The name of the secret of a webhook."),
            argument("--staleness", help="Sync when the last sync is older than this, such as 6h."),
            argument("--sessions", type=int, help="Sync after this many sessions."),
            argument("--daily-at", help="Sync every day at this time, UTC, such as 03:00."),
            argument("--max-items", type=int, help="The most changes in one incremental sync."),
        ],
    ),
    Subcommand("list", "List all sources.", run_list),
    Subcommand("show", "Show a source.", run_show, [SOURCE]),
    Subcommand(
        "pause",
        "Keep triggers from starting syncs.",
        run_pause,
        [SOURCE, argument("--reason", default="", help="Why.")],
    ),
    Subcommand("resume", "Let triggers start syncs again.", run_resume, [SOURCE]),
    Subcommand(
        "remove",
        "Delete a source; its memories are soft-deleted.",
        run_remove,
        [
            SOURCE,
            argument("--yes", action="store_true", help="Delete it; without this, only show the number of items."),
        ],
    ),
)
