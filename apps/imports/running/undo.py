"""Undo an import as a whole: what it wrote and nobody has confirmed or changed since, and nothing else."""

from apps.core.db.session_locks import try_session_lock
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope
from apps.core.pauses import PERSON
from apps.core.steps import Step, no_step
from apps.episodic.services import events_written_remove
from apps.imports.domain.found import Target
from apps.imports.models import UPLOADED_STATES, Import, ImportState
from apps.imports.running.run import IMPORT_LOCKS, ImportBusyError, import_access
from apps.notes.services import notes_take_back
from apps.semantic.services import Selection, confirmed_of, decisions_take_back, memories_delete, memories_learnt

CHUNK = 200


def import_undo(*, record: Import, clock: Clock = SYSTEM_CLOCK, step: Step = no_step) -> Import:
    """Forget what an import wrote; safe to repeat from wherever it stopped. Return it, with the counts in `undone`.

    Decisions of rules about its memories are reverted first, with receipts, so that what they had replaced or changed
    is as before. Memories can be restored and notes have versions; events are removed for good. Memories that someone
    has confirmed since stay, and so do notes that someone has changed. Raises ConflictError for one that
    was undone or has not begun, ImportBusyError, MaintenanceRunningError, UnavailableError.
    """
    with try_session_lock(IMPORT_LOCKS, record.pk) as is_alone:
        if not is_alone:
            raise ImportBusyError
        record.refresh_from_db()
        if record.state in {ImportState.UNDONE, *UPLOADED_STATES}:
            raise ConflictError("There is nothing to undo about this import.", code="nothing_to_undo")
        record.state = ImportState.UNDOING
        record.save(update_fields=["state"])
        forgotten = dict(record.undone.get("forgotten", {}))
        kept: dict[str, int] = {}
        access, actors = import_access(record.user_id, f"{PERSON}{record.user_id}"), [record.actor]
        learnt = memories_learnt(access, actors)
        made = record.undone.get("made") or learnt.count()
        note(record, forgotten, kept, record.undone.get("decisions", 0), made)
        decisions = record.undone.get("decisions", 0) + decisions_take_back(access=access, actors=actors, clock=clock)
        step("decisions")
        while chosen := list(confirmed_of(learnt, is_confirmed=False).values_list("uuid", flat=True)[:CHUNK]):
            selected = Selection(Scope(record.user_id), ids=tuple(chosen))
            if not memories_delete(access=access, chosen=selected, clock=clock).deleted:
                break  # others have deleted them meanwhile, or may
            step("memories")
        left = learnt.count()
        forgotten[Target.MEMORIES.value] = made - left
        kept[Target.MEMORIES.value] = left
        note(record, forgotten, kept, decisions, made)
        deleted, stay = notes_take_back(access=access, user_id=record.user_id, brought_by=record.actor, clock=clock)
        add(forgotten, Target.NOTES, deleted)
        kept[Target.NOTES.value] = stay
        note(record, forgotten, kept, decisions, made)
        step("notes")
        report = events_written_remove(
            access=access, user_id=record.user_id, actors=actors, until=utcnow(clock), clock=clock
        )
        add(forgotten, Target.EVENTS, report.events)
        kept[Target.EVENTS.value] = 0
        note(record, forgotten, kept, decisions, made)
        step("events")
        record.problem = "damaged" if report.damaged or report.failures else ""
        record.state, record.finished_at = ImportState.UNDONE, utcnow(clock)
        record.save(update_fields=["state", "finished_at", "problem"])
        return record


def add(counts: dict[str, int], target: Target, count: int) -> None:
    """Add to a count."""
    counts[target.value] = counts.get(target.value, 0) + count


def note(record: Import, forgotten: dict[str, int], kept: dict[str, int], decisions: int, made: int) -> None:
    """Note what was done so far. made: memories that there were before."""
    record.undone = {"forgotten": forgotten, "kept": kept, "decisions": decisions, "made": made}
    record.save(update_fields=["undone"])
