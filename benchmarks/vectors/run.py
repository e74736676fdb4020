"""What the benchmark measures of searches by vector: every way beside every other, in scopes of several sizes."""

import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import cycle
from typing import Any
from uuid import uuid4

import psutil
from django.conf import settings
from django.db import connection

from apps.core.domain.scope import Scope, system_access
from apps.core.terminal import progress_bar
from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.vectors.cosines import Vectors
from apps.semantic.services import memories_purge
from apps.semantic.store.embedding_space import current_space
from benchmarks.api import HubClient, Say, bench_key, wait_for_deliveries
from benchmarks.vectors.data import FILTERS, Filter, Question, ScopeData, fill, questions, real_scope, synthetic_scope
from benchmarks.vectors.figures import (
    Samples,
    best_way,
    read_figures,
    stage_figures,
    take_turns,
    write_figures,
)
from benchmarks.vectors.hub import (
    HttpWay,
    IndexWay,
    LeastWay,
    RankWay,
    ServiceWay,
    many_clients,
    stages_of,
    start_times,
    wait_for_graphs,
)
from benchmarks.vectors.raw import (
    BY_GRAPH,
    EXACT,
    ITERATIVE,
    TOP_K,
    HnswlibWay,
    NumpyWay,
    SqlWay,
    Way,
    raw_connection,
    raw_table,
    timed_answer,
)
from benchmarks.vectors.writes import written
from memoryhub.process.children import MARK

ROUNDS = 5
LEAST_CALLS = 20
WARM_UP = 3


@dataclass(frozen=True, eq=False)
class RealTexts:
    """Texts to fill scopes with instead of made-up ones, and their vectors."""

    texts: Sequence[str]
    vectors: Vectors


@dataclass
class VectorMeasurement:
    """One run against a running hub whose database this process shares.

    sizes: of the scopes, in memories. queries: different ones for each filter. writes: by each way. seconds: spent at
    most on one way with one filter, apart from a few calls. stream: for progress.
    """

    url: str
    sizes: Sequence[int]
    queries: int
    writes: int
    seconds: float
    say: Say
    stream: Any
    real: RealTexts | None = None

    def run(self) -> dict[str, Any]:
        """Return all figures. What it stores belongs to users of its own and is purged in the end."""
        space = current_space()
        with bench_key() as key:
            scopes = [self.scope(key, space, self.data(space, size)) for size in self.sizes]
        return {"machine": machine(), "model": space.model, "dimension": space.dimension, "scopes": scopes}

    def data(self, space: EmbeddingSpace, size: int) -> ScopeData:
        user = f"bench-{uuid4()}"
        if self.real is not None:
            return real_scope(user, self.real.texts, self.real.vectors, size, self.queries)
        return synthetic_scope(user, size, self.queries, space.dimension)

    def scope(self, key: str, space: EmbeddingSpace, data: ScopeData) -> dict[str, Any]:
        try:
            return ScopeMeasurement(self, key, data, space).run()
        finally:
            self.say(f"Removing the scope of {len(data)}")
            memories_purge(access=system_access("bench"), scope=Scope(data.user))
            wait_for_deliveries(self.say)


