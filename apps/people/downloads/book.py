"""The readable part of a download: pages of HTML without scripts, in the language of the person.

A page has a few hundred entries, so that a browser opens it quickly and making it takes bounded memory.
"""

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zipfile import ZipFile

from django.template.loader import render_to_string
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.safestring import mark_safe
from django.utils.translation import get_language, get_language_info, gettext
from django.utils.translation import gettext_lazy as _

from apps.core.personal.store import Line
from apps.semantic.selectors import MemoryStatus

Label = str | Promise
APP, HOUSEHOLD, PERSONA = _("Came from"), _("Household"), _("Persona")
ENTRIES_ON_PAGE = 300


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


STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}"
    "article{border-top:1px solid #8884;padding:.75rem 0}p{margin:.25rem 0;white-space:pre-wrap;unicode-bidi:plaintext}"
    "dl{color:#666;font-size:.875rem;margin:.25rem 0}dt,dd{display:inline;margin:0}dt::after{content:': '}"
    "dd::after{content:'';display:block}@media(prefers-color-scheme:dark){:root{color-scheme:dark}dl{color:#aaa}}"
)
# What a page may do, also opened from a disk: show its own style, and nothing else.
POLICY = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"


class Book:
    """The pages of one download, written into its archive as they fill up. total: how many lines were added."""

    def __init__(self, archive: ZipFile) -> None:
        self.archive, self.total, self.is_complete = archive, 0, False
        self._open: dict[Chapter, list[dict[str, Any]]] = {chapter: [] for chapter in CHAPTERS}
        self._pages: Counter[Chapter] = Counter()
        self._entries: Counter[Chapter] = Counter()

    def add(self, line: Line) -> None:
        """Add a line of an export: to the pages of its chapter, if it has one that people read."""
        if line["kind"] in {"header", "end"}:
            self.is_complete = bool(line.get("complete"))
            return
        self.total += 1
        chapter = _BY_KIND.get(line["kind"])
        if chapter is None:
            return
        self._entries[chapter] += 1
        self._open[chapter].append(entry_of(chapter, line))
        if len(self._open[chapter]) == ENTRIES_ON_PAGE:
            self._write_page(chapter)

    def close(self, now: datetime) -> None:
        """Write what is left, and the first page."""
        for chapter, entries in self._open.items():
            if entries:
                self._write_page(chapter)
        chapters = [
            {
                "title": chapter.title,
                "count": self._entries[chapter],
                "pages": [name_of(chapter, number) for number in range(1, self._pages[chapter] + 1)],
            }
            for chapter in CHAPTERS
            if self._entries[chapter]
        ]
        context = {"chapters": chapters, "total": self.total, "now": now, "is_complete": self.is_complete}
        self._write("index.html", "people/download_index.html", **context)

    def _write_page(self, chapter: Chapter) -> None:
        self._pages[chapter] += 1
        number = self._pages[chapter]
        entries, self._open[chapter] = self._open[chapter], []
        context: dict[str, Any] = {"title": chapter.title, "number": number, "entries": entries}
        context["before"] = name_of(chapter, number - 1) if number > 1 else ""
        self._write(name_of(chapter, number), "people/download_page.html", **context)

    def _write(self, name: str, template: str, **context: Any) -> None:
        language = get_language() or "en"
        frame: dict[str, str | Promise] = {
            "language": language,
            "direction": "rtl" if get_language_info(language)["bidi"] else "ltr",
            "policy": mark_safe(POLICY),  # noqa: S308 - made here, of a hash
            "style": mark_safe(f"<style>{STYLE}</style>"),  # noqa: S308 - made here
        }
        self.archive.writestr(name, render_to_string(template, {**frame, **context}))


def name_of(chapter: Chapter, number: int) -> str:
    """Return the name of a page."""
    return f"{chapter.name}-{number}.html"
