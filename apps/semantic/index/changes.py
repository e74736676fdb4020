"""Read from the database which memories an index consists of, and what changed (DESIGN D2, D9)."""

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, islice
from math import inf
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count
from psycopg import Cursor

from apps.core.db.prepared import read_prepared
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.content import text_code
from apps.retrieval.domain.rows import IndexRow
from apps.semantic.models import Memory
from apps.semantic.store.embedding_space import SpaceChangedError

_FETCH_SIZE = 2_000

CODED = (
    "household_id", "persona_id", "agent", "personality", "project", "type",
    "session_id", "source", "is_global", "decay_policy", "is_managed",
)  # fmt: skip

# The columns of a memory in the order of IndexRow, the coded ones in that of CODED, the vector of `space` last.
_ROW_COLUMNS = """
       m.id, m.status = 'active',
       m.household_id, m.persona_id, m.agent, m.personality, m.project, m.type,
       m.session_id, m.source, CASE WHEN m.is_global THEN 'true' ELSE 'false' END, m.decay_policy,
       CASE WHEN m.managed_by = '' THEN 'false' ELSE 'true' END,
       extract(epoch FROM coalesce(m.occurred_at, m.created_at))::float8,
       extract(epoch FROM CASE WHEN m.decay_policy = 'reinforceable'
                               THEN coalesce(m.last_reinforced_at, m.created_at)
                               ELSE m.created_at END)::float8,
       m.base_confidence, m.question_share, m.fullness, m.lexemes, m.further_sessions,
       coalesce(extract(epoch FROM m.expires_at)::float8, 'infinity'), left(m.content_hash, 8),
       -- As a subquery, so that it is found by its index: the planner might read the vectors of all users for a join.
       (SELECT vector_send(e.vector) FROM semantic_memoryembedding AS e
        WHERE e.memory_id = m.id AND e.space_id = space.id)
"""
# One statement, so one snapshot: versions and rows fit each other, and a batch for several users is seen whole.
_CHANGES_SQL = f"""
SELECT space.id, seen.user_id, coalesce(shard.version, 0), coalesce(shard.reset_version, 0), new.memories,
       {_ROW_COLUMNS}
FROM (SELECT id FROM llm_embeddingspace WHERE is_active) AS space
CROSS JOIN unnest(%s::text[], %s::bigint[]) AS seen (user_id, version)
LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = seen.user_id
-- Counted for those of whom nothing is known yet.
CROSS JOIN LATERAL (
    SELECT count(*) AS memories FROM semantic_memory
    WHERE seen.version < 0 AND user_id = seen.user_id AND status = 'active'
) AS new
LEFT JOIN LATERAL (
    SELECT * FROM semantic_memory
    WHERE user_id = seen.user_id
      AND version > CASE WHEN seen.version < shard.reset_version THEN -1 ELSE seen.version END
      AND (status = 'active' OR seen.version >= shard.reset_version)
    -- By the index on (user_id, version): without the order, before the first ANALYZE, the planner may use another.
    ORDER BY version
) AS m ON TRUE
"""  # noqa: S608
# The same of memories of whatever status, each after its user.
_MEMORIES_SQL = f"""
SELECT m.user_id, {_ROW_COLUMNS}
FROM semantic_memory AS m CROSS JOIN (SELECT %s::bigint AS id) AS space
WHERE m.id = ANY (%s::bigint[])
"""  # noqa: S608
# Mostly nothing has changed, and this check costs a fifth of the above.
_VERSIONS_SQL = """
SELECT space.id, seen.user_id, coalesce(shard.version, 0)
FROM llm_embeddingspace AS space
CROSS JOIN unnest(%(users)s::text[]) AS seen (user_id)
LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = seen.user_id
WHERE space.is_active
"""
_CODED_COLUMNS = slice(2, 2 + len(CODED))
_LAST_COLUMNS = slice(2 + len(CODED), -1)
_VECTOR_HEAD = 4


@dataclass
class Changes:
    """What changed in a user's memories, and their present version.

    memories: how many are active, where none was seen yet; else 0. rows: changed ones.
    """

    version: int
    reset_version: int
    memories: int
    rows: list[IndexRow] = field(default_factory=list)


