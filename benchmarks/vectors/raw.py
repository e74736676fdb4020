"""The nearest rows found without MemoryHub: by SQL alone, by hnswlib alone, by numpy alone.

Each way is set up to be fast and correct: prepared statements, indexes on the tags, parameters
of the graph as in `apps.retrieval.domain.vectors.graph`.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import hnswlib
import numpy as np
from django.db import connection
from pgvector.psycopg import register_vector
from psycopg import Connection, Cursor, sql

from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.vectors.cosines import Vectors, cosines, cosines_at
from apps.retrieval.domain.vectors.graph import EF_CONSTRUCTION, MIN_BREADTH, M
from benchmarks.vectors.data import TAGGED, Question, ScopeData

TOP_K = 10
_BUILD_MEMORY = "2GB"
TABLE = "bench_vector"
GRAPH = f"{TABLE}_hnsw"
# Without these the database chooses the plan, and not always the one that is to be measured.
EXACT: Mapping[str, str] = {"enable_indexscan": "off"}
BY_GRAPH: Mapping[str, str] = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_sort": "off",
    "hnsw.ef_search": str(MIN_BREADTH),
}
ITERATIVE: Mapping[str, str] = {**BY_GRAPH, "hnsw.iterative_scan": "strict_order"}


class Way(Protocol):
    """A way to the nearest rows."""

    name: str

    def search(self, question: Question) -> Sequence[int]:
        """Return the places of the TOP_K nearest rows that pass the filter."""


@contextmanager
def raw_connection(**settings: str) -> Iterator["Connection[Any]"]:
    """Open a connection of its own to the hub's database, with settings of the session."""
    wrapper = connection.copy()
    wrapper.ensure_connection()
    try:
        # Django's cursors put parameters into the text themselves, and nothing is prepared.
        wrapper.connection.cursor_factory = Cursor
        register_vector(wrapper.connection)
        for name, value in settings.items():
            wrapper.connection.execute(f"SET {name} = '{value}'")
        yield wrapper.connection
    finally:
        wrapper.close()


@dataclass(frozen=True)
class TableFigures:
    """seconds: to make the graph. bytes: on the disk, of the rows with their vectors and of the graph."""

    graph_seconds: float
    table_bytes: int
    graph_bytes: int


@contextmanager
def raw_table(user: str, space: EmbeddingSpace) -> Iterator[TableFigures]:
    """Copy the vectors of a scope to a table of their own, with a graph. It is dropped in the end."""
    with raw_connection(maintenance_work_mem=_BUILD_MEMORY) as database:
        database.execute(f"DROP TABLE IF EXISTS {TABLE}")
        try:
            make_table(database, user, space)
            started = time.perf_counter()
            database.execute(
                f"CREATE INDEX {GRAPH} ON {TABLE} USING hnsw (vector vector_ip_ops) "
                f"WITH (m = {M}, ef_construction = {EF_CONSTRUCTION})"
            )
            seconds = time.perf_counter() - started
            yield TableFigures(seconds, size(database, TABLE), size(database, GRAPH))
        finally:
            database.execute(f"DROP TABLE IF EXISTS {TABLE}")


def make_table(database: "Connection[Any]", user: str, space: EmbeddingSpace) -> None:
    tags = ", ".join(f"m.{column}" for _, column in TAGGED)
    statement = sql.SQL(
        f"CREATE TABLE {TABLE} AS SELECT m.id, {tags}, e.vector::vector({space.dimension}) AS vector "  # noqa: S608
        "FROM semantic_memory AS m JOIN semantic_memoryembedding AS e ON e.memory_id = m.id "
        "WHERE m.user_id = {} AND e.space_id = {} ORDER BY m.id"
    )
    database.execute(statement.format(sql.Literal(user), sql.Literal(space.pk)))
    database.execute(f"ALTER TABLE {TABLE} ADD PRIMARY KEY (id)")
    for _, column in TAGGED:
        database.execute(f"CREATE INDEX ON {TABLE} ({column})")
    database.execute(f"VACUUM ANALYZE {TABLE}")


