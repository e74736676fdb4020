"""The shards that this process has in memory, kept in step with the database (DESIGN D2, D9).

Every search first asks for what changed since it last looked, so it sees every write that was committed before
it began, whichever process made it.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from prometheus_client import Counter, Histogram
from psycopg import Cursor

from apps.llm.models import EmbeddingSpace
from apps.semantic.domain.shard import Shard, ShardRow
from apps.semantic.embedding import SpaceChangedError

LOADED_ROWS = Counter("semantic_index_rows_loaded_total", "Memories read into shards, by why.", ["kind"])
REFRESH_SECONDS = Histogram("semantic_index_refresh_seconds", "Time to bring the shards of a search up to date.")
EVICTIONS = Counter("semantic_index_evictions_total", "Shards dropped because the cache was full.")
_FETCH_SIZE = 2_000

# Columns in the order of ShardRow, with the coded ones in the order of domain.shard.CODED.
_ROWS_SQL = """
SELECT m.id, m.version, m.status = 'active',
       m.household_id, m.persona_id, m.agent, m.personality, m.project, m.type,
       m.session_id, m.source, CASE WHEN m.is_global THEN 'true' ELSE 'false' END, m.decay_policy,
       extract(epoch FROM coalesce(m.occurred_at, m.created_at))::float8,
       extract(epoch FROM CASE WHEN m.decay_policy = 'reinforceable'
                               THEN coalesce(m.last_reinforced_at, m.created_at)
                               ELSE m.created_at END)::float8,
       m.base_confidence, m.question_share, m.fullness, m.lexemes, vector_send(e.vector)
FROM semantic_memory m
LEFT JOIN semantic_memoryembedding e ON e.memory_id = m.id AND e.space_id = %s
WHERE m.user_id = %s AND m.version > %s AND (m.status = 'active' OR %s)
ORDER BY m.version, m.id
"""
_CODED = slice(3, 13)


@dataclass(eq=False)
class _Cached:
    """A shard, the version it stands at, and the lock of whoever changes or reads it."""

    shard: Shard
    version: int = -1
    lock: threading.RLock = field(default_factory=threading.RLock)


class ShardCache:
    """Shards by user and embedding space, the least recently used ones dropped beyond a size in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._cached: OrderedDict[tuple[str, int], _Cached] = OrderedDict()
        self._sizes: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def fresh(self, users: Sequence[str], space: EmbeddingSpace) -> Iterator[list[Shard]]:
        """The shards of these users as of now, locked while the block runs. Raises SpaceChangedError."""
        with ExitStack() as locks:
            entries = [(user, self._entry(user, space)) for user in sorted(set(users))]
            for _, entry in entries:
                locks.enter_context(entry.lock)
            with REFRESH_SECONDS.time():
                self._refresh(entries, space)
            yield [entry.shard for _, entry in entries]
        self._evict(keep={(user, space.pk) for user in users})

    def clear(self) -> None:
        """Forget everything; the next search loads what it needs."""
        with self._lock:
            self._cached.clear()
            self._sizes.clear()

    @property
    def nbytes(self) -> int:
        """How much memory the shards take, as of their last refresh."""
        return sum(self._sizes.values())

    def describe(self) -> dict[str, int]:
        """How many shards are in memory, and their size in bytes."""
        return {"shards": len(self._cached), "bytes": self.nbytes}

    def _entry(self, user: str, space: EmbeddingSpace) -> _Cached:
        key = (user, space.pk)
        with self._lock:
            entry = self._cached.setdefault(key, _Cached(Shard(space.dimension)))
            self._cached.move_to_end(key)
            return entry

    def _refresh(self, entries: Sequence[tuple[str, _Cached]], space: EmbeddingSpace) -> None:
        versions = _versions([user for user, _ in entries], space)
        for user, entry in entries:
            version, reset_version = versions.get(user, (0, 0))
            if -1 < entry.version < reset_version:
                entry.shard, entry.version = Shard(space.dimension), -1
            if entry.version < version:
                self._load(user, entry, space)
                entry.version = max(entry.version, version)
                with self._lock:
                    self._sizes[(user, space.pk)] = entry.shard.nbytes

    def _load(self, user: str, entry: _Cached, space: EmbeddingSpace) -> None:
        first = entry.version < 0
        rows: list[ShardRow] = []
        version = entry.version
        for row in _changed_rows(user, entry.version, space.pk, include_inactive=not first):
            rows.append(_shard_row(row))
            version = max(version, row[1])
        entry.shard.apply(rows)
        entry.version = version
        LOADED_ROWS.labels("load" if first else "update").inc(len(rows))

    def _evict(self, keep: set[tuple[str, int]]) -> None:
        with self._lock:
            while self.nbytes > self._max_bytes:
                key = next((key for key in self._cached if key not in keep), None)
                if key is None:
                    return
                del self._cached[key]
                self._sizes.pop(key, None)
                EVICTIONS.inc()


def _versions(users: Sequence[str], space: EmbeddingSpace) -> dict[str, tuple[int, int]]:
    """Version and reset version of each user who has a shard. Raises SpaceChangedError."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT space.id, shard.user_id, shard.version, shard.reset_version "
            "FROM (SELECT id FROM llm_embeddingspace WHERE is_active) AS space "
            "LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = ANY(%s)",
            [list(users)],
        )
        rows = cursor.fetchall()
    if {row[0] for row in rows} != {space.pk}:
        raise SpaceChangedError
    return {user: (version, reset) for _, user, version, reset in rows if user is not None}


def _changed_rows(user: str, version: int, space: int, include_inactive: bool) -> Iterator[Sequence[Any]]:
    connection.ensure_connection()
    # A plain psycopg cursor: Django's speak text, and 384 numbers a row are better read as they are stored.
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(_ROWS_SQL, [space, user, version, include_inactive], binary=True)
        while rows := cursor.fetchmany(_FETCH_SIZE):
            yield from rows


def _shard_row(row: Sequence[Any]) -> ShardRow:
    return ShardRow(
        id=row[0],
        active=row[2],
        coded=tuple(row[_CODED]),
        happened=row[13],
        anchor=row[14],
        base_confidence=row[15],
        question_share=row[16],
        fullness=row[17],
        lexemes=bytes(row[18]),
        vector=_native_floats(row[19]),
    )


def _native_floats(sent: bytes | None) -> bytes:
    """The numbers of pgvector's binary form (two 16-bit headers, then big-endian float32), in native order."""
    if sent is None:
        return b""
    body = sent[4:]
    return np.frombuffer(body, dtype=">f4").astype(np.float32).tobytes() if sys.byteorder == "little" else body


_cache: ShardCache | None = None
_cache_lock = threading.Lock()


def shard_cache() -> ShardCache:
    """The cache of this process."""
    global _cache
    with _cache_lock:
        if _cache is None:
            _cache = ShardCache(settings.MEMORYHUB.index_cache_mb * 1024 * 1024)
        return _cache