def active_counts(users: Collection[str]) -> dict[str, int]:
    """Count the active memories of these users, as far as they have any."""
    if not users:
        return {}
    counted = Memory.objects.active().filter(user_id__in=users).values("user_id").annotate(count=Count("id"))
    return {row["user_id"]: row["count"] for row in counted}


def is_current(seen: Mapping[str, int], space: EmbeddingSpace) -> bool:
    """Return whether the versions last seen of all users are their present ones."""
    if min(seen.values(), default=0) < 0:
        return False
    return {(space.pk, *item) for item in seen.items()} == set(read_prepared(_VERSIONS_SQL, {"users": list(seen)}))


def changes_since(seen: Mapping[str, int], space: EmbeddingSpace) -> dict[str, Changes]:
    """Return what changed since the version last seen of each user (-1 for never). Raises SpaceChangedError."""
    changes: dict[str, Changes] = {}
    with closing(changes_in_parts(seen, space)) as parts:
        for user, change in chain.from_iterable(part.items() for part in parts):
            changes.setdefault(user, replace(change, rows=[])).rows.extend(change.rows)
    if len(changes) < len(seen):
        raise SpaceChangedError  # no space is active
    return changes


def changes_in_parts(seen: Mapping[str, int], space: EmbeddingSpace) -> Generator[dict[str, Changes]]:
    """Yield the same in parts of some thousand rows, all of one snapshot. Raises SpaceChangedError.

    Close the generator: until then it keeps the connection from being used.
    """
    with closing(changed_rows(seen)) as rows:
        while batch := list(islice(rows, _FETCH_SIZE)):
            part: dict[str, Changes] = {}
            for row, vector in zip(batch, native_vectors([row[-1] for row in batch]), strict=True):
                active_space, user, version, reset_version, memories, *columns = row
                if active_space != space.pk:
                    raise SpaceChangedError
                change = part.get(user) or part.setdefault(user, Changes(version, reset_version, memories))
                if columns[0] is not None:
                    change.rows.append(make_row(columns, vector))
            yield part


def make_row(columns: Sequence[Any], vector: bytes) -> IndexRow:
    """Return a row of an index from _ROW_COLUMNS. vector: in the machine's order."""
    *numbers, further, expires, digest = columns[_LAST_COLUMNS]
    values = (*columns[:2], tuple(columns[_CODED_COLUMNS]), *numbers, vector, tuple(further), expires)
    return IndexRow._make((*values, text_code(digest)))


def memory_rows(ids: Collection[int], space: EmbeddingSpace) -> dict[str, list[IndexRow]]:
    """Return memories of whatever status as rows that can be found, by user. None of them expires."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(_MEMORIES_SQL, [space.pk, list(ids)], prepare=False, binary=True)
        found = cursor.fetchall()
    rows: dict[str, list[IndexRow]] = {}
    for (user, *columns), vector in zip(found, native_vectors([row[-1] for row in found]), strict=True):
        rows.setdefault(user, []).append(make_row(columns, vector)._replace(active=True, expires=inf))
    return rows


def changed_rows(seen: Mapping[str, int]) -> Generator[tuple[Any, ...]]:
    """Yield the rows of _CHANGES_SQL. Close the generator: an open stream keeps its connection from being used."""
    connection.ensure_connection()
    parameters = [list(seen), list(seen.values())]
    # A plain psycopg cursor: Django's read text, and 384 numbers a row are read faster in binary.
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        if min(seen.values(), default=0) < 0:
            yield from cursor.stream(_CHANGES_SQL, parameters, binary=True, size=_FETCH_SIZE)
        else:  # mostly a handful of rows, for which a stream would take longer
            cursor.execute(_CHANGES_SQL, parameters, prepare=False, binary=True)
            yield from cursor


def native_vectors(sent: Sequence[bytes | None]) -> list[bytes]:
    """Return vectors in native order from what pgvector sends: two 16-bit headers, then big-endian float32."""
    bodies = [b"" if vector is None else vector[_VECTOR_HEAD:] for vector in sent]
    native = np.frombuffer(b"".join(bodies), dtype=">f4").astype(np.float32).tobytes()
    ends = list(accumulate(map(len, bodies)))
    return [native[start:end] for start, end in zip([0, *ends], ends, strict=False)]
