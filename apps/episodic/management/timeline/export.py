"""`timeline export`: the events of a scope as NDJSON."""

from datetime import datetime
from pathlib import Path

from django.core.management.base import CommandError, CommandParser

from apps.core.domain.scope import Scope, system_access
from apps.core.files import new_file
from apps.episodic.domain.segment_file.lines import encode_line
from apps.episodic.domain.window import EventQuery
from apps.episodic.management.timeline.subcommand import Console, Options, Subcommand, count_of
from apps.episodic.queries.export import events_count, events_export
from apps.episodic.store.archived_segments import count_damaged

SHOWN_EVERY = 1_000


def parse_moment(text: str) -> datetime:
    """Return a time. Raises ValueError for a text that is none, or has no offset."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError
    return moment


# What argparse calls a wrong value.
parse_moment.__name__ = "moment (ISO 8601 with an offset)"


def add_export_arguments(parser: CommandParser) -> None:
    """Add the file, and the filters."""
    parser.add_argument("file", type=Path, help="The file to write; it must not exist yet.")
    parser.add_argument("--user-id", help="Only events of this user; without an identifier, all events.")
    parser.add_argument("--household-id", help="Only events of this household.")
    parser.add_argument("--persona-id", help="Only events of this persona.")
    parser.add_argument("--from", dest="start", type=parse_moment, help="Only events at or after this time.")
    parser.add_argument("--to", dest="end", type=parse_moment, help="Only events at or before this time.")
    parser.add_argument("--event-type", action="append", default=[], help="Only events of this type; may be repeated.")


def run_export(console: Console, options: Options) -> None:
    """Write events to a new file. Raises CommandError when some could not be read."""
    scope = Scope(*(options[name] or None for name in ("user_id", "household_id", "persona_id")))
    query = EventQuery(scope, start=options["start"], end=options["end"], event_types=tuple(options["event_type"]))
    access = system_access("export")
    with console.watch("Exporting", events_count(access, query)) as advance, new_file(options["file"]) as file:
        written = 0
        for written, event in enumerate(events_export(access, query), 1):
            file.write(encode_line(event))
            if written % SHOWN_EVERY == 0:
                advance(SHOWN_EVERY)
        advance(written % SHOWN_EVERY)
    console.say(f"{count_of(written, 'event')} written to {options['file']}.")
    if damaged := count_damaged():
        raise CommandError(
            f"{count_of(damaged, 'damaged segment')} could not be read, and events may be missing. "
            "Repair with `manage.py timeline doctor --repair`, then export again."
        )


EXPORT = Subcommand("export", "Write events to a file, one JSON object per line.", run_export, add_export_arguments)
