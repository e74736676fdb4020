"""What keys wrote of a person: the memories that they made, and how many a day.

A key is known by the actors in histories, `key:` and a name that it has or had.
"""

from collections import Counter
from collections.abc import Collection
from datetime import date, datetime

from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import TruncDate

from apps.core.domain.scope import Access
from apps.semantic.models import Memory, MemoryRevision, MemoryStatus, RevisionAction
from apps.semantic.querysets import MemoryQuerySet

# By these steps someone says that a memory holds.
CONFIRMING = (RevisionAction.UPDATED, RevisionAction.REINFORCED, RevisionAction.RESTORED)
PEOPLE_AND_KEYS = ("key:", "person:", "admin:")


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
