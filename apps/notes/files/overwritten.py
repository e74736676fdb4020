"""Which entries a text found on the disk lacks because its editor had not seen them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import Lines, Missing, Sections, is_wide
from apps.notes.files.versions import DISK, LostEntry, inserted_by, item_of, text_of
from apps.notes.models import ChangeKind, NoteVersion
from apps.notes.querysets import NoteVersionQuerySet

# An editor that saves over an entry of the last minutes has most likely not seen it.
STALE_AFTER = timedelta(minutes=15)
# An entry that was added again is taken out on purpose once it was there for so long.
SEEN_AFTER = timedelta(seconds=10)
# Nobody reads an entry, rewords it and saves the file in so short a time: a line like it is another one.
REWORDED_AFTER = timedelta(seconds=2)
# An edited entry has so much in common with what it was. So many new lines, the last ones, and bytes of each, are
# compared at most.
_SIMILAR, _MAX_COMPARED, _MAX_LINE = 0.7, 30, 300
_BULLET = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_DIGITS = re.compile(rb"\d+")
# What a caller does to a whole text.
_BY_REQUEST = (ChangeKind.EDIT, ChangeKind.RESTORE, ChangeKind.DELETE, ChangeKind.RENAME)
# An editor that has not seen more entries than that is no longer believed. They are read by so many at a time.
_MAX_APPENDS, _PAGE = 5_000, 250


def find_overwritten(
    user_id: str, place: NotePlace, text: bytes, now: datetime, before: int | None = None
) -> list[LostEntry]:
    """List the latest appends that a text found on the disk lacks, the first one first.

    Only those that follow everything that it has: an editor that had opened the file before them saved over them. An
    entry was taken out on purpose where a later one is there, where it was added again before, where an edit through
    the hub came after it, and where it was edited (`FoundText.was_edited`). now: when the text was saved. before: only
    appends before a version of this number.
    """
    every = NoteVersion.objects.of(user_id, place)
    if before is not None:
        every = every.filter(number__lt=before)
    versions = every.filter(is_written=True)
    edits = versions.filter(kind__in=_BY_REQUEST).order_by("number")
    edited = edits.values_list("number", flat=True).last()
    recent = versions.filter(
        kind=ChangeKind.APPEND,
        offset__isnull=False,
        at__gt=now - STALE_AFTER,
        number__gt=edited or 0,
    )
    # What was found a moment ago may be half of what an editor does: a deletion before a new file, or an empty one.
    known = versions.current().exclude(kind=ChangeKind.FOUND, at__gt=now - SEEN_AFTER).order_by("number").last()
    if known is None or is_wide(text):
        return []
    others = every.filter(author=DISK, at__gt=now - SEEN_AFTER)
    reference = text_of(known)
    compared = FoundText.of(reference, text, now, are_others_saving=others.exists())
    lost: list[tuple[NoteVersion, bytes]] = []
    appends = Undecided(read_appends(recent))
    for number, (version, item) in enumerate(appends):
        if compared.is_decided(version, item) or compared.was_edited(appends, number):
            break
        compared.missing[item] -= 1
        if not compared.lines.take(item):
            lost.append((version, item))
    return with_headings(lost[::-1], reference)


def with_headings(entries: Sequence[tuple[NoteVersion, bytes]], text: bytes) -> list[LostEntry]:
    """Return entries with the headings that they are under in a text that has them."""
    if not entries:
        return []
    sections = Sections(text)
    return [LostEntry(version, item, sections.above(item)) for version, item in entries]


def read_appends(versions: NoteVersionQuerySet) -> Iterator[NoteVersion]:
    """Yield versions, the last one first, as far as they are needed: most editors have seen almost all of them."""
    page = list(versions.order_by("-number")[:_PAGE])
    for _ in range(_MAX_APPENDS // _PAGE):
        yield from page
        if len(page) < _PAGE:
            return
        page = list(versions.filter(number__lt=page[-1].number).order_by("-number")[:_PAGE])


class Undecided:
    """Appends and their items, read as far as they are needed.

    Those whose item was added again later are left out: it is decided there.
    """

    def __init__(self, appends: Iterable[NoteVersion]) -> None:
        self._left = self._sort(appends)
        self._read: list[tuple[NoteVersion, bytes]] = []

    def __iter__(self) -> Iterator[tuple[NoteVersion, bytes]]:
        return self.since(0)

    def since(self, number: int) -> Iterator[tuple[NoteVersion, bytes]]:
        """Yield them from the one of a number on, which is 0 for the first."""
        while True:
            while number >= len(self._read):
                following = next(self._left, None)
                if following is None:
                    return
                self._read.append(following)
            yield self._read[number]
            number += 1

    def at(self, number: int) -> datetime:
        """Return when the append of a number, which was read, was made."""
        return self._read[number][0].at

    @staticmethod
    def _sort(appends: Iterable[NoteVersion]) -> Iterator[tuple[NoteVersion, bytes]]:
        repeated = Counter[bytes]()
        for version in appends:
            item = item_of(inserted_by(version))
            is_decided = repeated[item] > 0
            repeated[item] += version.again - is_decided
            if not is_decided:
                yield version, item


@dataclass
class FoundText:
    """A text found on the disk beside the one that the hub knows.

    is_emptied: it has nothing of the known text although others save the file as well. Its editor has most likely read
    the file in the moment in which another one had emptied it to write it: so it has seen nothing at all.
    """

    missing: Missing
    lines: "NewLines"
    now: datetime
    is_emptied: bool

    @classmethod
    def of(cls, reference: bytes, text: bytes, now: datetime, *, are_others_saving: bool) -> "FoundText":
        """Compare a text with the known one. are_others_saving: whether another one was found a moment before."""
        lines = NewLines.beyond(text, reference)
        is_emptied = are_others_saving and lines.every.isdisjoint(bare(each) for each in reference.splitlines() if each)
        return cls(Missing(reference, text), lines, now, is_emptied)

    def is_decided(self, version: NoteVersion, item: bytes) -> bool:
        """Return whether the text has an entry, or its editor has taken it out on purpose.

        That is so where it was added again so long ago that its editor must have read it since.
        """
        is_seen = version.again and self.now - version.at > SEEN_AFTER and not self.is_emptied
        return self.missing[item] <= 0 or is_seen

    def was_edited(self, appends: Undecided, number: int) -> bool:
        """Return whether an editor that had read a missing entry put another line in its place.

        appends: it is the one of a number; those before it follow. One line that is like it proves nothing where the
        entries just before it are missing: then the editor had read none of them, and wrote something similar.
        """
        left = self.lines.copy()
        if self.now - appends.at(number) < REWORDED_AFTER:
            return False
        for version, item in appends.since(number):
            if self.is_decided(version, item):
                return True
            if not left.take(item) and not left.take_similar(item):
                return False
        return True


@dataclass
class NewLines:
    """Lines of a text that another one does not have. Each of them can be one entry of the other.

    bare: how many there are of each, without bullet and indentation. last: the last ones of them, as they are. every:
    all lines of the text without bullets. compared: what was compared before. reference: the other text.
    """

    bare: Counter[bytes]
    last: list[bytes]
    every: set[bytes]
    compared: dict[tuple[bytes, bytes], bool]
    reference: bytes

    @classmethod
    def beyond(cls, text: bytes, reference: bytes) -> "NewLines":
        """Return the lines of a text that the reference does not have."""
        known, lines = set(reference.splitlines()), [line for line in text.splitlines() if line.strip()]
        new = [line for line in lines if line not in known]
        return cls(Counter(map(bare, new)), new[-_MAX_COMPARED:], set(map(bare, lines)), {}, reference)

    def copy(self) -> "NewLines":
        """Return the same lines, to take some of them for a trial."""
        return NewLines(self.bare.copy(), self.last.copy(), self.every, self.compared, self.reference)

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
                self.compared[item, line] = is_similar(item, line) and not is_next(item, line, self.reference)
            if self.compared[item, line] and self.bare[bare(line)] > 0:
                self.last.remove(line)
                self.bare[bare(line)] -= 1
                return True
        return False


def bare(line: bytes) -> bytes:
    """Return a line without indentation, bullet and space around it."""
    return _BULLET.sub(b"", line, count=1).strip()


def find_absent(appends: Sequence[NoteVersion], reference: bytes, text: bytes) -> list[LostEntry]:
    """List the appends whose entries a text lacks, or has less often than the reference; the first one first."""
    missing = Missing(reference, text)
    absent: list[tuple[NoteVersion, bytes]] = []
    for version in appends:
        item = item_of(inserted_by(version))
        if missing.take(item):
            absent.append((version, item))
    return with_headings(absent, reference)


def join_lost(first: Sequence[LostEntry], second: Sequence[LostEntry]) -> list[LostEntry]:
    """Return entries that one of two searches has found; those that both have, of the same item, once."""
    joined, spare = list(first), Counter(entry.item for entry in first)
    for entry in second:
        if spare[entry.item] > 0:
            spare[entry.item] -= 1
        else:
            joined.append(entry)
    return sorted(joined, key=lambda entry: entry.version.number)


def still_absent(lost: Sequence[LostEntry], wanted: Counter[bytes], text: bytes) -> list[LostEntry]:
    """List the entries that are to be added to a text so that it has each item as often as is wanted."""
    lines = Lines(text)
    left = Counter({item: count - lines.count(item) for item, count in wanted.items()})
    absent: list[LostEntry] = []
    for entry in lost:
        if left[entry.item] > 0:
            left[entry.item] -= 1
            absent.append(entry)
    return absent


def is_similar(item: bytes, line: bytes) -> bool:
    """Return whether a line is an edited form of an item."""
    first = item.split(b"\n", 1)[0][:_MAX_LINE].decode(errors="replace")
    other = line[:_MAX_LINE].decode(errors="replace")
    matcher = SequenceMatcher(None, first, other)
    return matcher.quick_ratio() >= _SIMILAR and matcher.ratio() >= _SIMILAR


def is_next(item: bytes, line: bytes, text: bytes) -> bool:
    """Return whether a line differs from an item in numbers alone, as other lines of a text do: the next of a series.

    A log and a row of readings go on like that; who corrects a number has one line of the kind.
    """
    first = bare(item.split(b"\n", 1)[0])
    shape = _DIGITS.sub(b"0", first)
    if _DIGITS.sub(b"0", bare(line)) != shape:
        return False
    return any(other != first and _DIGITS.sub(b"0", other) == shape for other in map(bare, text.splitlines()))
