"""Carrying out a file command of Anthropic's memory tool (`memory_20250818`) below /memories, the notes of a user.

Each change is a version of the note like any other: nothing that a command overwrites or deletes is lost.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError, MemoryHubError, NotFoundError, UnavailableError
from apps.core.steps import Step, no_step
from apps.notes.domain.command_texts import (
    ROOT,
    CommandError,
    decode,
    does_not_exist,
    file_text,
    folder_text,
    inserted,
    parse_file,
    parse_target,
    replaced,
)
from apps.notes.domain.places import NotePlace, is_note_name
from apps.notes.files.changes import note_read
from apps.notes.files.desk import Desk, NoteChangedError
from apps.notes.files.folder import MAX_BYTES, Folder, too_large
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import folder_of
from apps.notes.files.removal import folder_delete, folder_rename, note_delete, note_rename
from apps.notes.models import ChangeKind, NoteVersion

_DEPTH = 2
_TRIES = 20
# Returns the new text of a note from the present one, None where there is no file; may raise.
Revise = Callable[[bytes | None], bytes]


class CommandName(StrEnum):
    """The commands of the tool."""

    VIEW = "view"
    CREATE = "create"
    STR_REPLACE = "str_replace"
    INSERT = "insert"
    DELETE = "delete"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its parameters, by the names of the tool; those that it does not need are ignored."""

    command: CommandName
    path: str = ""
    view_range: Sequence[int] | None = None
    file_text: str = ""
    old_str: str = ""
    new_str: str = ""
    insert_line: int = 0
    insert_text: str = ""
    old_path: str = ""
    new_path: str = ""

    @property
    def is_write(self) -> bool:
        """Return whether it changes something."""
        return self.command is not CommandName.VIEW

    @property
    def is_remembering(self) -> bool:
        """Return whether it writes words; to move and to delete does not."""
        return self.command in {CommandName.CREATE, CommandName.STR_REPLACE, CommandName.INSERT}


@dataclass(frozen=True)
class CommandResult:
    """What a command answers to the model. version: of the note that it wrote or deleted, where it was one."""

    text: str
    is_error: bool = False
    version: NoteVersion | None = None


class FileKind(Enum):
    """What is at a place."""

    NOTHING = auto()
    FILE = auto()
    FOLDER = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Notes:
    """The notes that commands are carried out on, for an author."""

    user_id: str
    author: str
    clock: Clock = SYSTEM_CLOCK

    def run(self, asked: Command) -> CommandResult:
        """Carry out a command; what the model can mend is an answer. Raises ForbiddenError, UnavailableError."""
        commands: dict[CommandName, Callable[[Command], CommandResult]] = {
            CommandName.VIEW: self.view,
            CommandName.CREATE: self.create,
            CommandName.STR_REPLACE: self.replace,
            CommandName.INSERT: self.insert,
            CommandName.DELETE: self.delete,
            CommandName.RENAME: self.rename,
        }
        try:
            return commands[asked.command](asked)
        except CommandError as error:
            return CommandResult(str(error), is_error=True)
        except (ConflictError, InvalidInputError, NotFoundError) as error:
            return CommandResult(error.detail, is_error=True)

    def view(self, asked: Command) -> CommandResult:
        """Return a note with the numbers of its lines, or what is in a folder."""
        place = parse_target(asked.path)
        kind = self.kind(place)
        if place is not None and kind is FileKind.FILE and is_note_name(place.name):
            note = note_read(self.user_id, place, clock=self.clock)
            return CommandResult(file_text(asked.path, (note.text or b"").decode(errors="replace"), asked.view_range))
        above = () if place is None else place.segments
        entries = entries_below(folder_of(self.user_id), above) if kind is FileKind.FOLDER else []
        if place is not None and not entries:
            raise self.missing(place, kind, asked.path)
        shown = [
            ("/".join(each.segments[len(above) :]), each.is_folder, each.size)
            for each in entries
            if len(each.segments) - len(above) <= _DEPTH
        ]
        return CommandResult(folder_text(asked.path, sum(each.size for each in entries if not each.is_folder), shown))

    def create(self, asked: Command) -> CommandResult:
        """Write a note; of one that is there already, what it was stays as a version."""
        version, _ = note_revise(
            self.user_id,
            parse_file(asked.path),
            lambda _: asked.file_text.encode(),
            author=self.author,
            clock=self.clock,
        )
        return CommandResult(f"File created successfully at: {asked.path}", version=version)

    def replace(self, asked: Command) -> CommandResult:
        """Replace a passage that is in a note once."""
        answers: list[str] = []

        def change(text: str) -> str:
            changed, answer = replaced(asked.path, text, asked.old_str, asked.new_str)
            answers.append(answer)
            return changed

        version = self.revise(asked.path, change)
        return CommandResult(answers[-1], version=version)

    def insert(self, asked: Command) -> CommandResult:
        """Add lines after a line of a note."""
        version = self.revise(asked.path, lambda text: inserted(text, asked.insert_line, asked.insert_text))
        return CommandResult(f"The file {asked.path} has been edited.", version=version)

    def delete(self, asked: Command) -> CommandResult:
        """Delete a note, or all notes in a folder."""
        place = parse_target(asked.path)
        if place is None:
            raise CommandError(f"Cannot delete the {ROOT} directory itself")
        kind, version = self.kind(place), None
        try:
            if kind is FileKind.FILE and is_note_name(place.name):
                version = note_delete(self.user_id, place, author=self.author, clock=self.clock)
            elif kind is FileKind.FOLDER:
                folder_delete(self.user_id, place, author=self.author, clock=self.clock)
            else:
                raise self.missing(place, kind, asked.path)
        except NotFoundError as error:
            raise CommandError(f"The path {asked.path} does not exist") from error
        return CommandResult(f"Successfully deleted {asked.path}", version=version)

    def rename(self, asked: Command) -> CommandResult:
        """Give a note or a folder another name, or another folder."""
        old = parse_target(asked.old_path)
        if old is None:
            raise CommandError(f"Cannot rename the {ROOT} directory itself")
        kind, version = self.kind(old), None
        try:
            if kind is FileKind.FILE and is_note_name(old.name):
                new = parse_file(asked.new_path)
                version = note_rename(self.user_id, old, new, author=self.author, clock=self.clock)
            elif kind is FileKind.FOLDER:
                target = parse_target(asked.new_path)
                if target is None:
                    raise CommandError(f"The destination {ROOT} already exists")
                folder_rename(self.user_id, old, target, author=self.author, clock=self.clock)
            else:
                raise self.missing(old, kind, asked.old_path)
        except NotFoundError as error:
            raise CommandError(f"The path {asked.old_path} does not exist") from error
        except ConflictError as error:
            if error.code != "exists":
                raise
            raise CommandError(f"The destination {asked.new_path} already exists") from error
        return CommandResult(f"Successfully renamed {asked.old_path} to {asked.new_path}", version=version)

    def kind(self, place: NotePlace | None) -> FileKind:
        """Return what is at a place; the folder itself is always there."""
        return FileKind.FOLDER if place is None else kind_at(folder_of(self.user_id), place)

    def missing(self, place: NotePlace, kind: FileKind, path: str) -> CommandError:
        """Return the error for a place where there is no note."""
        if kind is FileKind.OTHER:
            return CommandError(f"Unsupported file type for {path}")
        if kind is FileKind.FILE:
            parse_file(path)  # says which names a note can have
        return does_not_exist(path)

    def revise(self, path: str, change: Callable[[str], str]) -> NoteVersion:
        """Change the text of a note that is there. Raises CommandError."""
        place = parse_file(path)

        def revise(text: bytes | None) -> bytes:
            if text is None:
                raise does_not_exist(path)
            return change(decode(text, path)).encode()

        return note_revise(self.user_id, place, revise, author=self.author, clock=self.clock)[0]


