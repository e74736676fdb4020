"""One note of a user beside people and programs that write the same file.

Under the lock of a user, every call first looks at the file: what was written to it on the disk becomes a version. Then
a change is recorded, written, and confirmed; a process that is killed in between leaves enough to finish or forget it.
What an editor saved in the very moment of a write, or over entries that it had not seen, is brought together.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from apps.core.domain.errors import ConflictError, UnavailableError
from apps.core.steps import Step, no_step
from apps.notes.domain.merge import merge_texts
from apps.notes.domain.places import NotePlace
from apps.notes.domain.text import Insertion, Lines, appended_since, digest, missing_lines
from apps.notes.files.folder import Displaced, Folder
from apps.notes.files.overwritten import find_absent, find_overwritten, join_lost, still_absent
from apps.notes.files.owner import folder_of
from apps.notes.files.versions import (
    DISK,
    LostEntry,
    add_version,
    confirm_saved,
    has_one_more,
    inserted_by,
    item_of,
    latest,
    plan_again,
    plan_lines,
    plan_version,
    text_of,
)
from apps.notes.models import ChangeKind, NoteVersion

# How often, or for how long, a change is made again because an editor saved at the same moment.
_TRIES, _PATIENCE_SECONDS = 20, 1.0
# Where a kill may interrupt `Desk.write`, besides those of `Folder.replace`.
WRITE_STEPS = ("record", "replace", "confirm", "confirmed")
# What a caller repeats where it did not come to pass; of anything else the text is kept.
REPEATED = (ChangeKind.APPEND, ChangeKind.DELETE, ChangeKind.RENAME)
Change = Callable[[bytes], Insertion | bytes]


class NoteChangedError(ConflictError):
    """The note is not the one that the caller has read. current: its present text."""

    code = "note_changed"


@dataclass(frozen=True)
class Note:
    """A note as it is. text: None where there is no file. version: None where it never had any text."""

    place: NotePlace
    text: bytes | None
    version: NoteVersion | None

    @property
    def sha256(self) -> str:
        """Return the digest of the text, that of the empty one where there is no file."""
        return digest(self.text or b"")


@dataclass(frozen=True)
class Desk:
    """One note of a user, whose lock is held."""

    user_id: str
    place: NotePlace
    author: str
    now: datetime
    step: Step = no_step

    @property
    def folder(self) -> Folder:
        """Return the folder of the user."""
        return folder_of(self.user_id)

    def look(self) -> Note:
        """Read the note; record what was changed on the disk, and add what an editor overwrote unseen."""
        leftovers = self.displaced()
        cut_off = self.finish_pending()
        last = latest(self.user_id, self.place)
        text = self.folder.read(self.place, last.sha256 if last else "")
        if digest(text or b"") != (digest(b"") if last is None else last.sha256):
            known = "" if last is None or cut_off is not None else last.sha256
            text, last = self.take_over(text, known)
        elif text is not None and last is not None and cut_off is not None:
            text, last = self.finish_found(cut_off, text, last)
        for displaced in leftovers:
            text, last = self.settle(displaced, text, last)
        return Note(self.place, text, last)

    def displaced(self) -> list[Displaced]:
        """List what was displaced and has a text that no version has; delete the rest."""
        found = []
        for displaced in self.folder.displaced(self.place):
            if NoteVersion.objects.of(self.user_id, self.place).filter(sha256=digest(displaced.text)).exists():
                self.folder.settle(self.place, displaced)
            else:
                found.append(displaced)
        return found

    def finish_pending(self) -> NoteVersion | None:
        """Confirm or forget a change whose process ended before it could say whether the file has it.

        Return the first text that was found and whose entries may not all have been added again; None without one.
        """
        pending = list(NoteVersion.objects.of(self.user_id, self.place).filter(is_written=False).order_by("number"))
        self.finish_again([version for version in pending if version.again])
        for version in pending:
            if version.kind == ChangeKind.FOUND or version.again:
                continue
            text = self.folder.read(self.place) or b""
            if digest(text) == version.sha256 or self.has_entry(version, text):
                version.is_written = True
                version.save(update_fields=["is_written"])
            elif version.kind in REPEATED:
                version.delete()  # the caller repeats it
            else:
                version.kind, version.is_written = ChangeKind.KEPT, True
                version.save(update_fields=["kind", "is_written"])
        return next((version for version in pending if version.kind == ChangeKind.FOUND), None)

    def finish_again(self, pending: Sequence[NoteVersion]) -> None:
        """Confirm entries that were added again, all in one step, or forget them: then they are missing still."""
        if pending:
            rows = NoteVersion.objects.filter(pk__in=[version.pk for version in pending])
            if digest(self.folder.read(self.place) or b"") == pending[-1].sha256:
                rows.update(is_written=True)
            else:
                rows.delete()

    def finish_found(self, found: NoteVersion, text: bytes, last: NoteVersion) -> tuple[bytes, NoteVersion]:
        """Add what was to be added again to a text that was found, where that was cut off or the disk was full."""
        lost = find_overwritten(self.user_id, self.place, text, found.at, before=found.number)
        text, last = self.add_again(lost, text, last)
        unfinished = NoteVersion.objects.of(self.user_id, self.place).filter(is_written=False)
        unfinished.filter(kind=ChangeKind.FOUND, number__gte=found.number).update(is_written=True)
        return text, last

    def found(self, text: bytes, saved: datetime, known: str = "") -> tuple[bytes, NoteVersion]:
        """Record a text that an editor saved, and add the entries that it lacks because they were not seen.

        known: the digest of the text before it, where that had them all: what only follows it has overwritten none.
        """
        lost = []
        if not known or appended_since(text, known) is None:
            lost = find_overwritten(self.user_id, self.place, text, saved)
        found = add_version(
            self.user_id, self.place, ChangeKind.FOUND, text, author=DISK, at=self.now, is_written=False
        )
        text, last = self.add_again(lost, text, found)
        NoteVersion.objects.filter(pk=found.pk).update(is_written=True)
        return text, last

    def saved_at(self) -> datetime:
        """Return when the file was put in its place, at the latest now."""
        changed_at = self.folder.changed_at(self.place)
        return self.now if changed_at is None else min(self.now, datetime.fromtimestamp(changed_at, UTC))

    def has_entry(self, version: NoteVersion, text: bytes) -> bool:
        """Return whether a text has the entry of an append, besides equal ones before it."""
        if version.offset is None:
            return False
        item = item_of(inserted_by(version))
        return Lines(text).count(item) == Lines(text_of(version)).count(item)

    def take_over(self, text: bytes | None, known: str) -> tuple[bytes | None, NoteVersion]:
        """Record what was written on the disk, and add the entries that it lacks because they were not seen."""
        if text is None:
            return None, add_version(self.user_id, self.place, ChangeKind.FOUND, b"", author=DISK, at=self.now)
        return self.found(text, self.saved_at(), known)

    def add_again(self, lost: Sequence[LostEntry], text: bytes, last: NoteVersion) -> tuple[bytes, NoteVersion]:
        """Add entries of appends to a text, in one step, unless that was done while an editor saved again."""
        if not lost:
            return text, last
        there, wanted = Lines(text), Counter(entry.item for entry in lost)
        wanted.update({item: there.count(item) for item in wanted})
        for _ in range(_TRIES):
            absent = still_absent(lost, wanted, text)
            if not absent:
                return text, last
            self.step("record")
            planned, after = plan_again(self.user_id, self.place, absent, text, at=self.now)
            self.step("replace")
            taken = self.folder.replace(self.place, after, digest(text), self.step)
            if taken is None or taken.is_expected:
                self.step("confirm")
                NoteVersion.objects.filter(pk__in=[version.pk for version in planned]).update(is_written=True)
                self.step("confirmed")
                return after, planned[-1]
            text = self.bring_back(taken, after, planned, base=text)
            last = self.newest()
        raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)

    def newest(self) -> NoteVersion:
        """Return the newest version of a note that has one."""
        last = latest(self.user_id, self.place)
        if last is None:
            raise NoteVersion.DoesNotExist
        return last

    def settle(
        self, displaced: Displaced, text: bytes | None, last: NoteVersion | None
    ) -> tuple[bytes | None, NoteVersion | None]:
        """Bring in what an editor wrote to an exchanged file; keep it as a version where that is unsure."""
        tail = appended_since(displaced.text, displaced.base)
        if tail is not None and text is not None:
            return self.add_tail(displaced, tail, text)
        current = text or b""
        before = digest(current)
        versions = NoteVersion.objects.of(self.user_id, self.place).current()
        base = versions.filter(sha256=displaced.base).order_by("number").last()
        since = list(versions.filter(number__gt=base.number).order_by("number")) if base else []
        is_appended = all(version.offset is not None for version in since)
        mine: bytes | None = None
        # What was deleted since stays so.
        if base is not None and (is_appended or text is not None):
            mine, lost = displaced.text, list[LostEntry]()
            if is_appended:
                # Those since the exchange, and those before it that its editor had not seen either.
                lost = find_absent(since, text or b"", displaced.text)
                lost = join_lost(lost, find_overwritten(self.user_id, self.place, displaced.text, self.now))
            else:
                mine = merge_bytes(text_of(base), text or b"", displaced.text)
            took = self.folder.replace(self.place, mine, before, self.step)
            version = add_version(
                self.user_id, self.place, ChangeKind.FOUND, mine, author=DISK, at=self.now, is_written=False
            )
            text, last = self.add_again(lost, mine, version)
            NoteVersion.objects.filter(pk=version.pk).update(is_written=True)
            if took is not None and not took.is_expected:  # an editor saved since it was read
                text, last = self.bring_back(took, text, (), base=current, keeps_ours=True), self.newest()
        if mine != displaced.text:  # what its editor saved is a version as well, whatever became of it
            add_version(self.user_id, self.place, ChangeKind.KEPT, displaced.text, author=DISK, at=self.now)
        self.folder.settle(self.place, displaced)
        return text, last

    def write(
        self,
        change: Change,
        kind: ChangeKind,
        base: bytes | None,
        *,
        author: str | None = None,
        operation: str = "",
    ) -> tuple[NoteVersion, bytes]:
        """Record a change, replace the file, and confirm it; return the version and its text.

        An editor that saved since the note was read has its text recorded, and the change is made to that.
        """
        before, expected, author = base or b"", digest(base or b""), author or self.author
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            self.step("record")
            version, text = plan_version(
                self.user_id,
                self.place,
                change(base or b""),
                base or b"",
                kind,
                author=author,
                at=self.now,
                operation=operation,
            )
            self.step("replace")
            # After an error the next look finds out whether the file has it.
            taken = self.folder.replace(self.place, text, expected, self.step)
            if taken is None or taken.is_expected:
                self.step("confirm")
                version.is_written = True
                version.save(update_fields=["is_written"])
                self.step("confirmed")
                return version, text
            tail = appended_since(taken.text, expected)
            is_read = version.offset is not None and has_one_more(inserted_by(version), before, taken.text)
            if tail is not None and not is_read:
                # Another program has only added to it: what was written stays, and its lines follow.
                version.is_written = True
                version.save(update_fields=["is_written"])
                with contextlib.suppress(UnavailableError):
                    self.add_tail(taken, tail, text)
                return version, text
            base = self.bring_back(taken, text, [version], base=base or b"")
            if kind is not ChangeKind.APPEND:
                add_version(self.user_id, self.place, ChangeKind.KEPT, text, author=self.author, at=self.now)
                raise changed(base)
            if has_one_more(inserted_by(version), before, base):  # the editor had read what we wrote a moment before
                return confirm_saved(version, base), base
            expected = digest(base)
        raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)

    def add_tail(self, source: Displaced, tail: bytes, text: bytes) -> tuple[bytes, NoteVersion]:
        """Add lines to a text that another program has added to what an exchange took away.

        source: the file that has them. Where others save all the time it stays until a later look.
        """
        for _ in range(_TRIES):
            planned, after = plan_lines(self.user_id, self.place, tail, text, author=DISK, at=self.now)
            took = self.folder.replace(self.place, after, digest(text), self.step)
            more = None if took is None else appended_since(took.text, took.base)
            if took is not None and not took.is_expected and more is None:
                text = self.bring_back(took, after, planned, base=text)
                tail = missing_lines(tail, after, text)  # its editor may have read them before
                if tail:
                    continue
                self.folder.settle(self.place, source)
                return text, self.newest()
            NoteVersion.objects.filter(pk__in=[version.pk for version in planned]).update(is_written=True)
            self.folder.settle(self.place, source)
            if took is None or more is None:
                return after, self.newest()
            source, tail, text = took, more, after
        raise UnavailableError("The note keeps changing while it is being saved: try again.", retry_after=1)

    def bring_back(
        self,
        taken: Displaced,
        ours: bytes,
        pending: Sequence[NoteVersion],
        *,
        base: bytes,
        keeps_ours: bool = False,
    ) -> bytes:
        """Put back what an editor saved in the moment of a change, with the entries that it lacks; return the text.

        ours: what is on the disk, unless an editor saved once more: then the lines of both stay. pending: the change,
        which is given up once its text is not on the disk any more, so that a process that ends here leaves what `look`
        can sort out. base: what was on the disk before ours. keeps_ours: nobody makes the change again.
        """
        tail = None
        wanted = merge_bytes(base, taken.text, ours) if keeps_ours else taken.text
        while True:
            took = self.folder.replace(self.place, wanted, digest(ours), self.step)
            if took is None or took.is_expected:
                break
            tail = appended_since(took.text, took.base)
            if tail is not None:
                break
            for text in (wanted, took.text):  # what is aside has a version then, and is not brought in once more
                add_version(self.user_id, self.place, ChangeKind.KEPT, text, author=DISK, at=self.now)
            base, ours, wanted = wanted, wanted, merge_bytes(base, took.text, wanted)
        NoteVersion.objects.filter(pk__in=[version.pk for version in pending]).delete()
        text = self.found(wanted, self.now)[0]
        # Its editor may not be done: what it writes to that file after this is a change of the text that was found.
        self.folder.settle(self.place, taken)
        if took is not None and tail is not None:
            text, _ = self.add_tail(took, tail, text)
        return text


def merge_bytes(base: bytes, theirs: bytes, mine: bytes) -> bytes:
    """Return two texts that were made of the same one as one text, with the lines of both."""
    texts = (each.decode(errors="surrogateescape") for each in (base, theirs, mine))
    return merge_texts(*texts).text.encode(errors="surrogateescape")


def changed(text: bytes) -> NoteChangedError:
    """Return the error for a note that is another one than the caller has read."""
    detail = "The note has changed since you read it: bring both together, and send the digest of the present text."
    return NoteChangedError(detail, attr="base_sha256", current=text.decode(errors="replace"))
