"""The place of a note in its user's folder, for example `MEMORY.md` and `daily/2026-03-04.md`.

Any user id becomes the name of a folder that every file system can hold, and no two become the same. A name has only
lower-case letters, digits and hyphens; every other byte of the id is written as `_` and two hexadecimal digits, so ids
that differ in case differ on a disk that does not distinguish it. What would be longer than MAX_CHARS, or is the name
of a device, is marked by two underscores, which no other name has.
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from apps.core.domain.errors import InvalidInputError

MAX_CHARS = 120
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)
_ENCODED = re.compile(r"_([0-9a-f]{2})")
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


def folder_name(user_id: str) -> str:
    """Return the name of a user's folder. Raises ValueError for an empty id, which is no user's."""
    if not user_id:
        raise ValueError("A user id has at least one character.")
    name = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in user_id.encode())
    if len(name) > MAX_CHARS:
        return f"{name[:50]}__{hashlib.sha256(user_id.encode()).hexdigest()[:40]}"
    return f"__{name}" if is_device(name) or name.startswith("-") else name


def user_of(folder: str) -> str | None:
    """Return the user whose folder has a name; None where the name was shortened, or is not one of ours."""
    name = folder.removeprefix("__")
    try:
        user = b"".join(_decode(part) for part in re.split(r"(_[0-9a-f]{2})", name) if part).decode()
    except UnicodeError:
        return None
    return user if user and folder_name(user) == folder else None


def is_device(name: str) -> bool:
    """Return whether Windows keeps a name for a device, with any extension."""
    return bool(_DEVICES.fullmatch(name.split(".", 1)[0].rstrip(" ")))


def _decode(part: str) -> bytes:
    found = _ENCODED.fullmatch(part)
    return bytes([int(found[1], 16)]) if found else part.encode("ascii")


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


def parse_place(path: str) -> NotePlace:
    """Return the place that a relative path names.

    Raises InvalidInputError for a path that could leave the folder, or that some file system cannot hold.
    """
    segments = tuple(path.split("/"))
    if len(segments) > MAX_SEGMENTS:
        raise InvalidInputError(f"A path can have at most {MAX_SEGMENTS} parts.", attr="path", code="too_deep")
    for segment in segments:
        problem = problem_of(segment)
        if problem is not None:
            raise InvalidInputError(f"A part of the path {problem}.", attr="path", code="path")
    if segments[0].casefold() == USERS_FOLDER:
        detail = f"The folder {USERS_FOLDER} is where the notes of other users are."
        raise InvalidInputError(detail, attr="path", code="path")
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
