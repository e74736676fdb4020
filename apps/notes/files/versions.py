"""Versions of a note in the database: what it was, and what the hub added to it."""

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from django.db.models import Q

from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import Insertion, digest, is_wide
from apps.notes.models import ChangeKind, NoteVersion

# An editor that saves over an entry of the last minutes has most likely not seen it.
STALE_AFTER = timedelta(minutes=15)
# An entry that was added again is taken out on purpose once it was there for so long.
SEEN_AFTER = timedelta(seconds=10)
DISK = "disk"
# An edited entry has so much in common with what it was. So many new lines, the last ones, and bytes of each, are
# compared at most.
_SIMILAR, _MAX_COMPARED, _MAX_LINE = 0.7, 30, 300
_BULLET = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
# What a caller does to a whole text.
_BY_REQUEST = (ChangeKind.EDIT, ChangeKind.RESTORE, ChangeKind.DELETE, ChangeKind.RENAME)
# Of so many appends one is stored with its whole text.
WHOLE_EVERY = 100
# An editor that has not seen more entries than that is no longer believed.
_MAX_APPENDS = 100


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
    operation: str = "",
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
        operation=operation,
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
    again: bool = False,
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
        again=again,
    )
    return version, text


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


def find_overwritten(
    user_id: str, place: NotePlace, text: bytes, now: datetime, before: int | None = None
) -> list[NoteVersion]:
    """List the latest appends that a text found on the disk lacks, the first one first.

    Only those that follow everything that it has: an editor that had opened the file before them saved over them. An
    entry was taken out on purpose where a later one is there, where it was added again before, where an edit through
    the hub came after it, and where it was edited (`was_edited`). now: when the text was saved. before: only appends
    before a version of this number.
    """
    versions = NoteVersion.objects.of(user_id, place).filter(is_written=True)
    if before is not None:
        versions = versions.filter(number__lt=before)
    edits = versions.filter(kind__in=_BY_REQUEST).order_by("number")
    edited = edits.values_list("number", flat=True).last()
    recent = versions.filter(
        kind=ChangeKind.APPEND,
        offset__isnull=False,
        at__gt=now - STALE_AFTER,
        number__gt=edited or 0,
    )
    appends = list(recent.order_by("-number")[:_MAX_APPENDS])
    # What was found a moment ago may be half of what an editor does: a deletion before a new file, or an empty one.
    known = versions.current().exclude(kind=ChangeKind.FOUND, at__gt=now - SEEN_AFTER).order_by("number").last()
    if not appends or known is None or is_wide(text):
        return []
    reference, items = text_of(known), [item_of(inserted_by(each)) for each in appends]
    missing = Counter(occurrences(reference, items))
    missing.subtract(occurrences(text, items))
    lines = NewLines.beyond(text, reference)
    lost: list[NoteVersion] = []
    undecided = without_repeated(list(zip(appends, items, strict=True)))
    for number, (version, item) in enumerate(undecided):
        if missing[item] <= 0 or is_seen(version, now) or was_edited(undecided[number:], missing, lines, now):
            break
        missing[item] -= 1
        if not lines.take(item):
            lost.append(version)
    return lost[::-1]


def without_repeated(appends: list[tuple[NoteVersion, bytes]]) -> list[tuple[NoteVersion, bytes]]:
    """Leave out of appends, the last one first, those whose item was added again later: it is decided there."""
    left, repeated = [], Counter[bytes]()
    for version, item in appends:
        is_decided = repeated[item] > 0
        repeated[item] += version.again - is_decided
        if not is_decided:
            left.append((version, item))
    return left


def is_seen(version: NoteVersion, now: datetime) -> bool:
    """Return whether an entry was added again so long ago that its editor must have read it since."""
    return version.again and now - version.at > SEEN_AFTER


def was_edited(
    appends: list[tuple[NoteVersion, bytes]], missing: Counter[bytes], lines: "NewLines", now: datetime
) -> bool:
    """Return whether an editor that had read a missing entry put another line in its place.

    appends: it, and those before it, the last one first. One line that is like it proves nothing where the entries just
    before it are missing: then the editor had read none of them, and wrote something similar.
    """
    left = lines.copy()
    for version, item in appends:
        if missing[item] <= 0 or is_seen(version, now):
            return True
        if not left.take(item) and not left.take_similar(item):
            return False
    return True


