"""Scopes of memories to measure searches with: vectors with known truth, and tags for filters of every width.

Writing them through the services would take hours and prove nothing about searching, so rows go straight into the
tables, as a restore would write them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction
from psycopg import Cursor

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.content import content_hash
from apps.retrieval.domain.vectors.cosines import Vectors, cosines_at
from apps.retrieval.domain.vectors.synthetic import CLUSTER_ROWS, MAX_CLUSTERS, Clusters
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.store.rows import new_memory, word_columns
from apps.semantic.store.unit_of_work import lock_shards
from benchmarks.texts import synthetic_texts

SEED = 25
_CHUNK = 2_000
_COPY_HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_COPY_TAIL = b"\xff\xff"
_ROW_FIELDS = [field for field in Memory._meta.concrete_fields if not field.primary_key]
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Filter:
    """A tag that a search asks for, or none. share: of the rows that have it, about.

    of_clusters: rows have it together with all that are near to them, so it has everything to do with where they lie.
    """

    name: str
    column: str | None = None
    share: float = 1.0
    of_clusters: bool = False

    @property
    def values(self) -> int:
        """Return how many different values the column has where there are enough rows."""
        return round(1 / self.share)


FILTERS = (
    Filter("100%"),
    Filter("10%", "type", 0.1),
    Filter("1%", "project", 0.01),
    Filter("0.1%", "agent", 0.001),
    Filter("10% of clusters", "personality", 0.1, of_clusters=True),
)
TAGGED = tuple((each, each.column) for each in FILTERS if each.column is not None)


@dataclass(frozen=True, eq=False)
class ScopeData:
    """A scope to be searched.

    vectors: of shape (rows, dimension). clusters: of each row. queries and query_clusters: vectors like those of the
    rows that are not among them. Rows are known by their place.
    """

    user: str
    texts: Sequence[str]
    vectors: Vectors
    clusters: npt.NDArray[np.int64]
    queries: Vectors
    query_clusters: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def tags(self) -> dict[str, npt.NDArray[np.str_]]:
        """Return the values of each tagged column, by row."""
        places = np.arange(len(self))
        return {
            column: labels(self.clusters if each.of_clusters else places, self._values(each)) for each, column in TAGGED
        }

    def _values(self, each: Filter) -> int:
        return min(each.values, int(self.clusters.max()) + 1 if each.of_clusters else len(self))

    def value(self, each: Filter, query: int) -> str | None:
        """Return the value of the filter's column; of clusters, in turns one of those nearby and one of others."""
        if each.column is None:
            return None
        number = int(self.query_clusters[query]) + query % 2 if each.of_clusters else query
        return str(labels(np.array([number]), self._values(each))[0])

    def matching(self, each: Filter, query: int) -> npt.NDArray[np.int64]:
        """Return the rows that pass the filter."""
        if each.column is None:
            return np.arange(len(self))
        return np.flatnonzero(self.tags[each.column] == self.value(each, query))


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a scope, and what is right.

    value: in the column of the filter. mask: one byte for each row, 1 for those that pass. count: how many of the best
    are asked for and exist. threshold: the cosine of the last of them.
    """

    data: ScopeData
    number: int
    column: str | None
    value: str | None
    vector: Vectors
    mask: bytes
    count: int
    threshold: float

    @classmethod
    def of(cls, data: ScopeData, each: Filter, number: int, top_k: int) -> "Question":
        """Answered by looking at every row."""
        rows, vector = data.matching(each, number), data.queries[number]
        mask = np.zeros(len(data), dtype=np.uint8)
        mask[rows] = 1
        count = min(top_k, len(rows))
        threshold = float(np.sort(cosines_at(data.vectors, rows, vector))[-count]) if count else 0.0
        value = data.value(each, number)
        return cls(data, number, each.column, value, vector, mask.tobytes(), count, threshold)

    def recall(self, found: Sequence[int]) -> float:
        """Return the share of the right rows among those found; 1 where there is nothing to find."""
        rows = np.array(sorted(set(found)), dtype=np.int64)
        # Of rows that are equally near to the sixth digit, any will do.
        near = cosines_at(self.data.vectors, rows, self.vector) >= self.threshold - 1e-6
        right = sum(self.mask[row] for row in rows[near])
        return min(right, self.count) / self.count if self.count else 1.0

    def is_complete(self, found: Sequence[int]) -> bool:
        """Return whether as many different rows came back as exist, up to the requested number."""
        return len(set(found)) == len(found) == self.count


def questions(data: ScopeData, each: Filter, top_k: int) -> list[Question]:
    """Return one question for each query vector of the scope."""
    return [Question.of(data, each, number, top_k) for number in range(len(data.queries))]


def synthetic_scope(user: str, rows: int, queries: int, dimension: int) -> ScopeData:
    """Return a scope of clustered vectors, with texts that are unrelated to them."""
    clusters = Clusters.for_rows(rows, dimension, SEED)
    stored, asked = clusters.draw(rows), clusters.draw(queries)
    return ScopeData(user, synthetic_texts(rows), stored.vectors, stored.clusters, asked.vectors, asked.clusters)


def real_scope(user: str, texts: Sequence[str], vectors: Vectors, rows: int, queries: int) -> ScopeData:
    """Return a scope of real texts with their vectors; the queries are other texts, from the end.

    A cluster is made of those that are nearest to the same one of some rows.
    """
    rows = min(rows, len(texts) - queries)
    centres = vectors[: min(max(1, rows // CLUSTER_ROWS), MAX_CLUSTERS)]
    stored, asked = vectors[:rows], vectors[len(vectors) - queries :]
    nearest = [np.argmax(part @ centres.T, axis=1) for part in (stored, asked)]
    return ScopeData(user, list(texts[:rows]), stored, nearest[0], asked, nearest[1])


def fill(data: ScopeData, space: EmbeddingSpace, progress: Advance = lambda _: None) -> list[tuple[int, str]]:
    """Write the scope into the tables; return the ids of each row. progress: called with rows written."""
    with transaction.atomic():
        version = lock_shards([data.user])[data.user]
        memories = copy_memories(data, version, progress)
        copy_vectors([pk for pk, _ in memories], data.vectors, space)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE semantic_memory, semantic_memoryembedding, semantic_memoryshard")
    return memories


def copy_memories(data: ScopeData, version: int, progress: Advance) -> list[tuple[int, str]]:
    columns = ", ".join(f'"{field.column}"' for field in _ROW_FIELDS)
    uuids: list[str] = []
    with raw_cursor() as cursor:
        with cursor.copy(f"COPY semantic_memory ({columns}) FROM STDIN") as copy:
            for chunk in chunks(_memories(data, version)):
                for memory in chunk:
                    uuids.append(str(memory.uuid))
                    copy.write_row([_stored(field, memory) for field in _ROW_FIELDS])
                progress(len(chunk))
        cursor.execute("SELECT uuid::text, id FROM semantic_memory WHERE user_id = %s", [data.user])
        ids = dict(cursor.fetchall())
    return [(ids[uuid], uuid) for uuid in uuids]


def _memories(data: ScopeData, version: int) -> Iterator[Memory]:
    now, scope = utcnow(SYSTEM_CLOCK), Scope(data.user)
    for row, text in enumerate(data.texts):
        tags: dict[str, Any] = {name: str(values[row]) for name, values in data.tags.items()}
        memory = new_memory(MemoryDraft(text, **tags), scope, word_columns(text, (), "", None), now)
        memory.content_hash, memory.version = content_hash(text), version
        yield memory


def _stored(field: Any, memory: Memory) -> Any:
    return field.get_db_prep_save(getattr(memory, field.attname), connection)


def copy_vectors(ids: Sequence[int], vectors: Vectors, space: EmbeddingSpace) -> None:
    """Write vectors in the binary form of COPY: hundreds of numbers a row take too long as text."""
    row = binary_row(vectors.shape[1])
    statement = "COPY semantic_memoryembedding (memory_id, space_id, vector, is_given) FROM STDIN (FORMAT BINARY)"
    with raw_cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_COPY_HEAD)
        for first in range(0, len(ids), _CHUNK):
            rows = np.zeros(len(ids[first : first + _CHUNK]), dtype=row)
            for name in row.names or ():
                if name.startswith("size of "):
                    rows[name] = row[name.removeprefix("size of ")].itemsize
            rows["fields"], rows["space"], rows["given"] = 4, space.pk, 1
            rows["memory"] = ids[first : first + _CHUNK]
            rows["vector"]["dimension"] = vectors.shape[1]
            rows["vector"]["numbers"] = vectors[first : first + _CHUNK]
            copy.write(rows.tobytes())
        copy.write(_COPY_TAIL)


def binary_row(dimension: int) -> np.dtype[np.void]:
    """Return the layout of a row: before each value its size; a vector is two 16-bit numbers and then its own."""
    vector = [("dimension", ">i2"), ("unused", ">i2"), ("numbers", ">f4", (dimension,))]
    values = [("memory", ">i8"), ("space", ">i8"), ("vector", vector), ("given", "u1")]
    sized = [part for name, kind in values for part in ((f"size of {name}", ">i4"), (name, kind))]
    return np.dtype([("fields", ">i2"), *sized])


def raw_cursor() -> Cursor[Any]:
    """Return a plain psycopg cursor on Django's connection: it can copy, and uses the binary format."""
    connection.ensure_connection()
    return Cursor(connection.connection)


def chunks(memories: Iterator[Memory]) -> Iterator[list[Memory]]:
    while chunk := list(islice(memories, _CHUNK)):
        yield chunk


def labels(numbers: npt.NDArray[np.int64], values: int) -> npt.NDArray[np.str_]:
    return np.char.add("v", (numbers % values).astype(np.str_))
