"""Reads of drafts, and what becomes of one: applied, discarded or undone, under the lock of its notes.

A process that is killed between the file and the row leaves a file that says what was done: the next call records it.
"""

import zlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.core.db.user_locks import hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.diff import compare_lines
from apps.core.domain.errors import ConflictError, MemoryHubError, NotFoundError
from apps.core.domain.scope import Access
from apps.core.steps import Step, no_step
from apps.notes.domain.places import MAIN
from apps.notes.files.changes import note_read
from apps.notes.files.desk import Desk, Note, NoteChangedError
from apps.notes.files.lock import notes_lock
from apps.notes.files.owner import owner_to_read
from apps.notes.files.versions import text_of
from apps.notes.metrics import COMPACTIONS
from apps.notes.models import ChangeKind, Compaction, CompactionState, NoteVersion
from apps.notes.querysets import CompactionQuerySet

STALE = "compaction_stale"
NEWER_DETAIL = "A newer draft has taken its place."
STALE_DETAIL = "MEMORY.md has changed since the draft was made: ask for a new compaction."


def compaction_apply(uuid: UUID, *, actor: str, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> Compaction:
    """Make a draft the text of MEMORY.md; what was there stays as a version. Applying it again changes nothing.

    Raises ConflictError with the code `compaction_stale` when MEMORY.md is another one than was read, or
    `compaction_state` for one that has no draft that waits; NotFoundError, UserLockedError, UnavailableError.
    """
    row = find(uuid)
    with notes_lock(row.user_id):
        row, desk = find(uuid), Desk(row.user_id, MAIN, actor, utcnow(clock), step)
        note = desk.look()
        if row.state == CompactionState.APPLIED and note.sha256 == row.draft_sha256:
            return row
        require(row, CompactionState.DRAFTED)
        if note.sha256 != row.draft_sha256:
            if note.sha256 != row.base_sha256:
                raise stale(row)
            replace_text(desk, note, draft_of(row), ChangeKind.EDIT, row)
        return decided(row, CompactionState.APPLIED, actor, desk.now)


def compaction_discard(uuid: UUID, *, actor: str, clock: Clock = SYSTEM_CLOCK) -> Compaction:
    """Give up a draft; it stays readable. Raises NotFoundError, ConflictError, UserLockedError, UnavailableError."""
    row = find(uuid)
    with notes_lock(row.user_id):
        row = find(uuid)
        if row.state == CompactionState.DISCARDED:
            return row
        require(row, CompactionState.DRAFTED, CompactionState.STALE)
        return decided(row, CompactionState.DISCARDED, actor, utcnow(clock))


def compaction_undo(uuid: UUID, *, actor: str, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> Compaction:
    """Bring back the text that MEMORY.md had before a draft was applied. Undoing it again changes nothing.

    Raises ConflictError with the code `changed_since` when MEMORY.md has changed since, with the id of the version to
    restore in `current`; or `compaction_state`; NotFoundError, UserLockedError, UnavailableError.
    """
    row = find(uuid)
    with notes_lock(row.user_id):
        row, desk = find(uuid), Desk(row.user_id, MAIN, actor, utcnow(clock), step)
        note = desk.look()
        if row.state == CompactionState.UNDONE:
            return row
        require(row, CompactionState.APPLIED)
        if note.sha256 != row.base_sha256:
            before = base_of(row)
            if note.sha256 != row.draft_sha256 or before is None:
                raise changed_since(before)
            replace_text(desk, note, text_of(before), ChangeKind.RESTORE, row)
        return decided(row, CompactionState.UNDONE, actor, desk.now)


def replace_text(desk: Desk, note: Note, text: bytes, kind: ChangeKind, row: Compaction) -> None:
    """Replace MEMORY.md. Raises ConflictError when an editor saved in the same moment; its text stays."""
    try:
        desk.write(lambda _: text, kind, note.text)
    except NoteChangedError as error:
        raise (stale(row) if kind is ChangeKind.EDIT else changed_since(base_of(row))) from error


def find(uuid: UUID) -> Compaction:
    """Return a compaction. Raises NotFoundError: also for one whose user was forgotten since."""
    row = Compaction.objects.filter(uuid=uuid).first()
    if row is None:
        raise NotFoundError("There is no such compaction.")
    return row


def require(row: Compaction, *states: CompactionState) -> None:
    """Raise ConflictError for a compaction in another state."""
    if row.state == CompactionState.STALE and CompactionState.STALE not in states:
        raise ConflictError(row.detail or STALE_DETAIL, code="compaction_stale")
    if row.state not in states:
        raise ConflictError(f"The compaction is {row.state}.", code="compaction_state")


def stale(row: Compaction) -> ConflictError:
    """Mark a draft that does not fit any more, and return the error."""
    Compaction.objects.filter(pk=row.pk).update(state=CompactionState.STALE, code=STALE, detail=STALE_DETAIL)
    return ConflictError(STALE_DETAIL, code="compaction_stale")


def changed_since(before: NoteVersion | None) -> ConflictError:
    """Return the error for an applied draft that others have written to since."""
    detail = (
        "MEMORY.md has changed since the draft was applied: restore the version in `current` to give up these changes, "
        "or edit MEMORY.md."
    )
    return ConflictError(detail, code="changed_since", current=None if before is None else str(before.uuid))


@transaction.atomic
def decided(row: Compaction, state: CompactionState, actor: str, now: datetime) -> Compaction:
    """Record what became of a draft. Raises UserLockedError."""
    hold_users([row.user_id])
    row.state, row.decided_by, row.decided_at, row.code, row.detail = state, actor, now, "", ""
    row.save(update_fields=["state", "decided_by", "decided_at", "code", "detail"])
    COMPACTIONS.labels(state.value).inc()
    return row


def draft_of(row: Compaction) -> bytes:
    """Return the text of a draft; empty without one."""
    return zlib.decompress(bytes(row.draft)) if row.draft else b""


def base_of(row: Compaction) -> NoteVersion | None:
    """Return the version of MEMORY.md that the model read; None where it is not kept any more."""
    versions = NoteVersion.objects.of(row.user_id, MAIN).current().filter(sha256=row.base_sha256)
    return versions.order_by("number").last()


@dataclass(frozen=True)
class CompactionDetail:
    """A compaction with what it changes.

    text: the draft; None without one. diff: the lines that differ from the text that was read, as in a unified diff;
    None where that text is not kept any more. is_current: MEMORY.md is still that text.
    """

    compaction: Compaction
    text: str | None = field(repr=False)
    diff: str | None = field(repr=False)
    is_current: bool


def compaction_list(access: Access, user_id: str | None) -> CompactionQuerySet:
    """Return the compactions of a user. Raises NotFoundError outside the bound of the key."""
    owner = owner_to_read(access, user_id)
    return Compaction.objects.all().visible_to(access).filter(user_id=owner)


def compaction_get(access: Access, uuid: UUID) -> Compaction:
    """Return a compaction inside the bound; a key for a part of a person has none. Raises NotFoundError."""
    is_whole = access.bound.household_id is None and access.bound.persona_id is None
    found = Compaction.objects.all().visible_to(access).filter(uuid=uuid).first() if is_whole else None
    if found is None:
        raise NotFoundError("There is no such compaction.")
    return found


def compaction_detail(compaction: Compaction, *, clock: Clock = SYSTEM_CLOCK) -> CompactionDetail:
    """Return a compaction with its draft and what that changes."""
    try:
        is_current = note_read(compaction.user_id, MAIN, clock=clock).sha256 == compaction.base_sha256
    except MemoryHubError:  # out of reach now
        is_current = False
    if not compaction.draft:
        return CompactionDetail(compaction, None, None, is_current)
    text, base, diff = draft_of(compaction).decode(), base_of(compaction), None
    if base is not None:
        lines = compare_lines(text_of(base).decode(), text)
        diff = "".join(f"{line}\n" for line in ("--- MEMORY.md", "+++ draft", *(each.marked for each in lines)))
    return CompactionDetail(compaction, text, diff, is_current)
