"""The place of a note in its user's folder, for example `MEMORY.md` and `daily/2026-03-04.md`."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from apps.core.domain.errors import InvalidInputError
from apps.notes.domain.names import is_device

MAIN_NAME = "MEMORY.md"
DAILY_FOLDER = "daily"
# Folders of other users are below this name in the folder of the default user.
USERS_FOLDER = "users"
# Hidden files beside a note have its name and up to 103 bytes more.
MAX_SEGMENT_BYTES = 150
MAX_SEGMENTS = 8
# Any other file in the folder is the person's own, and no note.
NOTE_SUFFIXES = (".md", ".txt", ".xml")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")


@dataclass(frozen=True, order=True)
class NotePlace:
    """The segments of a path below the folder of a user; none of them leads anywhere else."""

    segments: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.segments)

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self.segments[-1]

    @property
    def day(self) -> date | None:
        """Return the day of a daily log; None for any other note."""
        found = _DAY.fullmatch(self.name) if self.segments[:-1] == (DAILY_FOLDER,) else None
        try:
            return date.fromisoformat(found[1]) if found else None
        except ValueError:
            return None


MAIN = NotePlace((MAIN_NAME,))
# The settings of the person: no note, but kept like one, with its versions.
CONFIG = NotePlace(("memory-config.json",))


def daily_place(day: date) -> NotePlace:
    """Return the place of the log of a day."""
    return NotePlace((DAILY_FOLDER, f"{day.isoformat()}.md"))


def parse_place(path: str, attr: str = "path") -> NotePlace:
    """Return the place that a relative path names.

    Raises InvalidInputError for a path that could leave the folder, or that some file system cannot hold.
    """
    segments = tuple(path.split("/"))
    if len(segments) > MAX_SEGMENTS:
        raise InvalidInputError(f"A path can have at most {MAX_SEGMENTS} parts.", attr=attr, code="too_deep")
    for segment in segments:
        problem = problem_of(segment)
        if problem is not None:
            raise InvalidInputError(f"A part of the path {problem}.", attr=attr, code="path")
    if segments[0].casefold() == USERS_FOLDER:
        detail = f"The folder {USERS_FOLDER} is where the notes of other users are."
        raise InvalidInputError(detail, attr=attr, code="path")
    return NotePlace(segments)


def is_note_name(name: str) -> bool:
    """Return whether a file of a name is a note."""
    return name.casefold().endswith(NOTE_SUFFIXES)


def has_versions(place: NotePlace) -> bool:
    """Return whether a place is of a note, or of the settings: versions of any other file are not shown or made."""
    return is_note_name(place.name) or place == CONFIG


def problem_of(segment: str) -> str | None:
    """Return what is wrong with one part of a path; None when nothing is."""
    try:
        size = len(segment.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if not segment:
        return "is empty"
    if size > MAX_SEGMENT_BYTES:
        return f"is longer than {MAX_SEGMENT_BYTES} bytes"
    if _FORBIDDEN.search(segment):
        return 'has a control character or one of < > : " | ? * \\'
    if segment.startswith("."):
        return "begins with a dot"
    if segment[-1] in ". " or segment[0] == " ":
        return "begins or ends with a space, or ends with a dot"
    if is_device(segment):
        return "is the name of a device"
    if unicodedata.normalize("NFC", segment) != segment:
        return "is not in the composed form of Unicode (NFC)"
    return None
