"""The nearest rows found by MemoryHub: by its index alone, by its search in process, and over HTTP."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from psycopg import Connection

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope, system_access
from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.planner import GRAPH_ROWS
from apps.retrieval.domain.query import Ranking, SearchMode, SearchQuery
from apps.retrieval.domain.ranking import rank
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.text.asked import NOTHING_ASKED
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.models import Memory, half_lives
from apps.semantic.search.costs import read_search_costs
from apps.semantic.search.fetch import fetch_active_memories
from apps.semantic.search.search import memory_search
from benchmarks.api import HubClient
from benchmarks.vectors.data import Question
from benchmarks.vectors.figures import Stages
from benchmarks.vectors.raw import TOP_K, Way

SEARCH = "/api/semantic/search"
CLIENTS = 16
READY_SECONDS = 900.0
# So many new connections in a row see a graph only if all web processes have one.
_SEEN_BY = 24
T = TypeVar("T")


def query_of(question: Question) -> SearchQuery:
    """Return the same question for MemoryHub."""
    return SearchQuery(
        scope=Scope(question.data.user),
        embedding=question.vector,
        mode=SearchMode.VECTOR,
        top_k=TOP_K,
        tags={} if question.column is None or question.value is None else {question.column: question.value},
    )


class RankWay:
    """Ranking alone: the shard as it is in memory, without asking whether anything has changed. It has been loaded."""

    name = "rank"

    def __init__(self, space: EmbeddingSpace, rows: Mapping[int, int]) -> None:
        self._space, self._rows = space, rows

    def search(self, question: Question) -> Sequence[int]:
        """Search without asking for changes: right as long as no process writes."""
        cached = index_cache().peek(question.data.user, self._space)
        assert cached is not None
        with cached.lock:
            return [self._rows[hit.id] for hit in ranking_of(query_of(question), [cached.rows], self._space).hits]


class IndexWay:
    """The index: the shard brought up to date, and its nearest rows. rows: the place of each primary key."""

    name = "index"

    def __init__(self, space: EmbeddingSpace, rows: Mapping[int, int]) -> None:
        self._space, self._rows = space, rows

    def search(self, question: Question) -> Sequence[int]:
        """Search as a whole search does, without reading the memories."""
        with index_cache().refreshed([question.data.user], self._space) as shards:
            return [self._rows[hit.id] for hit in ranking_of(query_of(question), shards, self._space).hits]


def ranking_of(query: SearchQuery, shards: Sequence[RowStore], space: EmbeddingSpace) -> Ranking:
    """Rank the rows as `memory_search` does."""
    now, costs = utcnow(SYSTEM_CLOCK), read_search_costs(space.dimension)
    return rank(query, query.scope, query.embedding, NOTHING_ASKED, shards, now, half_lives(), costs)


class ServiceWay:
    """A whole search in process."""

    name = "service"

    def __init__(self, rows: Mapping[int, int]) -> None:
        self._rows = rows

    def search(self, question: Question) -> Sequence[int]:
        """Search and read the memories from the database."""
        found = memory_search(system_access("bench"), query_of(question)).found
        return [self._rows[one.memory.pk] for one in found]


class HttpWay:
    """The API over one connection. rows: the place of each public id."""

    name = "http"

    def __init__(self, url: str, key: str, rows: Mapping[str, int]) -> None:
        self._client, self._rows = HubClient(url, key), rows
        self._bodies: dict[int, str] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Write the requests, which is not what is to be measured."""
        self._bodies = {id(question): body_of(question) for question in questions}

    def search(self, question: Question) -> Sequence[int]:
        """Search over HTTP."""
        return self.places(self._client.send(SEARCH, self._bodies[id(question)]))

    def places(self, answer: bytes) -> Sequence[int]:
        """Return the rows of an answer."""
        return [self._rows[result["memory"]["id"]] for result in json.loads(answer)["results"]]


def body_of(question: Question) -> str:
    """Return the request. Six digits of a number are more than a cosine of ten rows can distinguish."""
    body = {"user_id": question.data.user, "embedding": [round(float(x), 6) for x in question.vector], "top_k": TOP_K}
    if question.column is not None:
        body[question.column] = question.value
    return json.dumps(body)


