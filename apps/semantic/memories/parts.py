"""The parts of what is known of someone: alone, in a household, with a persona."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import Count

from apps.core.domain.scope import Access, Scope
from apps.semantic.models import Memory, MemoryRevision, RevisionAction


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
