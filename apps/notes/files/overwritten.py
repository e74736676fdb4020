"""Which entries a text found on the disk lacks because its editor had not seen them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import is_wide
from apps.notes.files.versions import inserted_by, item_of, occurrences, text_of
from apps.notes.models import ChangeKind, NoteVersion

# An editor that saves over an entry of the last minutes has most likely not seen it.
STALE_AFTER = timedelta(minutes=15)
# An entry that was added again is taken out on purpose once it was there for so long.
SEEN_AFTER = timedelta(seconds=10)
# An edited entry has so much in common with what it was. So many new lines, the last ones, and bytes of each, are
# compared at most.
_SIMILAR, _MAX_COMPARED, _MAX_LINE = 0.7, 30, 300
_BULLET = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
# What a caller does to a whole text.
_BY_REQUEST = (ChangeKind.EDIT, ChangeKind.RESTORE, ChangeKind.DELETE, ChangeKind.RENAME)
# An editor that has not seen more entries than that is no longer believed.
_MAX_APPENDS = 100


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
