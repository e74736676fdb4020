"""What is known of someone, as pages show it: the memories, narrowed down, and who and what made and used them.

A key is known by the actors in histories, `key:` and a name that it has or had.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _

from apps.core.db.memberships import display_names
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.semantic.conflicts.review import can_revert, conflict_revert
from apps.semantic.memories.lifecycle import memory_delete
from apps.semantic.memories.mend import REPLACED
from apps.semantic.models import (
    BY_RULES,
    Conflict,
    Ingestion,
    IngestionStatus,
    Memory,
    MemoryRevision,
    MemoryStatus,
    RevisionAction,
)
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.selectors import memory_get_any

# Each word of a search is a condition on the text.
MAX_WORDS = 8
# By these steps someone says that a memory holds.
CONFIRMING = (RevisionAction.UPDATED, RevisionAction.REINFORCED, RevisionAction.RESTORED)
PEOPLE_AND_KEYS = ("key:", "person:", "admin:")
CONTENT, HOUSEHOLD, SUCCESSOR = "content", "household_id", "superseded_by"
# What no sentence is about: the hub keeps it in step with the rest.
UNSPOKEN = frozenset({CONTENT, HOUSEHOLD, SUCCESSOR, "status", "status_changed_at", "origin"})


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
    found = Memory.objects.visible_to(access)
    if wanted.state is KnownState.HOLDS:
        found = found.active().unexpired(utcnow(clock))
    elif wanted.state is KnownState.REPLACED:
        found = found.filter(status__in=REPLACED)
    else:
        found = found.filter(status=MemoryStatus.DELETED)
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


def memory_parts(access: Access) -> dict[Scope, int]:
    """Return the number of the caller's active memories of each exact scope."""
    rows = Memory.objects.visible_to(access).active().order_by().values_list("user_id", "household_id", "persona_id")
    return {
        Scope(user, household or None, persona or None): count
        for user, household, persona, count in rows.annotate(Count("pk"))
    }


def memory_scopes() -> set[Scope]:
    """Return every exact scope in which the hub has a memory, whatever its status."""
    rows = Memory.objects.order_by().values_list("user_id", "household_id", "persona_id").distinct()
    return {Scope(user, household or None, persona or None) for user, household, persona in rows}


def memory_writers(users: Collection[str]) -> dict[Scope, set[str]]:
    """Return the actors who saved the memories of some users, by their exact scopes."""
    saved = MemoryRevision.objects.filter(action=RevisionAction.CREATED, memory__user_id__in=users).order_by()
    names = ("memory__user_id", "memory__household_id", "memory__persona_id", "actor")
    writers: dict[Scope, set[str]] = defaultdict(set)
    for user, household, persona, actor in saved.values_list(*names).distinct():
        writers[Scope(user, household or None, persona or None)].add(actor)
    return writers


def memories_learnt(access: Access, actors: Collection[str]) -> MemoryQuerySet:
    """Return the caller's memories that these actors made and that are not deleted, the newest first.

    Each says in `is_confirmed` whether a person or another key has changed, confirmed or brought it back since.
    """
    steps = MemoryRevision.objects.filter(memory=OuterRef("pk"))
    made = steps.filter(action=RevisionAction.CREATED, actor__in=actors)
    others = Q()
    for beginning in PEOPLE_AND_KEYS:
        others |= Q(actor__startswith=beginning)
    confirmed = steps.filter(others, action__in=CONFIRMING).exclude(actor__in=actors)
    memories = Memory.objects.all().visible_to(access).exclude(status=MemoryStatus.DELETED)
    return memories.filter(Exists(made)).annotate(is_confirmed=Exists(confirmed)).defer("lexemes").newest_first()


def confirmed_of(learnt: MemoryQuerySet, *, is_confirmed: bool = True) -> MemoryQuerySet:
    """Return those of `memories_learnt` that someone else has confirmed since, or has not; none that is managed."""
    return learnt.filter(Q(is_confirmed=is_confirmed), managed_by="")


def learnt_by_day(access: Access, since: datetime) -> dict[str, Counter[date]]:
    """Count the caller's memories that each actor made since a moment, by the day (UTC) on which it made them."""
    made = MemoryRevision.objects.filter(
        action=RevisionAction.CREATED, at__gte=since, memory__in=Memory.objects.all().visible_to(access)
    )
    rows = made.order_by().annotate(day=TruncDate("at")).values_list("actor", "day").annotate(count=Count("pk"))
    found: dict[str, Counter[date]] = {}
    for actor, day, count in rows:
        found.setdefault(actor, Counter())[day] = count
    return found


def learning_actors(access: Access) -> set[str]:
    """Return who made memories of the caller's."""
    made = MemoryRevision.objects.filter(
        action=RevisionAction.CREATED, memory__in=Memory.objects.all().visible_to(access)
    )
    return set(made.order_by().values_list("actor", flat=True).distinct())


@dataclass(frozen=True)
class Learned:
    """A memory, and who saved it: the actor of its first step."""

    memory: Memory
    actor: str


def learned_lately(access: Access, since: datetime, limit: int) -> list[Learned]:
    """Return the caller's active memories that others than the caller saved since a moment, the newest first."""
    first = MemoryRevision.objects.filter(memory=OuterRef("pk"), action=RevisionAction.CREATED).order_by("id")
    memories = Memory.objects.visible_to(access).active().filter(created_at__gte=since, managed_by="")
    rows = memories.annotate(saved_by=Subquery(first.values("actor")[:1])).exclude(saved_by=access.actor)
    return [Learned(row, getattr(row, "saved_by", None) or "") for row in rows.newest_first().defer("lexemes")[:limit]]


@transaction.atomic
def learned_undo(*, access: Access, uuid: UUID, clock: Clock = SYSTEM_CLOCK) -> Memory:
    """Forget a memory, and bring back what rules let it supersede. Return it; it can be restored.

    Raises NotFoundError; ConflictError when it is managed, or when a decision about it has been changed since.
    """
    memory = memory_get_any(access, uuid)
    won = Conflict.objects.visible_to(access).in_force().filter(candidate=memory, origin__in=BY_RULES).order_by("-id")
    for receipt in [one for one in won if can_revert(one)]:
        conflict_revert(access=access, uuid=receipt.uuid, clock=clock)
    memory = memory_get_any(access, uuid)
    if memory.status != MemoryStatus.DELETED:
        memory = memory_delete(access=access, uuid=uuid, clock=clock)
    return memory


def memory_sources(access: Access, uuid: UUID, limit: int) -> list[UUID]:
    """Return the ids of the events of which a memory was made, or that say the same, the first ones."""
    rows = Ingestion.objects.filter(memory=memory_get_any(access, uuid), status=IngestionStatus.LINKED)
    return list(rows.order_by("timestamp", "pk").values_list("event_id", flat=True)[:limit])


def say_update(changes: Mapping[str, Any], who: str) -> str:
    """Say who changed the words, the household, or what else is known besides. changes: of a revision."""
    household = str(changes.get(HOUSEHOLD, ["", ""])[1] or "")
    household = display_names(HOUSEHOLD, [household]).get(household, "")
    if CONTENT in changes:
        said = _("%(who)s changed the words.")
    elif HOUSEHOLD in changes:
        said = _("%(who)s shared it with %(household)s.") if household else _("%(who)s made it private.")
    elif set(changes) - UNSPOKEN:
        said = _("%(who)s changed what is noted besides it.")
    else:
        said = _("%(who)s changed it.")
    return said % {"who": who, "household": household}
