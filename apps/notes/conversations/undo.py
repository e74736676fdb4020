"""Taking back what was learnt: the memory of a fact, and its line in MEMORY.md (spec 001)."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.notes.conversations.reads import fact_get
from apps.notes.domain.places import MAIN
from apps.notes.domain.removal import remove_item
from apps.notes.files.changes import NoteChangedError, note_edit, note_read
from apps.notes.files.owner import owner_to_write
from apps.notes.files.versions import inserted_by, is_similar, item_of
from apps.notes.index.upkeep import refresh_after_write
from apps.notes.models import ExtractedFact, FactState, NoteVersion, RunState
from apps.semantic.selectors import conflict_get
from apps.semantic.services import conflict_revert, memory_delete

# With the key of the fact as second key: one undoing at a time.
UNDO_LOCKS = 0x6D68_6E75
REASON = "undone"
_TRIES = 5


def fact_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> ExtractedFact:
    """Take back a fact: its memory is deleted, or the decision by which it won is reverted, and its line is taken out.

    A line that a person has changed since stays, and `undo` says so. A fact that was undone before is returned as it
    is. Raises NotFoundError; ConflictError where nothing was written, where what the memory replaced has changed since
    (then nothing is undone), or where the note cannot be edited; UnavailableError.
    """
    fact = fact_get(access, uuid)
    owner_to_write(access, fact.user_id)
    with fact_lock(fact.pk):
        fact = fact_get(access, uuid)  # as it is now: another call may have undone it, or forgotten its person
        if fact.state == FactState.UNDONE:
            return fact
        is_half_written = (
            fact.state == FactState.FOUND and fact.memory is not None and fact.run.state == RunState.FAILED
        )
        if fact.state != FactState.APPLIED and not is_half_written:
            detail = f"Nothing of this fact was written: it was {fact.state}."
            raise ConflictError(detail, code="nothing_to_undo")
        if "memory" not in fact.undo:
            note_outcome(fact, memory=undo_memory(access, fact, clock))
        if "note" not in fact.undo:
            note_outcome(fact, note=undo_line(access, fact, clock))
        fact.state, fact.undone_at, fact.undone_by = FactState.UNDONE, utcnow(clock), access.actor
        fact.save(update_fields=["state", "undone_at", "undone_by"])
    refresh_after_write(fact.user_id)
    return fact


@contextmanager
def fact_lock(key: int) -> Iterator[None]:
    """Hold the lock of a fact until the end of the block."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [UNDO_LOCKS, key % 0x7FFF_FFFF])
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [UNDO_LOCKS, key % 0x7FFF_FFFF])


def note_outcome(fact: ExtractedFact, **outcome: str) -> None:
    """Note what a part of the undoing did, so that it is not done again."""
    fact.undo = {**fact.undo, **outcome}
    fact.save(update_fields=["undo"])


def undo_memory(access: Access, fact: ExtractedFact, clock: Clock) -> str:
    """Take back what saving a fact did: return `reverted`, `deleted` or, for what was gone already, `gone`.

    Raises ConflictError, which says what has happened since.
    """
    assert fact.memory is not None
    inside = Access(Scope(fact.user_id), access.permission, access.actor)
    try:
        if fact.memory_action != "inserted" and fact.receipt is not None:
            if not conflict_get(inside, fact.receipt).is_in_force:
                return "gone"
            conflict_revert(access=inside, uuid=fact.receipt, clock=clock)
            return "reverted"
        memory_delete(access=inside, uuid=fact.memory, reason=REASON, clock=clock)
    except NotFoundError:
        return "gone"
    return "deleted"


def undo_line(access: Access, fact: ExtractedFact, clock: Clock) -> str:
    """Take the line of a fact out of MEMORY.md: return `removed`; `changed` or `gone` where it is not there as written.

    Raises ConflictError for a note that is in UTF-16 or no file, UnavailableError.
    """
    versions = NoteVersion.objects.filter(user_id=fact.user_id)
    if fact.note_version is None:  # its run was given up, perhaps before the line was written
        versions = versions.filter(operation=f"fact:{fact.uuid}")
    else:
        versions = versions.filter(uuid=fact.note_version)
    version = versions.first()
    if version is None:
        return "gone"
    item = item_of(inserted_by(version))
    for _ in range(_TRIES):
        note = note_read(fact.user_id, MAIN, clock=clock)
        text = remove_item(note.text or b"", item, fact.category)
        if text is None:
            lines = (note.text or b"").splitlines()
            return "changed" if any(is_similar(item, line) for line in lines if line.strip()) else "gone"
        try:
            note_edit(fact.user_id, MAIN, text, base=note.sha256, author=access.actor, clock=clock)
        except NoteChangedError:
            continue
        return "removed"
    raise UnavailableError("MEMORY.md is being saved by others all the time: try again.", retry_after=1)