class ScopeMeasurement:
    """Everything about one scope."""

    def __init__(self, run: VectorMeasurement, key: str, data: ScopeData, space: EmbeddingSpace) -> None:
        self._run, self._key, self.data, self._space = run, key, data, space
        self._by_pk: dict[int, int] = {}
        self._by_uuid: dict[str, int] = {}

    def run(self) -> dict[str, Any]:
        """Return all figures. What it stores belongs to users of its own and is purged in the end."""
        load, filling = os.getloadavg()[0], self.fill()
        self._run.say(f"Making the graph of {len(self.data)}")
        starts = start_times(self.data.user, self._space)
        ready = wait_for_graphs(self._run.url, self._key, Question.of(self.data, FILTERS[0], 0, TOP_K))
        self._run.say("The same by hnswlib alone, and by SQL")
        hnswlib = HnswlibWay(self.data)
        with raw_table(self.data.user, self._space) as table, self.sql_ways() as by_sql:
            ways = [*by_sql, hnswlib, NumpyWay(self.data), *self.hub_ways()]
            reads = self.reads(ways)
            by_name = {way.name: way for way in ways}
            stages = [self.stages(each, by_name[best_way(reads, each.name)]) for each in FILTERS]
            writes = self._writes(hnswlib)
        making = {
            "fill_s": filling,
            "index_load_s": starts.load,
            "index_graph_s": starts.graph,
            "index_warm_s": starts.warm,
            "web_ready_s": ready,
            "hnswlib_graph_s": hnswlib.seconds,
            "sql_graph_s": table.graph_seconds,
            "sql_table_mb": table.table_bytes / 1e6,
            "sql_graph_mb": table.graph_bytes / 1e6,
            "web_resident_mb": max(resident_mb(), default=0.0),
        }
        return {
            "rows": len(self.data),
            "load_before": round(load, 2),
            "making": {name: round(value, 2) for name, value in making.items()},
            "reads": reads,
            "stages": stages,
            "writes": writes,
        }

    def fill(self) -> float:
        started = time.perf_counter()
        with progress_bar(f"Filling a scope of {len(self.data)}", len(self.data), self._run.stream) as advance:
            ids = fill(self.data, self._space, advance)
        self._by_pk = {pk: row for row, (pk, _) in enumerate(ids)}
        self._by_uuid = {uuid: row for row, (_, uuid) in enumerate(ids)}
        return time.perf_counter() - started

    @contextmanager
    def sql_ways(self) -> Iterator[list[Way]]:
        settings_of = {"sql_exact": EXACT, "sql_hnsw": BY_GRAPH, "sql_hnsw_iterative": ITERATIVE}
        with ExitStack() as stack:
            connections = {name: stack.enter_context(raw_connection(**each)) for name, each in settings_of.items()}
            ways = [SqlWay(name, each, self._by_pk) for name, each in connections.items()]
            self.check(ways)
            yield list(ways)

    def check(self, ways: Sequence[SqlWay]) -> None:
        """Check that the database uses the graph where the name of a way says so, whatever the filter."""
        for each in FILTERS:
            for way in ways:
                if way.uses_graph(Question.of(self.data, each, 0, TOP_K)) != (way.name != "sql_exact"):
                    raise RuntimeError(f"The database does not go about {way.name} as it should: filter {each.name}")

    def hub_ways(self) -> list[Way]:
        http = HttpWay(self._run.url, self._key, self._by_uuid)
        space, rows = self._space, self._by_pk
        return [RankWay(space, rows), IndexWay(space, rows), ServiceWay(rows), http]

    def reads(self, ways: Sequence[Way]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        with progress_bar("Searching", len(FILTERS) * (len(ways) + 1), self._run.stream) as advance:
            for each in FILTERS:
                asked = questions(self.data, each, TOP_K)
                samples = self.in_turns(ways, asked)
                advance(len(ways))
                samples["http_many"] = self.at_once(ways, asked)
                advance(1)
                rows += [figures.as_json() for figures in read_figures(len(self.data), each.name, samples)]
        return rows

    def in_turns(self, ways: Sequence[Way], asked: Sequence[Question]) -> dict[str, Samples]:
        for way in ways:
            if isinstance(way, HttpWay):
                way.prepare(asked)
            for question in asked[:WARM_UP]:
                way.search(question)
        return take_turns(
            {way.name: partial(timed_answer, way) for way in ways},
            asked,
            rounds=ROUNDS,
            seconds=self._run.seconds,
            least=LEAST_CALLS,
        )

    def at_once(self, ways: Sequence[Way], asked: Sequence[Question]) -> Samples:
        [http] = [way for way in ways if isinstance(way, HttpWay)]
        gathered = many_clients(self._run.url, self._key, asked)
        found = [(question, http.places(answer)) for question, answer in gathered.answers]
        return Samples(
            gathered.times,
            [question.recall(rows) for question, rows in found],
            [question.is_complete(rows) for question, rows in found],
            gathered.seconds,
        )

    def stages(self, each: Filter, quickest: Way) -> dict[str, Any]:
        """Return medians of a search in parts, and of its way over HTTP. quickest: of the correct raw ways."""
        client, asked = HubClient(self._run.url, self._key), questions(self.data, each, TOP_K)
        http = HttpWay(self._run.url, self._key, self._by_uuid)
        http.prepare(asked)
        with raw_connection() as database:
            least = LeastWay(quickest, database, list(self._by_pk))
            pairs = zip(asked, asked[1:] + asked[:1], cycle((True, False)), strict=False)
            parts = [stages_of(self._space, least, one, other, first=first) for one, other, first in pairs]
        around = [(timed_answer(http, one)[0], alive(client)) for one in asked]
        return stage_figures(each.name, parts, around, quickest.name)

    def _writes(self, hnswlib: HnswlibWay) -> list[dict[str, Any]]:
        self._run.say("Writing")
        done = written(self.data, hnswlib, self._run.url, self._key, self._run.writes)
        wait_for_deliveries(self._run.say)
        return write_figures(done)


def alive(client: HubClient) -> float:
    started = time.perf_counter()
    client.send("/healthz")
    return time.perf_counter() - started


def machine() -> dict[str, Any]:
    """Describe the machine."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        )
        postgresql, pgvector = cursor.fetchone()
    return {
        "processors": os.cpu_count(),
        "architecture": platform.machine(),
        "load_after": round(os.getloadavg()[0], 2),
        "postgresql": postgresql,
        "pgvector": pgvector,
        "hnswlib": version("hnswlib"),
        "numpy": version("numpy"),
        "web_processes": settings.MEMORYHUB.web_processes,
        "web_threads": settings.MEMORYHUB.web_threads,
    }


def resident_mb() -> list[float]:
    """Return the resident memory of each Python process of the hub, in megabytes; shared memory counts in each."""
    found: list[float] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(settings.MEMORYHUB.data_dir) and "python" in process.name():
                found.append(process.memory_info().rss / 1e6)
        except (psutil.Error, OSError):
            continue
    return found