def size(database: "Connection[Any]", relation: str) -> int:
    row = database.execute("SELECT pg_table_size(%s::regclass)", [relation]).fetchone()
    return int(row[0]) if row else 0


class SqlWay:
    """One statement, in a session of its own. rows: the place of each id."""

    def __init__(self, name: str, database: "Connection[Any]", rows: Mapping[int, int]) -> None:
        self.name, self._rows = name, rows
        self._cursor = database.cursor(binary=True)

    def search(self, question: Question) -> Sequence[int]:
        """Search by SQL, in the order of the database."""
        self._cursor.execute(self.statement(question), _parameters(question), prepare=True)
        return [self._rows[row[0]] for row in self._cursor.fetchall()]

    def uses_graph(self, question: Question) -> bool:
        """Return whether the database uses the graph."""
        self._cursor.execute(f"EXPLAIN {self.statement(question)}", _parameters(question))
        return any(GRAPH in row[0] for row in self._cursor.fetchall())

    def statement(self, question: Question) -> str:
        where = "" if question.column is None else f"WHERE {question.column} = %(value)s "
        order = f"ORDER BY vector <#> %(vector)b::vector LIMIT {TOP_K}"
        return f"SELECT id FROM {TABLE} {where}{order}"  # noqa: S608


def _parameters(question: Question) -> dict[str, Any]:
    return {"value": question.value, "vector": question.vector}


class HnswlibWay:
    """hnswlib as it comes, filters as functions that it calls."""

    name = "hnswlib"

    def __init__(self, data: ScopeData) -> None:
        self.index = hnswlib.Index(space="ip", dim=data.vectors.shape[1])
        started = time.perf_counter()
        self.index.init_index(max_elements=2 * len(data) + 1_000, M=M, ef_construction=EF_CONSTRUCTION, random_seed=1)
        self.index.add_items(data.vectors, np.arange(len(data)), num_threads=os.cpu_count() or 1)
        self.seconds = time.perf_counter() - started
        self.index.set_ef(MIN_BREADTH)

    def search(self, question: Question) -> Sequence[int]:
        """Return nothing where it cannot reach as many as there are."""
        passes = None if question.value is None else question.mask.__getitem__
        try:
            labels, _ = self.index.knn_query(question.vector, k=question.count, num_threads=1, filter=passes)
        except RuntimeError:
            return []
        return [int(row) for row in labels[0]]


class NumpyWay:
    """All rows that pass, by `apps.retrieval.domain.vectors.cosines`: the quickest exact way known on this machine."""

    name = "numpy"

    def __init__(self, data: ScopeData) -> None:
        self._data = data
        self._codes = {column: np.unique(values, return_inverse=True) for column, values in data.tags.items()}

    def search(self, question: Question) -> Sequence[int]:
        """Exact."""
        if question.column is None or question.value is None:
            return best_of(np.arange(len(self._data)), cosines(self._data.vectors, question.vector))
        values, codes = self._codes[question.column]
        rows = np.flatnonzero(codes == np.searchsorted(values, question.value))
        return best_of(rows, cosines_at(self._data.vectors, rows, question.vector))


def best_of(rows: Any, similarities: Vectors) -> Sequence[int]:
    """Return the TOP_K rows of the greatest similarity, unordered."""
    if len(rows) > TOP_K:
        rows = rows[np.argpartition(-similarities, TOP_K)[:TOP_K]]
    return [int(row) for row in rows]


def timed_answer(way: Way, question: Question) -> tuple[float, float, bool]:
    """Return seconds, recall and completeness of one answer."""
    started = time.perf_counter()
    found = way.search(question)
    seconds = time.perf_counter() - started
    return seconds, question.recall(found), question.is_complete(found)
