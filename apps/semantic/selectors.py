"""Reads of semantic memory. Every one takes the caller's access, so that none can forget it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, DateField, Max, Min, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncWeek
from pgvector.django import CosineDistance

from apps.core.db.distinct import distinct_values
from apps.core.db.names import ALL_NAMES, NameSpan
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.domain.filters.expression import EVERYTHING, names_field
from apps.core.domain.filters.expression import Expression as Filter
from apps.core.domain.scope import Access, Scope
from apps.llm.selectors import active_space
from apps.semantic.models import (
    IS_ASKED,
    Conflict,
    ConflictOutcome,
    Ingestion,
    IngestionStatus,
    Memory,
    MemoryRevision,
    MemoryStatus,
    ReviewState,
)
from apps.semantic.models.filters import memory_condition
from apps.semantic.querysets import ConflictQuerySet, MemoryQuerySet

__all__ = [
    "Conflict",
    "ManagedFacts",
    "ManagedMemory",
    "Memory",
    "MemoryCount",
    "MemoryFigures",
    "MemoryRevision",
    "MemoryStatus",
    "PersonFacts",
    "ReviewState",
    "active_total",
    "conflict_get",
    "conflict_list",
    "conflicts_with_words",
    "decisions_between",
    "known_identifiers",
    "last_decision",
    "last_removals",
    "managed_deleted",
    "managed_facts",
    "managed_get",
    "managed_memories",
    "memories_made",
    "memories_near",
    "memories_of_events",
    "memories_replaced",
    "memories_savers",
    "memories_with_words",
    "memory_contents",
    "memory_counts",
    "memory_figures",
    "memory_get",
    "memory_get_any",
    "memory_history",
    "memory_list",
    "memory_name_total",
    "person_facts",
    "saved_by_week",
    "users_in",
]

NO_SUCH_MEMORY = "There is no such memory."
NO_SUCH_CONFLICT = "There is no such receipt."
_CONFLICT_MEMORIES = (
    "candidate", "candidate__superseded_by", "existing", "existing__superseded_by", "result", "result__superseded_by",
)  # fmt: skip


def memory_get_any(access: Access, uuid: UUID) -> Memory:
    """Return a memory of the caller's, deleted or not. Raises NotFoundError."""
    memory = Memory.objects.visible_to(access).filter(uuid=uuid).select_related("superseded_by").first()
    if memory is None:
        raise NotFoundError(NO_SUCH_MEMORY)
    return memory


def memory_get(access: Access, uuid: UUID) -> Memory:
    """Return a memory, of the caller's or granted, that is neither deleted nor expired. Raises NotFoundError.

    To be read alone: what may be changed is what `memory_get_any` returns.
    """
    memory = Memory.objects.all().readable_by(access).filter(uuid=uuid).select_related("superseded_by").first()
    if memory is None or memory.status == "deleted" or memory.has_expired(utcnow(SYSTEM_CLOCK)):
        raise NotFoundError(NO_SUCH_MEMORY)
    return memory


def memory_list(
    access: Access,
    scope: Scope,
    filters: Mapping[str, Any],
    where: Filter = EVERYTHING,
    clock: Clock = SYSTEM_CLOCK,
    *,
    include: Collection[str] = (),
) -> MemoryQuerySet:
    """Return the caller's memories in a scope, the newest first; `filters` are exact values of columns.

    A memory that was said in several sessions is one of each. Only active ones, unless `filters` or `where` say
    something of the status. include: owners whose memories are listed besides, if the caller was granted them.
    """
    columns = {name: value for name, value in filters.items() if name != "session_id"}
    default = {} if names_field(where, "status") else {"status": "active"}
    now = utcnow(clock)
    memories = Memory.objects.all().visible_to(access, scope, include).filter(**{**default, **columns})
    if {**default, **columns}.get("status") == "active":
        memories = memories.unexpired(now)
    if where is not EVERYTHING:
        memories = memories.filter(memory_condition(where, now))
    if "session_id" in filters:
        memories = memories.of_session(filters["session_id"])
    return memories.select_related("superseded_by").newest_first()


@dataclass(frozen=True)
class ManagedMemory:
    """A managed memory as its manager reads it. is_active: False for one that was deleted."""

    uuid: UUID
    user_id: str
    content: str
    metadata: Mapping[str, Any]
    type: str
    project: str
    created_at: datetime
    updated_at: datetime
    is_active: bool = True
    importance: float | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManagedFacts:
    """A managed memory as its manager compares it. facts: texts of its metadata."""

    uuid: UUID
    created_at: datetime
    updated_at: datetime
    facts: tuple[str, ...]


