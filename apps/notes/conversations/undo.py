"""Taking back what was learnt: the memory of a fact, and its line in MEMORY.md (spec 001)."""

from uuid import UUID

from apps.core.db.session_locks import session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError, NotFoundError, UnavailableError
from apps.core.domain.origin import LOWER_ORIGIN
from apps.core.domain.scope import Access, Scope
from apps.notes.conversations.reads import NO_SUCH_FACT, fact_get
from apps.notes.domain.places import MAIN
from apps.notes.domain.text import find_items, remove_item
from apps.notes.files.changes import note_edit, note_read
from apps.notes.files.desk import NoteChangedError
from apps.notes.files.overwritten import is_similar
from apps.notes.files.owner import owner_to_write
from apps.notes.files.versions import inserted_by, item_of
from apps.notes.index.upkeep import refresh_after_write
from apps.notes.models import ExtractedFact, ExtractionRun, FactState, NoteVersion, RunState
from apps.semantic.selectors import Conflict, MemoryStatus, conflict_get, memory_get_any
from apps.semantic.services import conflict_revert, memory_delete

# With a hash of the user as second key: one undoing at a time, since equal facts of a person may share a line.
UNDO_LOCKS = 0x6D68_6E75
REASON = "undone"
_TRIES = 5


def fact_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> ExtractedFact:
    """Take back a fact: its memory is deleted, or the decision by which it won is reverted, and its line is taken out.

    A line or a memory that a person has changed since stays, and `undo` says so. A fact that was undone before is
    returned as it is. Raises NotFoundError; ConflictError where nothing was written, where what the memory replaced has
    changed since (then nothing is undone), or where the note cannot be edited; UnavailableError.
    """
    fact = fact_get(access, uuid)
    owner_to_write(access, fact.user_id)
    with session_lock(UNDO_LOCKS, fact.user_id):
        fact = fact_get(access, uuid)  # as it is now: another call may have undone it, or forgotten its person
        if fact.state == FactState.UNDONE:
            return fact
        if fact.state != FactState.APPLIED:
            # Its memory may have been saved in a run that was given up.
            given_up = ExtractionRun.objects.filter(pk=fact.run_id, state=RunState.FAILED)
            if fact.state != FactState.FOUND or fact.memory is None or not given_up.exists():
                detail = f"Nothing of this fact was written: it was {fact.state}."
                raise ConflictError(detail, code="nothing_to_undo")
        if "memory" not in fact.undo:
            note_outcome(fact, memory=undo_memory(access, fact, clock))
        if "note" not in fact.undo:
            note_outcome(fact, note=undo_line(access, fact, clock))
        fact.state, fact.undone_at, fact.undone_by = FactState.UNDONE, utcnow(clock), access.actor
        store(fact, "state", "undone_at", "undone_by")
    refresh_after_write(fact.user_id)
    return fact


def note_outcome(fact: ExtractedFact, **outcome: str) -> None:
    """Note what a part of the undoing did, so that it is not done again."""
    fact.undo = {**fact.undo, **outcome}
    store(fact, "undo")


def store(fact: ExtractedFact, *names: str) -> None:
    """Store columns of a fact. Raises NotFoundError if its person was forgotten in between."""
    values = {name: getattr(fact, name) for name in names}
    if not ExtractedFact.objects.filter(pk=fact.pk).update(**values):
        raise NotFoundError(NO_SUCH_FACT)


def undo_memory(access: Access, fact: ExtractedFact, clock: Clock) -> str:
    """Take back what saving a fact did: return `reverted`, `deleted`, `changed` or, for what was gone already, `gone`.

    changed: a person has corrected the memory, so it stays. Raises ConflictError, which says what has happened since.
    """
    assert fact.memory is not None
    inside = Access(Scope(fact.user_id), access.permission, access.actor, origin=access.origin)
    try:
        memory = memory_get_any(inside, fact.memory)
        is_own = fact.memory_action != "merged" and memory.status != MemoryStatus.DELETED
        if is_own and memory.content.strip() != fact.content.strip():
            return "changed"
        if fact.memory_action not in {"inserted", LOWER_ORIGIN} and fact.receipt is not None:
            receipt = conflict_get(inside, fact.receipt)
            if not receipt.is_in_force:
                return "gone"
            # None of those that lost can hold again where all were deleted because their facts were undone.
            memories = losers_of(receipt)
            rows = ExtractedFact.objects.filter(user_id=fact.user_id, memory__in=memories, undo__memory="deleted")
            if not memories or memories != set(rows.values_list("memory", flat=True)):
                conflict_revert(access=inside, uuid=fact.receipt, clock=clock)
                return "reverted"
        memory_delete(access=inside, uuid=fact.memory, reason=REASON, clock=clock)
    except NotFoundError:
        return "gone"
    return "deleted"


def losers_of(receipt: Conflict) -> set[UUID]:
    """Return the memories that a decision superseded; none where one may hold again, or of another decision."""
    if receipt.outcome != "superseded_existing" or receipt.existing.status != MemoryStatus.DELETED:
        return set()
    further = {UUID(other["existing"]["id"]) for other in receipt.others if other["applied"]}
    return {receipt.existing.uuid, *further}


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
    # Other facts of the person that hold may say the same, each with a line of its own.
    rows = ExtractedFact.objects.filter(user_id=fact.user_id, state=FactState.APPLIED, content=fact.content)
    item, equal = item_of(inserted_by(version)), rows.exclude(pk=fact.pk).count()
    for _ in range(_TRIES):
        note = note_read(fact.user_id, MAIN, clock=clock)
        text = remove_item(note.text or b"", item, fact.category, keep=equal)
        if text is None and equal and find_items(note.text or b"", item):
            return "gone"  # the lines that are there are those of facts that hold
        if text is None:
            lines = (note.text or b"").splitlines()
            return "changed" if any(is_similar(item, line) for line in lines if line.strip()) else "gone"
        try:
            note_edit(fact.user_id, MAIN, text, base=note.sha256, author=access.actor, clock=clock)
        except NoteChangedError:
            continue
        return "removed"
    raise UnavailableError("MEMORY.md keeps changing while it is being saved: try again.", retry_after=1)
