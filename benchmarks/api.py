"""What the benchmark measures: embedder, import, and the API over HTTP, side by side in one run."""

import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create, key_revoke
from apps.events.selectors import outbox_status
from apps.llm.embedding.embedder import get_embedder
from apps.llm.models import EmbeddingSpace
from apps.rules.selectors import active_rules
from apps.semantic.conflicts.candidate import Candidate, SaveContext
from apps.semantic.domain.evaluation import percentile
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.imports.importer import PlacedDraft, import_memories
from apps.semantic.memories.comparison import compare
from apps.semantic.memories.save import save_prepare
from apps.semantic.services import memories_purge
from apps.semantic.store.embedding_space import TextVectors
from benchmarks.texts import synthetic_texts

WARM_UP = 20
DELIVERY_SECONDS = 120
SAVE, SAVE_BATCH, SEARCH = "/api/semantic/memories", "/api/semantic/memories/batch", "/api/semantic/search"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Figures:
    """Times of single calls in seconds."""

    seconds: Sequence[float]

    def as_json(self) -> dict[str, float]:
        """Return percentiles in milliseconds, and calls a second."""
        return {
            "calls": len(self.seconds),
            "p50_ms": round(percentile(self.seconds, 0.5) * 1000, 2),
            "p95_ms": round(percentile(self.seconds, 0.95) * 1000, 2),
            "per_second": round(1 / statistics.fmean(self.seconds), 1),
        }