_MANAGED_COLUMNS = (
    "uuid", "user_id", "content", "metadata", "type", "project", "created_at", "updated_at", "importance",
)  # fmt: skip


def managed_memories(manager: str) -> list[ManagedMemory]:
    """Return the active memories of a manager, by rising time of arrival. Of whichever user."""
    return read_managed(Memory.objects.filter(managed_by=manager).active())


def managed_facts(manager: str, keys: Sequence[str]) -> list[ManagedFacts]:
    """Return the active memories of a manager with some keys of their metadata, without their contents.

    A key that a memory lacks is an empty text. A tenth of the time that `managed_memories` takes.
    """
    facts = [KeyTextTransform(key, "metadata") for key in keys]
    rows = Memory.objects.filter(managed_by=manager).active().order_by("pk")
    return [
        ManagedFacts(uuid, created_at, updated_at, tuple(one or "" for one in found))
        for uuid, created_at, updated_at, *found in rows.values_list("uuid", "created_at", "updated_at", *facts)
    ]


def managed_deleted(manager: str, key: str) -> dict[str, UUID]:
    """Return the deleted memories of a manager by a text of their metadata; of several the last one that arrived."""
    rows = Memory.objects.filter(managed_by=manager, status=MemoryStatus.DELETED).order_by("pk")
    return {found: uuid for found, uuid in rows.values_list(KeyTextTransform(key, "metadata"), "uuid") if found}


def managed_get(uuids: Collection[UUID]) -> dict[UUID, ManagedMemory]:
    """Return the managed memories with these ids, deleted ones included, of whichever manager."""
    return {one.uuid: one for one in read_managed(Memory.objects.exclude(managed_by="").filter(uuid__in=uuids))}


def read_managed(memories: MemoryQuerySet) -> list[ManagedMemory]:
    """Read managed memories."""
    return [
        ManagedMemory(
            **{name: getattr(row, name) for name in _MANAGED_COLUMNS},
            is_active=row.status == MemoryStatus.ACTIVE,
            keywords=tuple(row.keywords),
        )
        for row in memories.order_by("pk").only("status", "keywords", *_MANAGED_COLUMNS)
    ]


def memory_history(access: Access, uuid: UUID) -> QuerySet[MemoryRevision]:
    """Return the history of a memory of the caller's, the first step first. Raises NotFoundError."""
    return MemoryRevision.objects.filter(memory=memory_get_any(access, uuid)).order_by("id")


def conflict_get(access: Access, uuid: UUID) -> Conflict:
    """Return a receipt of the caller's. Raises NotFoundError."""
    receipts = Conflict.objects.visible_to(access).select_related("about", *_CONFLICT_MEMORIES)
    receipt = receipts.filter(uuid=uuid).first()
    if receipt is None:
        raise NotFoundError(NO_SUCH_CONFLICT)
    return receipt


def conflict_list(access: Access, scope: Scope, filters: Mapping[str, Any]) -> ConflictQuerySet:
    """Return the caller's receipts in a scope, the newest first.

    filters: look-ups of columns, and `memory`, the id of a memory that is one of the two.
    """
    columns = {name: value for name, value in filters.items() if name != "memory"}
    receipts = Conflict.objects.visible_to(access, scope).filter(**columns)
    if "memory" in filters:
        receipts = receipts.filter(Q(candidate__uuid=filters["memory"]) | Q(existing__uuid=filters["memory"]))
    return receipts.select_related("about", *_CONFLICT_MEMORIES).newest_first()


# What takes a memory out of searches.
_REMOVALS = ("superseded", "merged", "rejected", "deleted")


def last_removals(access: Access, ids: Collection[int]) -> dict[int, MemoryRevision]:
    """Return the last step by which each of the caller's memories ceased to be active, by primary key."""
    if not ids:
        return {}
    memories = Memory.objects.visible_to(access).filter(pk__in=ids)
    steps = MemoryRevision.objects.filter(memory__in=memories, action__in=_REMOVALS).order_by("memory_id", "-id")
    return {step.memory_id: step for step in steps.distinct("memory_id")}


def last_decision(access: Access, memory: Memory) -> Conflict | None:
    """Return the decision in force by which a memory of the caller's last got its status; None without one."""
    step = memory.revisions.filter(changes__has_key="status").order_by("-id").first()
    if step is None or step.conflict is None:
        return None
    return Conflict.objects.visible_to(access).in_force().filter(uuid=step.conflict).first()


