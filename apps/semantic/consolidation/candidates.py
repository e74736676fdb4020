"""Find stored memories that conflict with older ones of their exact scope and are not decided about yet."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Max

from apps.core.domain.scope import Scope
from apps.llm.selectors import EmbeddingSpace
from apps.rules.domain.documents.rule import RuleConfig
from apps.rules.domain.engine.arbitration import DetectedConflict
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.verdict import Verdict, decide
from apps.rules.selectors import RuleSet
from apps.semantic.conflicts.neighbours import Neighbourhood, nearest_of, stored_neighbours
from apps.semantic.conflicts.receipts import decided_partners
from apps.semantic.domain.disagreement import find_disagreement, read_ahead
from apps.semantic.models import Memory
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.store.rows import record_from_memory

_POLL_SECONDS = 0.02
_WRITERS_SQL = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = pg_get_serial_sequence(%s, 'id')::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True, eq=False)
class Finding:
    """A memory that conflicts with older ones. memories: all of them, by the key of their records."""

    record: MemoryRecord
    rule: RuleConfig
    memories: Mapping[str, Memory]
    conflicts: Sequence[DetectedConflict]

    def verdict(self) -> Verdict:
        """Decide by the rule."""
        verdict = decide(self.record, self.conflicts, self.rule.arbitration)
        assert verdict is not None
        return verdict


@dataclass(frozen=True)
class ExaminedChunk:
    """Memories that were examined together, by rising id; users, neighbours and findings by the id of the memory.

    contents: of these and of their neighbours, which is what their vectors are of.
    """

    ids: Sequence[int]
    users: Mapping[int, str]
    neighbourhoods: Mapping[int, Neighbourhood]
    findings: Mapping[int, Finding]
    contents: Mapping[int, str]


def last_visible_id(max_wait_seconds: float) -> int | None:
    """Return the highest id of a memory below which none is being inserted; None if that is not known in time.

    Ids of different users become visible out of order: a lower one may still be uncommitted. A transaction that has
    taken an id holds a lock on the sequence until it ends, so once all that hold it now are gone, every id up to the
    highest that was visible before is there or never will be.
    """
    highest = Memory.objects.aggregate(highest=Max("pk"))["highest"] or 0
    deadline = time.monotonic() + max_wait_seconds
    writers = current_writers()
    while writers:
        if time.monotonic() > deadline:
            return None
        time.sleep(_POLL_SECONDS)
        writers &= current_writers()
    return highest


def current_writers() -> set[str]:
    """Return the transactions that hold a lock on the sequence of ids."""
    with connection.cursor() as cursor:
        cursor.execute(_WRITERS_SQL, [Memory._meta.db_table])
        return {row[0] for row in cursor.fetchall()}


def memories_between(scope: Scope, after: int, until: int) -> MemoryQuerySet:
    """Return the active memories of a scope with an id above one and up to another, by rising id. None is managed."""
    return Memory.objects.in_scope(scope).active().unmanaged().filter(pk__gt=after, pk__lte=until).order_by("pk")


def examine(memories: Sequence[Memory], space: EmbeddingSpace, rules: RuleSet) -> ExaminedChunk:
    """Compare memories with the older ones near them. Takes no lock of the database. Raises SpaceChangedError."""
    ids = [memory.pk for memory in memories]
    near = stored_neighbours(memories, space)
    others = {one.id for neighbourhood in near.values() for one in neighbourhood.near} - set(ids)
    rows = Memory.objects.active().filter(pk__in=others).defer("lexemes").select_related("superseded_by")
    known = {memory.pk: memory for memory in (*memories, *rows)}
    decided = decided_partners([known[pk] for pk in near])
    found = {pk: find_conflicts(pk, one, known, rules, decided) for pk, one in near.items()}
    findings = {pk: finding for pk, finding in found.items() if finding is not None}
    contents = {pk: memory.content for pk, memory in known.items()}
    return ExaminedChunk(ids, {memory.pk: memory.user_id for memory in memories}, near, findings, contents)


def find_conflicts(
    pk: int,
    neighbourhood: Neighbourhood,
    known: Mapping[int, Memory],
    rules: RuleSet,
    decided: Mapping[int, Collection[str]],
) -> Finding | None:
    """Detect the conflicts of a memory with those near it that are `known`, but for pairs that are decided already."""
    record = record_from_memory(known[pk], neighbourhood.vector)
    rule = rules.matching(record)
    memories, conflicts = {record.key: known[pk]}, []
    near = [one for one in neighbourhood.near if one.id in known and str(known[one.id].uuid) not in decided.get(pk, ())]
    nearest = nearest_of(near)
    others = [(known[one.id], record_from_memory(known[one.id], one.vector), one in nearest) for one in near]
    read_ahead((record, existing) for _, existing, is_read in others if is_read)
    for other, existing, is_read in others:
        detection = find_disagreement(record, existing, rule.detection, is_read=is_read)
        if detection.is_conflict:
            memories[existing.key] = other
            conflicts.append(DetectedConflict(existing, detection))
    return Finding(record, rule, memories, conflicts) if conflicts else None
