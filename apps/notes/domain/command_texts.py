"""The file commands of Anthropic's memory tool (`memory_20250818`): paths, changes and answers, as models know them.

The words of the answers are those of the tool's reference implementation, on which models were trained.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from apps.core.domain.errors import InvalidInputError
from apps.notes.domain.places import NOTE_SUFFIXES, NotePlace, is_note_name, parse_place
from apps.notes.domain.text import line_end

ROOT = "/memories"
MAX_LINES = 999_999
_NUMBER_WIDTH = 6
_MARK = "\ufeff"
# How many lines before and after a change its answer shows.
_CONTEXT = 2
_MAX_ECHOED = 400


class CommandError(Exception):
    """A command cannot be carried out; its text is for the model."""


def parse_target(path: str) -> NotePlace | None:
    """Return the place that a path below /memories names; None for /memories itself. Raises CommandError."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise CommandError(f"Path must start with {ROOT}, got: {echo(path)}")
    relative = path.removeprefix(ROOT).strip("/") if path.rstrip("/") == ROOT else path.removeprefix(f"{ROOT}/")
    if not relative:
        return None
    if unquote(relative) != relative:
        raise CommandError(f"The path {echo(path)} is not allowed: percent-encoded characters are not decoded.")
    try:
        return parse_place(relative.removesuffix("/"))
    except InvalidInputError as error:
        raise CommandError(f"The path {echo(path)} is not allowed: {error.detail}") from error


def parse_file(path: str) -> NotePlace:
    """Return the place of a note that a path names. Raises CommandError for a name that no note has."""
    place = parse_target(path)
    if place is None or path.endswith("/"):
        raise CommandError(f"The path {echo(path)} is not a file.")
    if not is_note_name(place.name):
        raise CommandError(f"The path {echo(path)} is not allowed: a file's name ends in {' or '.join(NOTE_SUFFIXES)}.")
    return place


def echo(text: str) -> str:
    """Return what a model sent, short enough to be sent back."""
    return text if len(text) <= _MAX_ECHOED else f"{text[:_MAX_ECHOED]}..."


def does_not_exist(path: str) -> CommandError:
    """Return the error for a path to nothing."""
    return CommandError(f"The path {echo(path)} does not exist. Please provide a valid path.")


def decode(text: bytes, path: str) -> str:
    """Return the text of a note that is to be changed. Raises CommandError where it is not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"The file {echo(path)} is not valid UTF-8 and cannot be edited.") from error


def file_text(path: str, text: str, view_range: Sequence[int] | None = None) -> str:
    """Return the answer to `view` of a file: its lines with their numbers, from 1. Raises CommandError."""
    lines = visible_lines(text)
    if len(lines) > MAX_LINES:
        raise CommandError(f"File {echo(path)} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if view_range is not None:
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else min(view_range[1], len(lines))
        if first > last:
            raise CommandError(
                f"Invalid `view_range` parameter: {list(view_range)}. The file has {len(lines)} lines: it should be "
                f"[first, last] with 1 <= first <= last <= {len(lines)}, or -1 as last for the end."
            )
    return f"Here's the content of {path} with line numbers:\n{numbered(lines, first, last)}"


def visible_lines(text: str) -> list[str]:
    """Return the lines of a text as a model sees them: without an encoding mark and carriage returns."""
    return [line.removesuffix("\r") for line in text.removeprefix(_MARK).split("\n")]


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Return some lines, each after its number."""
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{lines[number - 1]}" for number in range(first, last + 1))


def folder_text(path: str, size: int, entries: Iterable[tuple[str, bool, int]]) -> str:
    """Return the answer to `view` of a folder. entries: relative path, whether it is a folder, and size in bytes."""
    shown = path.rstrip("/")
    lines = [f"{size_text(size)}\t{shown}"]
    lines += [f"{size_text(each)}\t{shown}/{name}{'/' if is_folder else ''}" for name, is_folder, each in entries]
    header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
    return "\n".join([header, *lines])


def size_text(size: int) -> str:
    """Return a size as `ls -h` shows it, for example 512B and 1.5K."""
    unit, power = "B", 1
    for unit, power in (("B", 1), ("K", 1024), ("M", 1024**2)):  # noqa: B007
        if size < power * 1024:
            break
    return f"{size // power}{unit}" if size % power == 0 else f"{size / power:.1f}{unit}"


def replaced(path: str, text: str, old: str, new: str) -> tuple[str, str]:
    """Return a text in which one passage is replaced by another, and the answer to `str_replace`. Raises CommandError.

    Where the file has line ends of Windows, those of the passages are taken for the same.
    """
    end = line_end(text.encode()).decode()
    wanted, put = in_line_ends(old, end), in_line_ends(new, end)
    if wanted not in text:  # a file may have both
        wanted = old
    plain = old.replace("\r\n", "\n")
    # Found in any line ends, and where the finds overlap: what a model sees is the same.
    forms = {wanted, plain, plain.replace("\n", "\r\n")}
    places = {at + len(each): at for each in forms for at in starts_of(text, each)}
    if wanted not in text or not wanted:
        raise CommandError(
            f"No replacement was performed, old_str `{echo(old)}` did not appear verbatim in {echo(path)}."
        )
    if len(places) > 1:
        lines = ", ".join(map(str, sorted({text.count("\n", 0, at) + 1 for at in places.values()})))
        raise CommandError(
            f"No replacement was performed. Multiple occurrences of old_str `{echo(old)}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    at = text.index(wanted)
    changed = text[:at] + put + text[at + len(wanted) :]
    line = text[:at].count("\n") + 1
    shown = visible_lines(changed)
    snippet = numbered(shown, max(1, line - _CONTEXT), min(len(shown), line + _CONTEXT))
    header = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return changed, f"{header}\n{snippet}"


def starts_of(text: str, passage: str) -> list[int]:
    """List where a passage begins, also where it overlaps itself; at most 20."""
    found: list[int] = []
    at = text.find(passage)
    while at >= 0 and len(found) < 20:
        found.append(at)
        at = text.find(passage, at + 1)
    return found


def inserted(text: str, line: int, addition: str) -> str:
    """Return a text with lines added after a line, 0 for the beginning. Raises CommandError."""
    starts = line_starts(text)
    count = len(starts) - 1
    if not 0 <= line <= count:
        raise CommandError(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {count}].")
    end = line_end(text.encode()).decode()
    at = starts[line]
    before = "" if at == 0 or text[:at].endswith("\n") or text[:at] == _MARK else end
    lines = in_line_ends(addition, end)
    return text[:at] + before + (lines if lines.endswith("\n") else lines + end) + text[at:]


def line_starts(text: str) -> list[int]:
    """Return where each line begins, and where the text ends."""
    starts = [len(_MARK) if text.startswith(_MARK) else 0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def in_line_ends(text: str, end: str) -> str:
    """Return a text with the line ends of a file."""
    return text if end == "\n" else text.replace("\r\n", "\n").replace("\n", end)