def memories_replaced(access: Access, memory: Memory, limit: int, *, came_back: bool = False) -> list[Memory]:
    """Return the memories of the caller's whose place another one has taken, the newest first.

    came_back: those that are active again instead, since that one was deleted last.
    """
    found = Memory.objects.visible_to(access).defer("lexemes").newest_first()
    if not came_back:
        replaced = (MemoryStatus.SUPERSEDED, MemoryStatus.MERGED, MemoryStatus.REJECTED)
        return list(found.filter(superseded_by=memory, status__in=replaced)[:limit])
    deletion = memory.revisions.filter(action="deleted").last()
    if deletion is None:
        return []
    steps = MemoryRevision.objects.filter(
        memory__user_id=memory.user_id,
        action="restored",
        at=deletion.at,
        changes__superseded_by=[str(memory.uuid), None],
    )
    return list(found.active().filter(pk__in=steps.values("memory"))[:limit])


def memories_savers(access: Access, keys: Collection[int]) -> dict[int, str]:
    """Return who saved some memories of the caller's, by primary key: the actor of the first step of each."""
    memories = Memory.objects.visible_to(access).filter(pk__in=keys)
    steps = MemoryRevision.objects.filter(memory__in=memories, action="created").order_by("memory_id", "id")
    return dict(steps.distinct("memory_id").values_list("memory_id", "actor"))


def memory_contents(access: Access, uuids: Collection[UUID]) -> dict[UUID, str]:
    """Return what some memories of the caller's say, by id."""
    return dict(Memory.objects.visible_to(access).filter(uuid__in=uuids).values_list("uuid", "content"))


def memories_near(access: Access, memory: Memory, limit: int) -> list[tuple[Memory, float]]:
    """Return the active memories of the same user that are nearest to one of the caller's, with their cosines.

    None for a memory without a vector in the active space.
    """
    space = active_space()
    own = memory.embeddings.filter(space=space).first() if space else None
    if own is None:
        return []
    others = Memory.objects.visible_to(access, Scope(memory.user_id)).active().exclude(pk=memory.pk)
    near = others.filter(embeddings__space=space).annotate(distance=CosineDistance("embeddings__vector", own.vector))
    distances = dict(near.order_by("distance", "-pk").values_list("pk", "distance")[:limit])
    found = others.defer("lexemes").in_bulk(distances)
    return [(found[pk], 1.0 - distance) for pk, distance in distances.items() if pk in found]


def memories_with_words(access: Access, text: str, limit: int) -> list[Memory]:
    """Return the newest memories of the caller's, of whatever status, whose contents have every word of a text."""
    having = Memory.objects.visible_to(access)
    for word in text.replace("\x00", "").split():
        having = having.filter(content__icontains=word)
    return list(having.newest_first().defer("lexemes").select_related("superseded_by")[:limit])


def conflicts_with_words(access: Access, text: str, limit: int) -> list[Conflict]:
    """Return the newest receipts of the caller's about memories whose contents have every word of a text."""
    receipts = Conflict.objects.visible_to(access)
    for word in text.replace("\x00", "").split():
        receipts = receipts.filter(Q(candidate__content__icontains=word) | Q(existing__content__icontains=word))
    return list(receipts.select_related("candidate", "existing").newest_first()[:limit])


def memories_of_events(access: Access, events: Collection[UUID]) -> dict[UUID, Memory]:
    """Return the caller's memories that were made of events and are not deleted, by event."""
    links = Ingestion.objects.visible_to(access).filter(event_id__in=events, status=IngestionStatus.LINKED)
    found = links.exclude(memory__status=MemoryStatus.DELETED).select_related("memory").order_by("id")
    return {link.event_id: link.memory for link in found if link.memory is not None}


def memories_made(access: Access, start: datetime | None, end: datetime | None, event_type: str = "") -> list[UUID]:
    """Return the caller's active memories that were made of events of a time, both ends included, each once.

    event_type: of the events; empty for all.
    """
    links = Ingestion.objects.visible_to(access).filter(status=IngestionStatus.LINKED)
    links = links if start is None else links.filter(timestamp__gte=start)
    links = links if end is None else links.filter(timestamp__lte=end)
    links = links.filter(event_type=event_type) if event_type else links
    made = Memory.objects.visible_to(access).active().filter(pk__in=links.values("memory"))
    return list(made.order_by("pk").values_list("uuid", flat=True))


@dataclass(frozen=True)
class PersonFacts:
    """What the memories of a user say of them. households: in order, at most PERSON_HOUSEHOLDS.

    open_decisions: those that a person is asked about.
    """

    last_saved_at: datetime | None = None
    households: tuple[str, ...] = ()
    open_decisions: int = 0


PERSON_HOUSEHOLDS = 20


