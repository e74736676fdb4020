"""Which stored memories conflict with older ones of their exact scope that nobody has decided about yet."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db import connection
from django.db.models import Max

from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.ranking import visible_slots
from apps.retrieval.domain.rows import RowStore
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, decide
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.records import Vector, record_from_memory
from apps.semantic.domain.nearest import nearest
from apps.semantic.index.cache import index_cache
from apps.semantic.memories.comparison import terms_of
from apps.semantic.models import Conflict, Memory
from apps.semantic.querysets import MemoryQuerySet

_POLL_SECONDS = 0.02
_WRITERS_SQL = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = pg_get_serial_sequence(%s, 'id')::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A stored memory with its vector and those of the older memories near it, by primary key."""

    memory: int
    vector: Vector
    near: Mapping[int, Vector]


@dataclass(frozen=True, eq=False)
class Finding:
    """A memory that conflicts with older ones. memories: all of them, by the key of their records."""

    record: MemoryRecord
    rule: RuleConfig
    memories: Mapping[str, Memory]
    conflicts: Sequence[DetectedConflict]

    def verdict(self) -> Verdict:
        """What the rule says."""
        verdict = decide(self.record, self.conflicts, self.rule.arbitration)
        assert verdict is not None
        return verdict


@dataclass
class Chunk:
    """Memories that were looked at together, by rising id. findings: by the id of the later memory."""

    ids: Sequence[int]
    users: Mapping[int, str] = field(default_factory=dict)
    neighbourhoods: Mapping[int, Neighbourhood] = field(default_factory=dict)
    findings: Mapping[int, Finding] = field(default_factory=dict)


def last_visible_id(patience: float) -> int | None:
    """The highest id of a memory below which none is being inserted; None if that cannot be said yet.

    Ids of different users become visible out of order: one that is lower may still be uncommitted. Whoever has taken an
    id holds a lock on the sequence until the transaction ends, so once all who hold it now are gone, every id up to the
    highest that was visible before is there or never will be. patience: in seconds.
    """
    highest = Memory.objects.aggregate(highest=Max("pk"))["highest"] or 0
    deadline = time.monotonic() + patience
    writers = _writers()
    while writers:
        if time.monotonic() > deadline:
            return None
        time.sleep(_POLL_SECONDS)
        writers &= _writers()
    return highest


def _writers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_WRITERS_SQL, [Memory._meta.db_table])
        return {row[0] for row in cursor.fetchall()}


def memories_between(scope: Scope, after: int, until: int) -> MemoryQuerySet:
    """The active memories of a scope with an id above one and up to another, by rising id."""
    return Memory.objects.in_scope(scope).active().filter(pk__gt=after, pk__lte=until).order_by("pk")


def examine(memories: Sequence[Memory], space: EmbeddingSpace, rules: RuleSet) -> Chunk:
    """Hold memories against the older ones near them. Takes no lock of the database. Raises SpaceChangedError."""
    ids = [memory.pk for memory in memories]
    near = {one.memory: one for one in _neighbourhoods(memories, space)}
    others = {pk for one in near.values() for pk in one.near}
    known = {memory.pk: memory for memory in memories} | _read(others - set(ids))
    settled = decided_partners([known[pk] for pk in near])
    found = (finding_of(one, known, rules, settled) for one in near.values())
    findings = {known_id: finding for known_id, finding in zip(near, found, strict=True) if finding is not None}
    return Chunk(ids, {memory.pk: memory.user_id for memory in memories}, near, findings)


def finding_of(
    one: Neighbourhood, known: Mapping[int, Memory], rules: RuleSet, settled: Mapping[int, Collection[str]]
) -> Finding | None:
    """The conflicts of a memory with those near it that are `known`, but for the pairs that are settled already."""
    memory = known[one.memory]
    record = record_from_memory(memory, one.vector)
    rule = rules.matching(record)
    memories, conflicts = {record.key: memory}, []
    for pk, vector in one.near.items():
        other = known.get(pk)
        if other is None or str(other.uuid) in settled.get(memory.pk, ()):
            continue
        existing = record_from_memory(other, vector)
        detection = detect(record, existing, rule.detection)
        if detection.is_conflict:
            memories[existing.key] = other
            conflicts.append(DetectedConflict(existing, detection))
    return Finding(record, rule, memories, conflicts) if conflicts else None


def decided_partners(memories: Sequence[Memory]) -> dict[int, set[str]]:
    """With which memories each of these has a receipt, whatever became of it: id -> keys.

    Also those that a receipt names besides: they were looked at, too.
    """
    ids = [memory.pk for memory in memories]
    partners: dict[int, set[str]] = defaultdict(set)
    columns = ("candidate", "candidate__uuid", "existing__uuid", "others")
    for candidate, _, existing, others in Conflict.objects.filter(candidate__in=ids).values_list(*columns):
        partners[candidate] |= {str(existing), *(other["existing"]["id"] for other in others)}
    for existing, candidate in Conflict.objects.filter(existing__in=ids).values_list("existing", "candidate__uuid"):
        partners[existing].add(str(candidate))
    return partners


def _read(ids: Iterable[int]) -> dict[int, Memory]:
    rows = Memory.objects.active().filter(pk__in=list(ids)).defer("lexemes").select_related("superseded_by")
    return {row.pk: row for row in rows}


def _neighbourhoods(memories: Sequence[Memory], space: EmbeddingSpace) -> Iterator[Neighbourhood]:
    by_user: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        by_user[memory.user_id].append(memory)
    for user, mine in by_user.items():
        terms = {memory.pk: terms_of(memory.content, memory.keywords) for memory in mine}
        with index_cache().refreshed([user], space) as [shard]:
            found = list(_in_shard(shard, mine, terms))
        yield from found


def _in_shard(
    shard: RowStore, memories: Sequence[Memory], terms: Mapping[int, Sequence[int]]
) -> Iterator[Neighbourhood]:
    """Copies of what is near, so that the shard may change afterwards. Memories without a vector have nothing near."""
    alive = np.flatnonzero(shard.alive)
    slots = dict(zip(shard.ids[alive].tolist(), alive.tolist(), strict=True))
    for memory in memories:
        slot = slots.get(memory.pk)
        if slot is not None and shard.vectors[slot].any():
            older = visible_slots(shard, _exact_scope(memory)) & (shard.ids < memory.pk)
            near = [one.slot for one in nearest(shard, older, shard.vectors @ shard.vectors[slot], terms[memory.pk])]
            vectors = {int(shard.ids[one]): shard.vectors[one].copy() for one in near}
            yield Neighbourhood(memory.pk, shard.vectors[slot].copy(), vectors)


def _exact_scope(memory: Memory) -> Scope:
    """Where a memory has no household or persona, the empty one: None would match all."""
    return Scope(memory.user_id, memory.household_id, memory.persona_id)
