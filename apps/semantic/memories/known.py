"""Everything that is known of someone, narrowed down: by words, topic, who saved it, time and state."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Exists, OuterRef, Subquery

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access
from apps.semantic.memories.mend import REPLACED
from apps.semantic.models import Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.querysets import MemoryQuerySet

# Each word of a search is a condition on the text.
MAX_WORDS = 8


class KnownState(StrEnum):
    """Which memories a list shows: those that hold, those that others replaced, those that were forgotten."""

    HOLDS = "holds"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, kw_only=True)
class KnownFilter:
    """Which memories a list shows. actor: who saved them. since, until: of their arrival. Blank filters nothing."""

    state: KnownState = KnownState.HOLDS
    words: str = ""
    topic: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None


def memories_known(access: Access, wanted: KnownFilter, clock: Clock = SYSTEM_CLOCK) -> MemoryQuerySet:
    """Return the caller's memories that a list shows, the newest first, each with who saved it in `saved_by`."""
    first = MemoryRevision.objects.filter(memory=OuterRef("pk"), action=RevisionAction.CREATED).order_by("id")
    found = in_state(Memory.objects.visible_to(access), wanted.state, utcnow(clock))
    for word in wanted.words.replace("\x00", "").split()[:MAX_WORDS]:
        found = found.filter(content__icontains=word)
    if wanted.topic:
        found = found.filter(type=wanted.topic)
    if wanted.actor:
        found = found.filter(Exists(first.filter(actor=wanted.actor)))
    if wanted.since is not None:
        found = found.filter(created_at__gte=wanted.since)
    if wanted.until is not None:
        found = found.filter(created_at__lt=wanted.until)
    return found.annotate(saved_by=Subquery(first.values("actor")[:1])).defer("lexemes").newest_first()


def in_state(memories: MemoryQuerySet, state: KnownState, now: datetime) -> MemoryQuerySet:
    """Return those that hold at a moment, that were replaced, or that were forgotten."""
    if state is KnownState.HOLDS:
        return memories.active().unexpired(now)
    if state is KnownState.REPLACED:
        return memories.filter(status__in=REPLACED)
    return memories.filter(status=MemoryStatus.DELETED)
