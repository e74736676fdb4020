"""How much a key learnt of a person."""

from collections.abc import Collection
from dataclasses import dataclass

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access
from apps.episodic.services import events_written
from apps.semantic.services import confirmed_of, memories_learnt


@dataclass(frozen=True)
class LearntCounts:
    """Memories that would be forgotten, and those that stay: others confirmed them since, or a source manages them.

    events: that would be removed for good; None where the timeline cannot be read now.
    """

    memories: int
    confirmed: int
    managed: int
    events: int | None


def learnt_counts(access: Access, user_id: str, actors: Collection[str]) -> LearntCounts:
    """Count what these actors wrote of a user. Reads all events of the user."""
    found = memories_learnt(access, actors)
    managed = found.exclude(managed_by="").count()
    confirmed = confirmed_of(found).count()
    events: int | None
    try:
        events = sum(1 for _ in events_written(access, user_id, actors))
    except UnavailableError:
        events = None
    return LearntCounts(found.count() - managed - confirmed, confirmed, managed, events)