@dataclass
class ManyAnswers:
    """What many clients at once were answered. seconds: of all calls together. times: of each, in seconds."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    answers: list[tuple[Question, bytes]] = field(default_factory=list)


def many_clients(url: str, key: str, questions: Sequence[Question], clients: int = CLIENTS) -> ManyAnswers:
    """Ask the questions from several connections at once. Raises RuntimeError for an error answer."""
    work = [(question, body_of(question)) for question in questions]
    gathered, errors = ManyAnswers(), list[Exception]()

    def ask(mine: Sequence[tuple[Question, str]]) -> None:
        try:
            client = HubClient(url, key)
            for question, body in mine:
                started = time.perf_counter()
                answer = client.send(SEARCH, body)
                gathered.times.append(time.perf_counter() - started)
                gathered.answers.append((question, answer))
        except (OSError, RuntimeError) as error:
            errors.append(error)

    gathered.seconds = at_once(ask, [work[number::clients] for number in range(clients)])
    if errors:
        raise RuntimeError(f"{len(errors)} of {clients} clients failed") from errors[0]
    return gathered


def at_once(work: Callable[[T], None], shares: Sequence[T]) -> float:
    """Do each share of the work in a thread of its own; return the seconds until the last one is done."""
    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def wait_for_graphs(url: str, key: str, question: Question) -> float:
    """Wait until every web process uses its graph, if the scope is large enough for one; return the seconds.

    Raises RuntimeError when that takes too long.
    """
    started, body, seen = time.perf_counter(), body_of(question), 0
    while seen < _SEEN_BY:
        answer = json.loads(HubClient(url, key).send(SEARCH, body))
        by_graph = answer["diagnostics"]["index"] == "hnsw" or len(question.data) < GRAPH_ROWS
        seen = seen + 1 if by_graph else 0
        if time.perf_counter() - started > READY_SECONDS:
            raise RuntimeError("The web processes have no graph of the scope.")
        if not by_graph:
            time.sleep(0.5)
    return time.perf_counter() - started


class LeastWay:
    """The least that an answer with memories costs: a raw way, and reading the rows in one prepared statement.

    ids: the primary key of each place.
    """

    def __init__(self, raw: Way, database: "Connection[Any]", ids: Sequence[int]) -> None:
        columns = ", ".join(f'"{field.column}"' for field in Memory._meta.concrete_fields if field.name != "lexemes")
        self._raw, self._ids, self._cursor = raw, ids, database.cursor(binary=True)
        self._statement = f"SELECT {columns} FROM semantic_memory WHERE id = ANY(%s) AND status = 'active'"  # noqa: S608

    def seconds(self, question: Question) -> float:
        """Return how long that takes."""
        started = time.perf_counter()
        places = self._raw.search(question)
        self._cursor.execute(self._statement, [[self._ids[place] for place in places]], prepare=True)
        self._cursor.fetchall()
        return time.perf_counter() - started


def stages_of(space: EmbeddingSpace, least: LeastWay, question: Question, other: Question, *, first: bool) -> Stages:
    """Time a search in parts, another one as a whole, and the least that it costs, as the `first` or the second.

    The second one finds in the processor's cache what the other has read.
    """
    query, access = query_of(question), system_access("bench")
    started = time.perf_counter()
    with index_cache().refreshed([question.data.user], space) as shards:
        refreshed = time.perf_counter()
        ranking = ranking_of(query, shards, space)
        ranked = time.perf_counter()
    ids = [hit.id for hit in ranking.hits]
    found = time.perf_counter()
    fetch_active_memories(access, ids)
    fetched = time.perf_counter() - found
    before = least.seconds(other) if first else 0.0
    started_whole = time.perf_counter()
    memory_search(access, query_of(other))
    whole = time.perf_counter() - started_whole
    return Stages(refreshed - started, ranked - refreshed, fetched, whole, before or least.seconds(other))


@dataclass(frozen=True)
class Starts:
    """Seconds: to load a shard, to make its graph, and to have both again with a snapshot on the disk."""

    load: float
    graph: float
    warm: float


def start_times(user: str, space: EmbeddingSpace) -> Starts:
    """Time the start of an index in this process, beside the others. What it loads stays in memory."""
    cache = index_cache()
    load = seconds_to_load(cache, user, space)
    started = time.perf_counter()
    cache.keeper.request(user, space)
    while not cache.keeper.is_idle:
        time.sleep(0.05)
    graph = time.perf_counter() - started
    started = time.perf_counter()
    again = IndexCache(1 << 40)
    seconds_to_load(again, user, space)
    again.keeper.update(user, space)
    return Starts(load, graph, time.perf_counter() - started)


def seconds_to_load(cache: IndexCache, user: str, space: EmbeddingSpace) -> float:
    started = time.perf_counter()
    with cache.refreshed([user], space):
        return time.perf_counter() - started
