"""Versions of a note in the database: what it was, and what the hub added to it."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import Q

from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import Heading, Insertion, Lines, digest, line_end, put_item
from apps.notes.models import ChangeKind, NoteVersion

DISK = "disk"
# Of so many appends one is stored with its whole text.
WHOLE_EVERY = 100


def latest(user_id: str, place: NotePlace) -> NoteVersion | None:
    """Return the newest version that a file had; None of one that was never seen."""
    return NoteVersion.objects.of(user_id, place).current().without_texts().order_by("number").last()


def next_number(user_id: str, place: NotePlace) -> tuple[int, bool]:
    """Return the number of the next version, and whether an append is to be stored with its whole text.

    That is one of WHOLE_EVERY, so that a text is put together from less than twice as many. The caller holds the lock.
    """
    versions = NoteVersion.objects.of(user_id, place).order_by("-number")
    head = versions.values_list("number", "kind").first()
    if head is None:
        return 1, False
    before: int = head[0]
    number = before + 1
    if head[1] == ChangeKind.KEPT:  # no append follows it
        before = versions.current().values_list("number", flat=True).first() or 0
    return number, number // WHOLE_EVERY > before // WHOLE_EVERY


def add_version(
    user_id: str,
    place: NotePlace,
    kind: ChangeKind,
    text: bytes,
    *,
    author: str,
    at: datetime,
    is_written: bool = True,
    other: NotePlace | None = None,
) -> NoteVersion:
    """Record a version with its whole text. other: of a renaming, the other place."""
    return NoteVersion.objects.create(
        user_id=user_id,
        place=str(place),
        number=next_number(user_id, place)[0],
        kind=kind,
        sha256=digest(text),
        size=len(text),
        text=zlib.compress(text),
        author=author,
        at=at,
        is_written=is_written,
        other_place="" if other is None else str(other),
    )


def plan_version(
    user_id: str,
    place: NotePlace,
    change: Insertion | bytes,
    base: bytes,
    kind: ChangeKind,
    *,
    author: str,
    at: datetime,
    operation: str = "",
) -> tuple[NoteVersion, bytes]:
    """Record a version that is about to be written; return it with its whole text."""
    if isinstance(change, Insertion):
        text, stored, offset = change.apply(base), change.inserted, change.offset
    else:
        text, stored, offset = change, change, None
    number, is_whole_due = next_number(user_id, place)
    version = NoteVersion.objects.create(
        user_id=user_id,
        place=str(place),
        number=number,
        kind=kind,
        sha256=digest(text),
        size=len(text),
        text=zlib.compress(stored),
        whole=zlib.compress(text) if is_whole_due and offset is not None else None,
        offset=offset,
        operation=operation,
        author=author,
        at=at,
        is_written=False,
    )
    return version, text


def confirm_saved(planned: NoteVersion, text: bytes) -> NoteVersion:
    """Record an append that was given up because an editor has saved a text with its entry, having read it before.

    That text is stored whole, beside the entry, so that this one is added again like any other where it is lost.
    """
    return NoteVersion.objects.create(
        user_id=planned.user_id,
        place=planned.place,
        number=next_number(planned.user_id, NotePlace(tuple(planned.place.split("/"))))[0],
        kind=planned.kind,
        sha256=digest(text),
        size=len(text),
        text=planned.text,
        whole=zlib.compress(text),
        offset=planned.offset,
        operation=planned.operation,
        author=planned.author,
        at=planned.at,
    )


@dataclass(frozen=True)
class LostEntry:
    """An entry that a text lacks. item: its lines, separated by line feeds. above: the headings that it was under."""

    version: NoteVersion
    item: bytes
    above: tuple[Heading, ...]


def plan_again(
    user_id: str, place: NotePlace, entries: Sequence[LostEntry], text: bytes, *, at: datetime
) -> tuple[list[NoteVersion], bytes]:
    """Record entries that are about to be added to a text once more, all in one step; return it with them.

    Each becomes a version of its own, below the heading that it was under.
    """
    puts = [(partial(put_item, item=entry.item, above=entry.above), entry.version.author) for entry in entries]
    return plan_appends(user_id, place, puts, text, at=at, again=True)


def plan_lines(
    user_id: str, place: NotePlace, lines: bytes, text: bytes, *, author: str, at: datetime
) -> tuple[list[NoteVersion], bytes]:
    """Record lines that are about to be added at the end of a text, all in one step; return it with them.

    Each becomes a version of its own, so that it is added again like any entry where an editor had not seen it.
    """
    puts = [(partial(put_line, line=line), author) for line in lines.splitlines(keepends=True)]
    return plan_appends(user_id, place, puts, text, at=at, again=False)


def put_line(text: bytes, line: bytes) -> Insertion:
    """Return what puts a line at the end of a text."""
    return Insertion(len(text), (b"" if text.endswith(b"\n") or not text else line_end(text)) + line)


def plan_appends(
    user_id: str,
    place: NotePlace,
    puts: Sequence[tuple[Callable[[bytes], Insertion], str]],
    text: bytes,
    *,
    at: datetime,
    again: bool,
) -> tuple[list[NoteVersion], bytes]:
    """Record what is about to be added to a text, each as a version of its own; return it with all of them.

    puts: what puts each into the text as it is by then, and its author.
    """
    planned: list[NoteVersion] = []
    number, is_whole_due = next_number(user_id, place)
    for put, author in puts:
        insertion = put(text)
        text = insertion.apply(text)
        planned.append(
            NoteVersion(
                user_id=user_id,
                place=str(place),
                number=number,
                kind=ChangeKind.APPEND,
                sha256=digest(text),
                size=len(text),
                text=zlib.compress(insertion.inserted),
                whole=zlib.compress(text) if is_whole_due else None,
                offset=insertion.offset,
                author=author,
                at=at,
                is_written=False,
                again=again,
            )
        )
        number += 1
        is_whole_due = number % WHOLE_EVERY == 0
    NoteVersion.objects.bulk_create(planned, batch_size=1_000)
    return planned, text


def inserted_by(version: NoteVersion) -> bytes:
    """Return what an append inserted, or the whole text of another version."""
    return zlib.decompress(bytes(version.text))


def text_of(version: NoteVersion) -> bytes:
    """Return the whole text of a version, from the last one that is stored whole and what was added since."""
    if version.offset is None:
        return inserted_by(version)
    earlier = NoteVersion.objects.beside(version).current().filter(number__lte=version.number).order_by("number")
    base = earlier.filter(Q(offset=None) | Q(whole__isnull=False)).last()
    text, first = bytearray(), 0
    if base is not None:
        text, first = bytearray(zlib.decompress(bytes(base.whole or base.text))), base.number
    for offset, added in earlier.filter(number__gt=first).values_list("offset", "text"):
        text[offset:offset] = zlib.decompress(bytes(added))
    return bytes(text)


def item_of(inserted: bytes) -> bytes:
    """Return the item of a list that an append inserted, without the heading or the line ends before it."""
    lines = inserted.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    first = max((number for number, line in enumerate(lines) if line.startswith(b"- ")), default=0)
    return b"\n".join(lines[first:])


def has_one_more(inserted: bytes, before: bytes, after: bytes) -> bool:
    """Return whether a text has an inserted entry once more than another one."""
    item = item_of(inserted)
    return Lines(after).count(item) > Lines(before).count(item)