def person_facts(access: Access, users: Collection[str]) -> dict[str, PersonFacts]:
    """Return the facts of some users, as far as the caller sees them, in two statements."""
    memories = Memory.objects.visible_to(access).filter(user_id__in=users).order_by()
    homes = ArrayAgg("household_id", distinct=True, filter=~Q(household_id=""), default=[])
    counted = memories.values("user_id").annotate(last=Max("created_at"), homes=homes)
    receipts = (
        Conflict.objects.visible_to(access).filter(IS_ASKED, user_id__in=users, state=ReviewState.OPEN).order_by()
    )
    waiting = dict(receipts.values_list("user_id").annotate(Count("pk")))
    found = {row["user_id"]: (row["last"], tuple(sorted(row["homes"])[:PERSON_HOUSEHOLDS])) for row in counted}
    return {user: PersonFacts(*found.get(user, (None, ())), waiting.get(user, 0)) for user in users}


def saved_by_week(access: Access, scope: Scope, since: datetime) -> dict[date, int]:
    """Return how many of the caller's memories in a scope were saved in each week, by its Monday, since a time."""
    memories = Memory.objects.visible_to(access, scope).filter(created_at__gte=since).order_by()
    rows = memories.annotate(week=TruncWeek("created_at", output_field=DateField())).values_list("week")
    return dict(rows.annotate(Count("pk")))


def decisions_between(access: Access, since: datetime, until: datetime) -> dict[str, int]:
    """Count the caller's decisions after `since` up to `until` by outcome; outcomes without one have 0."""
    decided = Conflict.objects.visible_to(access).filter(at__gt=since, at__lte=until).order_by()
    counted = dict(decided.values_list("outcome").annotate(count=Count("pk")))
    return dict.fromkeys(ConflictOutcome.values, 0) | counted


def active_total(access: Access) -> int:
    """Count the caller's active memories."""
    return Memory.objects.visible_to(access).active().count()


def users_in(access: Access, scope: Scope) -> list[str]:
    """Return the users who have active memories in a scope."""
    memories = Memory.objects.visible_to(access, scope).active()
    return list(memories.order_by("user_id").values_list("user_id", flat=True).distinct())


def known_identifiers(name: str, limit: int) -> list[str]:
    """Return the first `limit` users, households or personas of memories, in their order. name: `user_id`, ..."""
    return distinct_values(Memory, name, limit)


@dataclass(frozen=True)
class MemoryCount:
    """A name, and how many memories are of it. inactive: superseded, merged, rejected or deleted ones."""

    name: str
    active: int
    inactive: int


def memory_counts(access: Access, scope: Scope, by: str, span: NameSpan = ALL_NAMES) -> list[MemoryCount]:
    """Count the caller's memories in a scope by a column: an identifier of the scope, or a tag."""
    is_active = Q(status=MemoryStatus.ACTIVE)
    rows = span.grouped(Memory.objects.visible_to(access, scope), by)
    counted = rows.annotate(active=Count("status", filter=is_active), inactive=Count("status", filter=~is_active))
    return [MemoryCount(row["name"], row["active"], row["inactive"]) for row in counted[: span.limit]]


def memory_name_total(access: Access, scope: Scope, by: str, among: Sequence[str] | None = None) -> int:
    """Return how many different names of a kind the caller's memories in a scope have. among: counts only these."""
    memories = Memory.objects.visible_to(access, scope).exclude(**{by: ""})
    if among is not None:
        memories = memories.filter(**{f"{by}__in": among})
    return int(memories.aggregate(total=Count(by, distinct=True))["total"])


@dataclass(frozen=True)
class MemoryFigures:
    """The memories of a scope in figures. distinct: how many different values a column has, without blank ones."""

    by_status: Mapping[str, int]
    distinct: Mapping[str, int]
    conflicts: Mapping[str, int]
    first_saved_at: datetime | None
    last_changed_at: datetime | None


def memory_figures(access: Access, scope: Scope, columns: Sequence[str]) -> MemoryFigures:
    """Return the figures of the caller's memories in a scope."""
    memories = Memory.objects.visible_to(access, scope)
    statuses = memories.order_by().values_list("status").annotate(count=Count("*"))
    different = {column: Count(column, distinct=True, filter=~Q(**{column: ""})) for column in columns}
    counts = memories.aggregate(
        first_saved_at=Min("created_at"),
        last_changed_at=Max("updated_at"),
        **{f"of_{column}": count for column, count in different.items()},
    )
    receipts = Conflict.objects.visible_to(access, scope).order_by().values_list("state").annotate(count=Count("*"))
    return MemoryFigures(
        by_status=dict.fromkeys(MemoryStatus.values, 0) | dict(statuses),
        distinct={column: counts[f"of_{column}"] for column in columns},
        conflicts=dict.fromkeys(ReviewState.values, 0) | dict(receipts),
        first_saved_at=counts["first_saved_at"],
        last_changed_at=counts["last_changed_at"],
    )
