"""Searches and saves of a hub over HTTP beside the embedder alone and beside Chroma in process, in turn, in one run."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, Protocol
from uuid import uuid4

from apps.llm.domain.embedder import TextRole
from apps.llm.embedding.embedder import embed_texts
from apps.rules.domain.engine.pair_judge import use_judge
from benchmarks.api import (
    HubClient,
    Say,
    bench_key,
    import_texts,
    purged,
    save_request,
    search_request,
    send_at_once,
    timed,
    wait_for_deliveries,
)
from benchmarks.memory import last_words
from benchmarks.texts import synthetic_texts

SEARCHED, SMALL, BATCH = 5_000, 1_000, 200
WARM_UP, CLIENTS = 20, 16
# What is timed of the embedder, by what is timed of the hub and of the other store.
FLOORS = {"search": "embed a question", "save": "embed a text", "save a batch": "embed a batch"}


class Collection(Protocol):
    """A store of texts in this process that the hub is compared with."""

    def add(self, texts: Sequence[str]) -> None:
        """Embed texts and store them."""

    def find(self, query: str) -> None:
        """Embed a question and look for the texts nearest to it."""


class ChromaCollection:
    """A collection of Chroma on disk, with vectors of the embedder of the hub."""

    def __init__(self, place: Path) -> None:
        """Open it. Raises ImportError where Chroma is not installed."""
        # No dependency of the project: who wants to compare installs it.
        client = import_module("chromadb").PersistentClient(path=str(place))
        self._found = client.create_collection("texts", metadata={"hnsw:space": "cosine"})

    def add(self, texts: Sequence[str]) -> None:
        ids = [str(uuid4()) for _ in texts]
        self._found.add(ids=ids, documents=list(texts), embeddings=embed_texts(texts))

    def find(self, query: str) -> None:
        self._found.query(query_embeddings=embed_texts([query], TextRole.QUERY), n_results=10)


@dataclass
class Beside:
    """One run beside a hub that works. other: what it is compared with, where there is anything.

    calls, batches: how many of each kind. large: memories of the largest scope, none for 0.
    """

    url: str
    other: Collection | None
    calls: int
    batches: int
    large: int
    say: Say
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list), init=False)

    def run(self) -> dict[str, Any]:
        """Return medians in milliseconds, and their ratios. What is stored in the hub is purged in the end."""
        searched, small, batches, large = (f"beside-{uuid4()}" for _ in range(4))
        # In this process, which only fills scopes: it would take most of the time, and that is not measured.
        use_judge("", None)
        with bench_key() as key, purged(searched, small, batches, large):
            client = HubClient(self.url, key)
            self._fill(searched, SEARCHED, self.other)
            self._fill(small, SMALL)
            self._fill(large, self.large)
            wait_for_deliveries(self.say)
            self._search(client, searched)
            at_once = self._search_at_once(key, searched)
            self._save(client, small, large)
            self._save_batches(client, batches)
        found = {name: median(times) for name, times in self.seconds.items()}
        return {
            "p50_ms": {name: round(seconds * 1_000, 2) for name, seconds in found.items()},
            "ratios": {**_ratios(found), f"searches of {CLIENTS} clients / of one": at_once},
        }

    def _search(self, client: HubClient, user: str) -> None:
        self.say("Searching")
        for place, text in enumerate(synthetic_texts(self.calls + WARM_UP, seed=51)):
            query, is_counted = last_words(text), place >= WARM_UP
            self._time("embed a question", partial(embed_texts, [query], TextRole.QUERY), is_counted)
            self._time("search", partial(client.send, *search_request(user, query)), is_counted)
            if self.other:
                self._time("other: search", partial(self.other.find, query), is_counted)

    def _search_at_once(self, key: str, user: str) -> float:
        """Return how many times the searches of one client several make in the same time."""
        self.say(f"Searching with {CLIENTS} clients")
        requests = [search_request(user, last_words(text)) for text in synthetic_texts(self.calls * 4, seed=54)]
        alone = send_at_once(self.url, key, requests[::2], clients=1)
        return round(send_at_once(self.url, key, requests[1::2], clients=CLIENTS) / alone, 2)

    def _save(self, client: HubClient, small: str, large: str) -> None:
        self.say("Saving one at a time")
        for place, text in enumerate(synthetic_texts(self.calls + WARM_UP, seed=52)):
            is_counted = place >= WARM_UP
            self._time("embed a text", partial(embed_texts, [text]), is_counted)
            self._time("save", partial(client.send, *save_request(small, [text])), is_counted)
            if self.large:
                self._time("save among many", partial(client.send, *save_request(large, [text])), is_counted)
            if self.other:
                self._time("other: save", partial(self.other.add, [text]), is_counted)

    def _save_batches(self, client: HubClient, user: str) -> None:
        self.say(f"Saving {BATCH} at a time")
        texts = synthetic_texts((self.batches + 1) * BATCH, seed=53)
        for place in range(0, len(texts), BATCH):
            batch, is_counted = texts[place : place + BATCH], place > 0
            self._time("embed a batch", partial(embed_texts, batch), is_counted)
            self._time("save a batch", partial(client.send, *save_request(user, batch)), is_counted)
            if self.other:
                self._time("other: save a batch", partial(self.other.add, batch), is_counted)

    def _fill(self, user: str, size: int, other: Collection | None = None) -> None:
        if not size:
            return
        self.say(f"Filling a scope with {size:,} memories")
        texts = synthetic_texts(size, seed=50)
        import_texts(texts, user)
        if other:
            for place in range(0, size, BATCH):
                other.add(texts[place : place + BATCH])

    def _time(self, name: str, work: Callable[[], Any], is_counted: bool) -> None:
        seconds = timed(work)
        if is_counted:
            self.seconds[name].append(seconds)


def _ratios(found: dict[str, float]) -> dict[str, float]:
    """Return times of hub and other store by those of the embedder, and of the hub by those of the other store."""
    pairs = list(FLOORS.items())
    pairs += [(f"other: {name}", floor) for name, floor in FLOORS.items()]
    pairs += [(name, f"other: {name}") for name in FLOORS]
    pairs += [("save among many", "save")]
    return {f"{one} / {two}": round(found[one] / found[two], 2) for one, two in pairs if one in found and two in found}
