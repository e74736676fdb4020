"""Who has said what a memory says: what a person saved stays when the events are pruned of which it was made before."""

from collections.abc import Iterable

from django.db.models import QuerySet

from apps.semantic.domain.routing import BRIDGE_ACTOR
from apps.semantic.models import Ingestion, Memory, MemoryRevision, RevisionAction
from apps.semantic.store.unit_of_work import UnitOfWork

SAID_AGAIN = "said_again"
_BY_A_WRITER = (RevisionAction.UPDATED, RevisionAction.REINFORCED)


def revisions_by_others(memories: Iterable[Memory]) -> QuerySet[MemoryRevision]:
    """Return the steps in which another writer than the bridge saved the same as these memories, or reinforced them."""
    ids = [memory.pk for memory in memories]
    found = MemoryRevision.objects.filter(memory__in=ids, action__in=_BY_A_WRITER, conflict=None)
    return found.exclude(actor=BRIDGE_ACTOR)


def note_said_again(unit: UnitOfWork, memories: Iterable[Memory]) -> None:
    """Leave a trace, once, in the history of memories that were made of events and are saved again without a change."""
    stored = {memory.pk: memory for memory in memories if memory.pk is not None}
    if not stored or unit.actor == BRIDGE_ACTOR:
        return
    made = set(
        Ingestion.objects.filter(memory__in=list(stored), came_from_events=True).values_list("memory", flat=True)
    )
    if not made:
        return
    known = set(revisions_by_others(stored[pk] for pk in made).values_list("memory", flat=True))
    for pk in sorted(made - known):
        unit.record(stored[pk], RevisionAction.UPDATED, {}, reason=SAID_AGAIN)
