"""Import what people have in other programs, and undo such an import."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from apps.core.domain.errors import MemoryHubError, NotFoundError
from apps.core.domain.scope import Scope, system_access
from apps.core.management.subcommands import Console, Options, Subcommand, SubcommandsCommand, argument, count_of
from apps.imports.domain.counts import Counts
from apps.imports.domain.found import Kind, Reason, Target
from apps.imports.running.run import ImportBusyError, fail
from apps.imports.selectors import Import, import_get, import_list
from apps.imports.services import import_begin, import_run, import_undo, look

MAX_SHOWN = 20
ACTOR = "command:import_from"
HELP = {
    Kind.CHATGPT: "Import ChatGPT's data export: conversations to the timeline, noted memories to memories.",
    Kind.CLAUDE: "Import Claude's data export: conversations to the timeline, memories, projects' documents to notes.",
    Kind.MEM0: "Import memories that mem0 gave out as JSON.",
    Kind.BASIC_MEMORY: "Import a folder of Basic Memory: files to notes, observations to memories.",
    Kind.MARKDOWN: "Import a folder of Markdown: files to notes.",
    Kind.CLAUDE_CODE: "Import files of Claude Code: the lists of MEMORY.md to memories, other files to notes.",
}
WORDS = {
    Reason.NO_WORDS: "no words in it",
    Reason.NO_DATE: "no date",
    Reason.IN_THE_FUTURE: "dated in the future",
    Reason.TOO_LONG: "too long",
    Reason.TOO_LARGE: "too large",
    Reason.TOOL: "what tools were asked and answered, and thoughts",
    Reason.HIDDEN: "hidden in the conversation",
    Reason.OTHER_BRANCH: "replaced by another branch of the conversation",
    Reason.ATTACHMENT: "attached files",
    Reason.OTHER_USER: "of another user (choose one with --from-user)",
    Reason.DELETED: "switched off",
    Reason.ONLY_A_LINK: "only a link to a file, which is kept as a note",
    Reason.NOT_UNDERSTOOD: "not what was expected there",
    Reason.NOT_UTF8: "not in UTF-8",
    Reason.PATH: "a path that no note can have",
    Reason.NOTE_EXISTS: "there is a note of this name with other words",
    Reason.RULES: "the rules prefer what the hub has",
    Reason.PAUSED: "this person has paused saving",
    Reason.OTHER: "could not be saved",
}
USER = argument("--user", required=True, metavar="ID", help="Whose it is.")
DRY = argument("--dry-run", action="store_true", help="Only count what would be kept; change nothing.")
PATH = argument("path", type=Path, help="A ZIP file, a folder, or a file.")


def run_kind(kind: Kind) -> Callable[[Console, Options], None]:
    """Return what imports files of a kind."""

    def run(console: Console, options: Options) -> None:
        path, user, from_user = options["path"], options["user"], options.get("from_user") or ""
        with ExitStack() as stack:
            advance: list[Callable[[int], None]] = []

            def progress(read: int, total: int) -> None:
                if not advance:
                    title = "Looking" if options["dry_run"] else "Importing"
                    advance.append(stack.enter_context(console.watch(title, total)))
                advance[0](read)

            if options["dry_run"]:
                counts = look(user_id=user, kind=kind, path=path, from_user=from_user, progress=progress)
                said = "Nothing was changed."
            else:
                record = import_begin(
                    user_id=user,
                    kind=kind,
                    name=str(path),
                    asked_by=ACTOR,
                    from_user=from_user,
                )
                keep_all(record, path, progress)
                counts = Counts.from_json(record.counts)
                said = f"Undo it with `manage.py import_from undo {record.uuid}`."
        is_dry = bool(options["dry_run"])
        console.answer({"dry_run": is_dry, **counts.as_json()}, *lines_of(counts, is_dry=is_dry), said)

    return run


def keep_all(record: Import, path: Path, progress: Callable[[int, int], None]) -> None:
    """Keep what is in the files, in this process. What ends it is noted, so that nobody waits for it."""
    try:
        import_run(record=record, path=path, progress=progress)
    except ImportBusyError:
        raise
    except MemoryHubError as error:
        fail(record, error)
        detail = f"{error.detail} What was kept can be undone: `manage.py import_from undo {record.uuid}`."
        raise CommandError(detail) from error
    except BaseException:
        fail(record, MemoryHubError("It was interrupted.", code="interrupted"))
        raise


def lines_of(counts: Counts, *, is_dry: bool) -> list[str]:
    """Return counts in words, with some of the places of what is refused."""
    would = "would be kept" if is_dry else "kept"
    lines = [
        f"{target.value}: {counts.kept[target.value]:,} {would}, {counts.known[target.value]:,} already known"
        for target in Target
    ]
    lines.append(f"refused: {counts.refused.total():,}")
    lines += [f"  {count:,}: {WORDS[Reason(reason)]}" for reason, count in counts.refused.most_common()]
    lines += [f"    {place}: {WORDS[Reason(reason)]}" for place, reason in counts.named[:MAX_SHOWN]]
    return lines


def run_undo(console: Console, options: Options) -> None:
    """Undo an import."""
    record = import_undo(record=record_of(options["import"]))
    undone: dict[str, Any] = record.undone
    lines = [
        f"{target.value}: {undone['forgotten'].get(target.value, 0):,} forgotten, "
        f"{undone['kept'].get(target.value, 0):,} stay, since someone confirmed or changed them"
        for target in Target
    ]
    console.answer(undone, *lines, f"{count_of(undone['decisions'], 'decision')} of rules reverted.")


def record_of(text: str) -> Import:
    """Return an import by its id. Raises NotFoundError."""
    try:
        return import_get(system_access(ACTOR), UUID(text))
    except ValueError:
        raise NotFoundError("There is no such import: `manage.py import_from list` shows them.") from None


def run_list(console: Console, options: Options) -> None:
    """List imports, the newest first."""
    rows = list(import_list(system_access(ACTOR), Scope(options["user"])))
    values = [
        {
            "id": str(row.uuid),
            "user_id": row.user_id,
            "kind": row.kind,
            "name": row.name,
            "state": row.state,
            "asked_at": row.asked_at.isoformat(),
            "kept": row.counts.get("kept", {}),
        }
        for row in rows
    ]
    lines = [
        f"{one['id']}  {one['asked_at'][:16]}  {one['state']:9} {one['user_id']}  {one['kind']}  {one['name']}"
        for one in values
    ]
    console.answer(values, *(lines or ["No imports."]))


class Command(SubcommandsCommand):
    """Import what people have in other programs."""

    help = (
        "Import what a person has in ChatGPT, Claude, mem0, Basic Memory, Claude Code or a folder of Markdown, or undo "
        "such an import. What the hub knows stays as it is, so you can repeat an import: after a process that was "
        "killed, the same command goes on where it stopped."
    )
    common = (argument("--json", action="store_true", help="Print JSON."),)
    subcommands = (
        *(
            Subcommand(
                kind.value,
                HELP[kind],
                run_kind(kind),
                (
                    PATH,
                    USER,
                    DRY,
                    *(
                        [argument("--from-user", metavar="ID", help="Whose memories, as mem0 names them.")]
                        if kind is Kind.MEM0
                        else []
                    ),
                ),
            )
            for kind in Kind
        ),
        Subcommand(
            "undo",
            "Undo an import: forget what it kept and nobody has confirmed or changed since.",
            run_undo,
            (argument("import", metavar="IMPORT", help="Its id."),),
        ),
        Subcommand("list", "List imports.", run_list, (argument("--user", metavar="ID", help="Whose."),)),
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the part that was chosen. Raises CommandError."""
        try:
            self.run_chosen(options)
        except MemoryHubError as error:
            raise CommandError(error.detail) from error