class HubClient:
    """One connection to a running hub, kept open."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any) -> float:
        """Return the wall time of a call in seconds. Raises RuntimeError for an error answer."""
        payload = json.dumps(body)
        return timed(lambda: self.send(path, payload))

    def send(self, path: str, payload: str | None = None) -> bytes:
        """Return the answer to a POST of JSON, or to a GET without any. Raises RuntimeError for an error answer."""
        self._connection.request("GET" if payload is None else "POST", path, payload, self._headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{path} answered {response.status}: {answer[:200]!r}")
        return answer


@dataclass
class Measurement:
    """One run against a running hub whose database this process shares."""

    url: str
    texts: Sequence[str]
    scope_size: int
    compared_size: int
    calls: int
    say: Say

    def run(self) -> dict[str, Any]:
        """Return all figures. What it stores belongs to users of its own and is purged in the end."""
        user = f"bench-{uuid4()}"
        compared = f"{user}-compared"
        with bench_key() as key, purged(user, compared, f"{user}-saves", f"{user}-import"):
            batch = self.embedder_and_import(f"{user}-import")
            self.fill(user, self.scope_size)
            self.fill(compared, self.compared_size)
            wait_for_deliveries(self.say)
            return {
                "texts": len(self.texts),
                "scope_size": self.scope_size,
                "batch": batch,
                "search_http": self.searches(key, user),
                "search_http_16_clients_per_second": self.many_clients(key, user),
                "save_http": self.saves(key, f"{user}-saves"),
                "compared_size": self.compared_size,
                "comparison": self.comparisons(compared),
                "save_http_compared": self.saves(key, compared),
            }

    def fill(self, user: str, size: int) -> None:
        self.say(f"Filling a scope with {size} memories")
        import_texts(synthetic_texts(size), user)

    def comparisons(self, user: str) -> dict[str, float]:
        """Time the detection of conflicts: finding the neighbours of a memory and comparing it with them."""
        self.say("Comparing new memories with their neighbours")
        drafts = [MemoryDraft(text, scope=Scope(user)) for text in self.new_texts()]
        prepared = save_prepare(access=system_access("bench"), drafts=drafts)
        items = [item for item in prepared.items if isinstance(item, Candidate)]
        times = [timed(partial(_compare, item, prepared.space)) for item in items]
        return Figures(times[WARM_UP:]).as_json()

    def new_texts(self) -> list[str]:
        """Return texts that are in none of the scopes."""
        return synthetic_texts(self.calls + WARM_UP, seed=21)

    def embedder_and_import(self, user: str) -> dict[str, float]:
        """Return texts a second: the bare embedder before and after the import of the same texts."""
        embed = get_embedder().embed
        embed(self.texts[:64])
        self.say(f"Embedding {len(self.texts)} texts")
        before = timed(lambda: embed(self.texts))
        self.say("Importing them")
        importing = timed(lambda: import_texts(self.texts, user))
        self.say("Embedding them again")
        embedding = (before + timed(lambda: embed(self.texts))) / 2
        count = len(self.texts)
        return {
            "embedder_per_second": round(count / embedding, 1),
            "import_per_second": round(count / importing, 1),
            "import_over_embedder": round(embedding / importing, 3),
        }

    def searches(self, key: str, user: str) -> dict[str, float]:
        self.say("Searching over HTTP")
        client = HubClient(self.url, key)
        queries = synthetic_texts(self.calls + WARM_UP)
        times = [client.post(SEARCH, {"query": q[-80:], "user_id": user}) for q in queries]
        return Figures(times[WARM_UP:]).as_json()

    def many_clients(self, key: str, user: str) -> float:
        self.say("Searching with 16 clients")
        requests = [search_request(user, query[-80:]) for query in synthetic_texts(self.calls)]
        return round(send_at_once(self.url, key, requests, clients=16), 1)

    def saves(self, key: str, user: str) -> dict[str, float]:
        self.say("Saving over HTTP")
        client = HubClient(self.url, key)
        texts = self.new_texts()
        times = [client.post(SAVE, {"content": text, "user_id": user}) for text in texts]
        return Figures(times[WARM_UP:]).as_json()


def save_request(user: str, texts: Sequence[str]) -> tuple[str, str]:
    """Return path and body of a save of one memory or of a batch."""
    items = [{"content": text, "user_id": user} for text in texts]
    return (SAVE, json.dumps(items[0])) if len(items) == 1 else (SAVE_BATCH, json.dumps({"memories": items}))


def search_request(user: str, query: str) -> tuple[str, str]:
    """Return path and body of a search."""
    return SEARCH, json.dumps({"query": query, "user_id": user})


def send_at_once(url: str, key: str, requests: Sequence[tuple[str, str]], clients: int) -> float:
    """Send requests, paths with bodies, from so many connections at once; return how many were answered a second."""

    def work(mine: Sequence[tuple[str, str]]) -> None:
        client = HubClient(url, key)
        for request in mine:
            client.send(*request)

    threads = [threading.Thread(target=work, args=(requests[n::clients],)) for n in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(requests) / (time.perf_counter() - started)


def wait_for_deliveries(say: Say) -> None:
    """Let the worker finish with the events of the filling, which would compete with what is timed next."""
    say("Waiting for the events to be delivered")
    deadline = time.monotonic() + DELIVERY_SECONDS
    while outbox_status().pending and time.monotonic() < deadline:
        time.sleep(0.2)


def _compare(item: Candidate, space: EmbeddingSpace) -> None:
    context = SaveContext(space, active_rules(), TextVectors(space.dimension))
    compare([item], context, utcnow(SYSTEM_CLOCK))


def import_texts(texts: Sequence[str], user: str) -> None:
    """Save texts as memories of a user, in this process."""
    drafts = [PlacedDraft(f"text {n}", MemoryDraft(text, scope=Scope(user))) for n, text in enumerate(texts, 1)]
    import_memories(system_access("bench"), drafts)


def timed(work: Callable[[], Any]) -> float:
    """Return the wall time of a call in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@contextmanager
def bench_key() -> Iterator[str]:
    """Yield the secret of a key that may write for all users; it is revoked in the end."""
    key, secret = key_create(name="benchmark", scope=Scope(), permission=Permission.WRITE, actor="bench")
    try:
        yield secret
    finally:
        key_revoke(uuid=key.uuid)


@contextmanager
def purged(*users: str) -> Iterator[None]:
    """Destroy all memories of users in the end."""
    try:
        yield
    finally:
        for user in users:
            memories_purge(access=system_access("bench"), scope=Scope(user))
