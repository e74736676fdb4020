"""What of an export people read, and in which words. All of it is in the lines; this part says something to them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.personal.store import Line
from apps.semantic.selectors import MemoryStatus

Label = str | Promise


@dataclass(frozen=True)
class Chapter:
    """Lines of one kind on pages of their own.

    name: of the files. text, heading, moment: the fields that are shown as such, the first one that is filled. details:
    further fields with what they are called.
    """

    name: str
    kind: str
    title: Label
    text: tuple[str, ...]
    moment: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    details: tuple[tuple[str, Label], ...] = ()


APP, HOUSEHOLD, PERSONA = _("Came from"), _("Household"), _("Persona")
CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        "memories",
        "memory",
        _("Memories"),
        ("content",),
        ("occurred_at", "created_at"),
        details=(
            ("status", _("Status")),
            ("context", _("Circumstances")),
            ("source", APP),
            ("agent", _("Assistant")),
            ("project", _("Project")),
            ("type", _("Kind")),
            ("household_id", HOUSEHOLD),
            ("persona_id", PERSONA),
            ("keywords", _("Keywords")),
            ("expires_at", _("Kept until")),
        ),
    ),
    Chapter(
        "days",
        "event",
        _("What happened"),
        ("content",),
        ("timestamp",),
        ("event_type",),
        (("source", APP), ("household_id", HOUSEHOLD), ("persona_id", PERSONA)),
    ),
    Chapter("notes", "note", _("Notes"), ("text",), heading=("path",)),
    Chapter("conversations", "conversation_message", _("Conversations"), ("content",), ("at",), ("speaker", "role")),
    Chapter(
        "learned",
        "extracted_fact",
        _("Learnt in conversations"),
        ("content",),
        details=(("category", _("Kind")), ("state", _("Status"))),
    ),
    Chapter(
        "decisions",
        "receipt",
        _("Decisions between memories"),
        ("reason",),
        ("at",),
        details=(("outcome", _("Outcome")), ("state", _("Status")), ("reviewed_by", _("Decided by"))),
    ),
    Chapter(
        "from-events",
        "routed_event",
        _("What happened and became a memory"),
        ("content",),
        ("timestamp", "created_at"),
        ("event_type",),
        (("status", _("Status")),),
    ),
    Chapter("shortened", "compaction", _("Drafts of shorter notes"), ("draft",), ("created_at",)),
    Chapter(
        "sources",
        "knowledge_source",
        _("Sources of knowledge"),
        ("name",),
        ("created_at",),
        details=(("location", _("Place")),),
    ),
    Chapter(
        "acts",
        "audit_entry",
        _("Who did what"),
        ("action",),
        ("at",),
        ("actor",),
        (("outcome", _("Outcome")), ("detail", _("Details"))),
    ),
)
_BY_KIND = {chapter.kind: chapter for chapter in CHAPTERS}


def chapter_of(line: Line) -> Chapter | None:
    """Return the chapter of a line; None for one that says nothing to people, such as a link between two others."""
    return _BY_KIND.get(line["kind"])


def entry_of(chapter: Chapter, line: Line) -> dict[str, Any]:
    """Return what a page shows of a line."""
    return {
        "text": first_of(line, chapter.text),
        "heading": first_of(line, chapter.heading),
        "moment": moment_of(first_of(line, chapter.moment)),
        "details": [
            (label, shown(chapter, name, value)) for name, label in chapter.details if (value := line.get(name))
        ],
    }


def first_of(line: Line, names: tuple[str, ...]) -> Any:
    """Return the first of these fields that has something."""
    return next((value for name in names if (value := line.get(name))), "")


def moment_of(text: str) -> datetime | str:
    """Return a moment of an export; as it is where it is none."""
    try:
        return parse_datetime(text) or text
    except ValueError:
        return text


def shown(chapter: Chapter, name: str, value: Any) -> Any:
    """Return the value of a field as text: a status in words, a list in one line, an object by its names."""
    if (chapter.kind, name) == ("memory", "status") and value in MemoryStatus.values:
        return gettext(MemoryStatus(value).label)
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{name}: {one}" for name, one in value.items())
    if isinstance(value, str) and (moment := moment_of(value)) != value:
        return moment
    return value
