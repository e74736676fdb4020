"""`sync add`, `list`, `show`, `pause`, `resume` and `remove`."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.sync import selectors, services
from apps.sync.domain.triggers import parse_duration
from apps.sync.management.sync.subcommand import (
    ACCESS,
    Console,
    Options,
    Subcommand,
    count_of,
    find_source,
    source_argument,
)
from apps.sync.models import ConventionChoices, KnowledgeSource, LayerChoices, SourceKind
from apps.sync.schemas.sources import read_time, source_json

TEXTS = ("owner", "project", "branch", "folder", "layer", "convention", "credentials", "webhook_secret")


def add_add_arguments(parser: CommandParser) -> None:
    """Add the options of `add`."""
    parser.add_argument("name")
    parser.add_argument("location", help="An address (https, ssh), or a path below a permitted folder.")
    parser.add_argument("--owner", help="The owner of the pointers, such as team:platform.")
    parser.add_argument("--kind", choices=SourceKind.values, default=SourceKind.GIT, help="Default: git.")
    parser.add_argument("--project", help="A tag for the memories.")
    parser.add_argument("--branch", help="Default: the branch that is checked out.")
    parser.add_argument("--folder", help="Only what is below this folder of the source.")
    parser.add_argument("--include", action="append", help="Only files of this pattern; repeat it for more.")
    parser.add_argument("--exclude", action="append", help="No file of this pattern; repeat it for more.")
    parser.add_argument("--layer", choices=LayerChoices.values, help="For items that do not name one. Default: team.")
    parser.add_argument("--convention", choices=ConventionChoices.values, help="Default: recognised file by file.")
    parser.add_argument(
        "--mapping", help="How the source's own words map to the hub's: a JSON object with fields, statuses and kinds."
    )
    parser.add_argument("--resolution", action="append", metavar="TYPE=RESOLUTION", help="Instead of the default.")
    parser.add_argument("--credentials", help="The name of a secret to read the repository with.")
    parser.add_argument("--webhook-secret", help="The name of the secret of a webhook.")
    parser.add_argument("--staleness", help="Sync when the last sync is older than this, such as 6h.")
    parser.add_argument("--sessions", type=int, help="Sync after this many sessions.")
    parser.add_argument("--daily-at", help="Sync every day at this time, UTC, such as 03:00.")
    parser.add_argument("--max-items", type=int, help="The most changes in one incremental sync.")


def read_object(text: str) -> Any:
    """Return what a JSON text says. Raises CommandError."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError("--mapping must be a JSON object.") from error


def run_add(console: Console, options: Options) -> None:
    """Create a source."""
    values: dict[str, Any] = {name: options[name] for name in ("name", "location", "kind")}
    values |= {("user_id" if name == "owner" else name): options[name] for name in TEXTS if options[name]}
    values |= {name: options[name] for name in ("include", "exclude", "max_items") if options[name] is not None}
    if options["mapping"]:
        values["mapping"] = read_object(options["mapping"])
    if options["resolution"]:
        values["resolutions"] = dict(read_pair(text) for text in options["resolution"])
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


def read_pair(text: str) -> tuple[str, str]:
    """Return a type of conflict and its resolution. Raises CommandError."""
    name, sign, value = text.partition("=")
    if not sign:
        raise CommandError("Write --resolution TYPE=RESOLUTION, such as orphaned_pointer=manual.")
    return name, value


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


def add_pause_arguments(parser: CommandParser) -> None:
    """Add the options of `pause`."""
    source_argument(parser)
    parser.add_argument("--reason", default="", help="Why.")


def run_pause(console: Console, options: Options) -> None:
    """Pause a source."""
    source = services.source_pause(access=ACCESS, uuid=find_source(options["source"]).uuid, reason=options["reason"])
    console.answer(source_json(source, ACCESS), f"{source.name} is paused: no trigger starts a sync.")


def run_resume(console: Console, options: Options) -> None:
    """Resume a source."""
    source = services.source_resume(access=ACCESS, uuid=find_source(options["source"]).uuid)
    console.answer(source_json(source, ACCESS), f"{source.name} will sync when a trigger is met.")


def add_remove_arguments(parser: CommandParser) -> None:
    """Add the options of `remove`."""
    source_argument(parser)
    parser.add_argument("--yes", action="store_true", help="Delete it; without this, only show the number of items.")


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
    Subcommand("add", "Create a source.", run_add, add_add_arguments),
    Subcommand("list", "List all sources.", run_list),
    Subcommand("show", "Show a source.", run_show, source_argument),
    Subcommand("pause", "Keep triggers from starting syncs.", run_pause, add_pause_arguments),
    Subcommand("resume", "Let triggers start syncs again.", run_resume, source_argument),
    Subcommand("remove", "Delete a source; its memories are soft-deleted.", run_remove, add_remove_arguments),
)
