"""What took the place of found memories that follow items which are not in force any more (spec 003).

Which memory follows which item is known to the app that manages them, so it registers how to find out.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.scope import Access
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory
from apps.semantic.models.filters import passes

# Of a manager, by its whole name: the memories of some of its items, by the ids of these.
FindPointers = Callable[[str, Collection[str]], Mapping[str, UUID]]
# A decision that was replaced by one that was replaced itself: so many steps are followed.
MAX_STEPS = 8
_finders: dict[str, FindPointers] = {}


def successors_register(kind: str, find: FindPointers) -> None:
    """Register what finds the memories of items, for the managers of a kind."""
    _finders[kind] = find


def memory_successors(access: Access, memory: Memory, clock: Clock = SYSTEM_CLOCK) -> list[Memory]:
    """Return what is in force instead of a memory that is not, as far as the caller may see it."""
    if memory.is_in_force:
        return []
    return read_successors(access, SearchQuery(), [memory], utcnow(clock)).get(memory.pk, [])


def read_successors(
    access: Access, query: SearchQuery, ended: Sequence[Memory], now: datetime
) -> dict[int, list[Memory]]:
    """Return what is in force instead of memories, by the primary key of these; it passes the filters of the search."""
    found: dict[int, dict[int, Memory]] = defaultdict(dict)
    waiting = {memory.pk: [memory] for memory in ended}
    seen = {(memory.pk, memory.pk) for memory in ended}
    for _ in range(MAX_STEPS):
        direct = read_direct(access, query, [one for each in waiting.values() for one in each])
        following: dict[int, list[Memory]] = defaultdict(list)
        for origin, replaced in waiting.items():
            for one in (successor for memory in replaced for successor in direct.get(memory.pk, ())):
                if one.is_in_force and is_asked_for(query, one, now):
                    found[origin][one.pk] = one
                elif not one.is_in_force and (origin, one.pk) not in seen:
                    seen.add((origin, one.pk))
                    following[origin].append(one)
        if not following:
            break
        waiting = following
    return {origin: list(successors.values()) for origin, successors in found.items()}


def read_direct(access: Access, query: SearchQuery, replaced: Sequence[Memory]) -> dict[int, list[Memory]]:
    """Return the memories of the items that are named as having replaced those of others, by primary key."""
    names: dict[str, set[str]] = defaultdict(set)
    for memory in replaced:
        names[memory.managed_by].update(names_of_successors(memory))
    pointers = {manager: find_pointers(manager, wanted) for manager, wanted in names.items() if wanted}
    uuids = {uuid for found in pointers.values() for uuid in found.values()}
    if not uuids:
        return {}
    rows = Memory.objects.visible_to(access, query.scope, query.include).active().filter(uuid__in=uuids)
    memories = {row.uuid: row for row in rows}
    return {
        memory.pk: [
            memories[uuid]
            for name in names_of_successors(memory)
            if (uuid := pointers[memory.managed_by].get(name)) in memories and uuid is not None
        ]
        for memory in replaced
        if memory.managed_by in pointers
    }


def names_of_successors(memory: Memory) -> list[str]:
    """Return the ids of the items that took the place of the one that a memory follows."""
    named = memory.metadata.get("superseded_by", ())
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def find_pointers(manager: str, item_ids: Collection[str]) -> Mapping[str, UUID]:
    """Return the memories of items of a manager; none where nobody has registered how to find them."""
    find = _finders.get(manager.partition(":")[0])
    return find(manager, item_ids) if find else {}


def is_asked_for(query: SearchQuery, memory: Memory, now: datetime) -> bool:
    """Return whether a memory passes the filters of a search."""
    if memory.expires_at is not None and memory.expires_at <= now:
        return False
    if query.where is not None and not passes(memory, query.where, now):
        return False
    if any(str(getattr(memory, name, value)) != value for name, value in query.tags.items() if name != "is_global"):
        return False
    happened = memory.occurred_at or memory.created_at
    return (query.start is None or happened >= query.start) and (query.end is None or happened <= query.end)