@dataclass(frozen=True, order=True)
class Entry:
    """A note, or a folder with notes. size: in bytes, of a folder that of the notes in it."""

    segments: tuple[str, ...]
    is_folder: bool
    size: int


def entries_below(folder: Folder, above: tuple[str, ...]) -> list[Entry]:
    """List the notes and folders below a folder, sorted by name; of a folder without notes, nothing."""
    sizes: dict[tuple[str, ...], int] = {}
    files: list[Entry] = []
    for place in folder.places():
        if len(place.segments) <= len(above) or place.segments[: len(above)] != above:
            continue
        size = size_of(folder, place)
        files.append(Entry(place.segments, is_folder=False, size=size))
        for length in range(len(above) + 1, len(place.segments)):
            sizes[place.segments[:length]] = sizes.get(place.segments[:length], 0) + size
    return sorted([*files, *(Entry(segments, is_folder=True, size=size) for segments, size in sizes.items())])


def size_of(folder: Folder, place: NotePlace) -> int:
    """Return the size of a file in bytes, 0 where it cannot be reached."""
    with contextlib.suppress(MemoryHubError), folder.directory(place) as directory:
        return os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_size
    return 0


def kind_at(folder: Folder, place: NotePlace) -> FileKind:
    """Return what is at a place, without following a link. Raises ConflictError where it cannot be reached."""
    try:
        with folder.directory(place) as directory:
            mode = os.stat(place.name, dir_fd=directory, follow_symlinks=False).st_mode
    except NotFoundError:
        return FileKind.NOTHING
    return FileKind.FILE if stat.S_ISREG(mode) else FileKind.FOLDER if stat.S_ISDIR(mode) else FileKind.OTHER


def note_revise(
    user_id: str,
    place: NotePlace,
    revise: Revise,
    *,
    author: str,
    clock: Clock = SYSTEM_CLOCK,
    step: Step = no_step,
) -> tuple[NoteVersion, bytes]:
    """Replace the text of a note by what a function makes of it; return the version and the text.

    No digest is needed: nothing comes between. What an editor saves in that very moment is read again.
    Raises what the function raises, InvalidInputError, ConflictError, UnavailableError.
    """
    with notes_lock(user_id):
        desk = Desk(user_id, place, author, utcnow(clock), step)
        for _ in range(_TRIES):
            note = desk.look()
            text = revise(note.text)
            if len(text) > MAX_BYTES:
                raise too_large(place.name)
            if note.text == text and note.version is not None:
                return note.version, text
            try:
                return desk.write(lambda _, text=text: text, ChangeKind.EDIT, note.text)  # type: ignore[misc]
            except NoteChangedError:
                continue
        raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)