@dataclass
class NewLines:
    """Lines of a text that another one does not have. Each of them can be one entry of the other.

    bare: how many there are of each, without bullet and indentation. last: the last ones of them, as they are. every:
    all lines of the text without bullets. compared: what was compared before.
    """

    bare: Counter[bytes]
    last: list[bytes]
    every: set[bytes]
    compared: dict[tuple[bytes, bytes], bool]

    @classmethod
    def beyond(cls, text: bytes, reference: bytes) -> "NewLines":
        """Return the lines of a text that the reference does not have."""
        known, lines = set(reference.splitlines()), [line for line in text.splitlines() if line.strip()]
        new = [line for line in lines if line not in known]
        return cls(Counter(map(bare, new)), new[-_MAX_COMPARED:], set(map(bare, lines)), {})

    def copy(self) -> "NewLines":
        """Return the same lines, to take some of them for a trial."""
        return NewLines(self.bare.copy(), self.last.copy(), self.every, self.compared)

    def take(self, item: bytes) -> bool:
        """Take the line that is an item with another bullet or indentation; return whether there was one."""
        first, *others = [bare(line) for line in item.split(b"\n") if line.strip()] or [b""]
        if self.bare[first] <= 0 or any(line not in self.every for line in others):
            return False
        self.bare[first] -= 1
        self.last = [line for line in self.last if bare(line) != first or self.bare[first] > 0]
        return True

    def take_similar(self, item: bytes) -> bool:
        """Take a line that is an edited form of an item; return whether there was one."""
        for line in self.last:
            if (item, line) not in self.compared:
                self.compared[item, line] = is_similar(item, line)
            if self.compared[item, line] and self.bare[bare(line)] > 0:
                self.last.remove(line)
                self.bare[bare(line)] -= 1
                return True
        return False


def bare(line: bytes) -> bytes:
    """Return a line without indentation, bullet and space around it."""
    return _BULLET.sub(b"", line, count=1).strip()


def find_absent(appends: Sequence[NoteVersion], reference: bytes, text: bytes) -> list[NoteVersion]:
    """List the appends whose entries a text lacks, or has less often than the reference; the first one first."""
    items = [item_of(inserted_by(version)) for version in appends]
    missing = Counter(occurrences(reference, items))
    missing.subtract(occurrences(text, items))
    absent: list[NoteVersion] = []
    for version, item in zip(appends, items, strict=True):
        if missing[item] > 0:
            missing[item] -= 1
            absent.append(version)
    return absent


def is_similar(item: bytes, line: bytes) -> bool:
    """Return whether a line is an edited form of an item."""
    first = item.split(b"\n", 1)[0][:_MAX_LINE].decode(errors="replace")
    other = line[:_MAX_LINE].decode(errors="replace")
    matcher = SequenceMatcher(None, first, other)
    return matcher.quick_ratio() >= _SIMILAR and matcher.ratio() >= _SIMILAR


def occurrences(text: bytes, items: Sequence[bytes]) -> dict[bytes, int]:
    """Return how often each item occurs in a text as lines of its own."""
    plain = text.replace(b"\r\n", b"\n")
    lines = Counter(plain.split(b"\n"))
    return {item: count_lines(plain, item) if b"\n" in item else lines[item] for item in set(items)}


def count_lines(text: bytes, item: bytes) -> int:
    """Return how often several lines occur in a text one after the other."""
    bounded, wanted, found = b"\n" + text + b"\n", b"\n" + item + b"\n", 0
    place = bounded.find(wanted)
    while place >= 0:
        found += 1
        place = bounded.find(wanted, place + len(wanted) - 1)  # the line end between two belongs to both
    return found


def has_one_more(inserted: bytes, before: bytes, after: bytes) -> bool:
    """Return whether a text has an inserted entry once more than another one."""
    item = item_of(inserted)
    return occurrences(after, [item])[item] > occurrences(before, [item])[item]
