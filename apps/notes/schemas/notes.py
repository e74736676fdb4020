"""Inputs and outputs of notes (spec 001, memory REST API)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypedDict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.schemas.fields import IdentifierField, StrictCharField, VisibleTextField
from apps.core.schemas.outputs import render
from apps.core.schemas.paging import cursor_field, limit_field
from apps.core.schemas.serializers import StrictSerializer
from apps.core.schemas.windows import TimezoneField
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.selectors import Note

MAX_ENTRY_CHARS = 20_000
ADDED_OR_KNOWN = ["added", "known"]
# Beyond this many characters a text cannot be within the limit of a file.
MAX_TEXT_CHARS = 5 * 1024 * 1024


class OwnerInput(StrictSerializer):
    """Whose notes."""

    user_id = IdentifierField(
        required=False, help_text="Default: the user of the key, otherwise the hub's default user."
    )


class EntryInput(OwnerInput):
    """Something to add to a note."""

    aliases: ClassVar[Mapping[str, str]] = {"fact": "entry", "content": "entry", "text": "entry"}
    entry = VisibleTextField(max_length=MAX_ENTRY_CHARS, help_text="Becomes an item of a list, unchanged.")
    operation_id = IdentifierField(
        required=False, help_text="Your own id: sending it again adds nothing, and gets the same answer."
    )


class MainEntryInput(EntryInput):
    """A fact to add to MEMORY.md."""

    category = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=100,
        help_text="The heading under which it is added; created if missing. Default: at the end.",
    )

    def validate_category(self, value: str) -> str:
        """Refuse more than one line."""
        if len(value.splitlines()) > 1:
            raise serializers.ValidationError("A category must be one line.", code="invalid")
        return value.strip().lstrip("#").strip()


class DailyEntryInput(EntryInput):
    """Something to add to the log of today."""

    timezone = TimezoneField(help_text="Whose today, as an IANA name such as Europe/Oslo. Default: UTC.")


class NoteEditInput(OwnerInput):
    """The whole text of a note."""

    aliases: ClassVar[Mapping[str, str]] = {"content": "text"}
    text = StrictCharField(trim_whitespace=False, allow_blank=True, max_length=MAX_TEXT_CHARS)
    base_sha256 = serializers.RegexField(
        r"^[0-9a-f]{64}$",
        required=False,
        help_text="`sha256` of the text that you read. Required unless the note is new.",
    )


class TodayInput(OwnerInput):
    """The query string of the log of today."""

    timezone = TimezoneField(help_text="Whose today, as an IANA name such as Europe/Oslo. Default: UTC.")


class VersionListInput(OwnerInput):
    """The query string of the versions of a note."""

    path = StrictCharField(max_length=1300, help_text="For example MEMORY.md or daily/2026-03-04.md.")
    limit = limit_field()
    cursor = cursor_field()


class NoteOutput(TypedDict):
    """A note as it is on the disk now."""

    path: Annotated[str, "Below the folder of the user."]
    text: str
    sha256: Annotated[str, "SHA-256 of the text's bytes: send it as `base_sha256` with an edit."]
    exists: bool
    is_utf8: Annotated[bool, "If false, unreadable bytes are shown as U+FFFD, and the note cannot be edited here."]
    version: int | None


class DailyOutput(TypedDict):
    """A daily log."""

    day: Annotated[str, extend_schema_field(serializers.DateField())]
    path: str


class DailyListOutput(TypedDict):
    """The daily logs of a user, the latest day first."""

    results: list[DailyOutput]
    count: int


class VersionOutput(TypedDict):
    """One version of a note."""

    id: str
    path: str
    number: int
    kind: Annotated[str, serializers.ChoiceField(choices=ChangeKind.choices)]
    sha256: str
    size: Annotated[int, "In bytes."]
    author: str
    at: Annotated[str, serializers.DateTimeField()]
    other_path: Annotated[str | None, "For a renamed note: where it went, or came from."]


class VersionTextOutput(VersionOutput):
    """One version of a note, with its text."""

    text: str


class ChangeOutput(TypedDict):
    """What a change did."""

    action: Annotated[str, serializers.ChoiceField(choices=ADDED_OR_KNOWN), "known: the operation was done before."]
    version: VersionOutput


def note_json(note: Note) -> NoteOutput:
    """Return a note as the API shows it."""
    text, is_utf8 = decoded(note.text or b"")
    return {
        "path": str(note.place),
        "text": text,
        "sha256": note.sha256,
        "exists": note.text is not None,
        "is_utf8": is_utf8,
        "version": None if note.version is None else note.version.number,
    }


def decoded(text: bytes) -> tuple[str, bool]:
    """Return bytes as text, and whether it is exactly theirs."""
    try:
        return text.decode(), True
    except UnicodeDecodeError:
        return text.decode(errors="replace"), False


def version_json(version: NoteVersion) -> VersionOutput:
    """Return a version as the API shows it."""
    return render(
        VersionOutput, version, path=version.place, at=version.at.isoformat(), other_path=version.other_place or None
    )


def change_json(version: NoteVersion, *, is_new: bool) -> ChangeOutput:
    """Return what a change did as the API shows it."""
    return {"action": "added" if is_new else "known", "version": version_json(version)}


def version_text_json(version: NoteVersion, text: bytes) -> dict[str, Any]:
    """Return a version with its text as the API shows it."""
    return {**version_json(version), "text": decoded(text)[0]}
