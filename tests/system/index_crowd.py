"""Processes that write, delete, purge and search the same memories at once, and what may be said of their answers.

Each notes when an act began and when it was over, by the clock of the machine. From that follows which memories were
certainly there during a search, and which may have been.
"""

import math
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.retrieval.domain.vectors import graph
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index import graphs
from apps.semantic.index.cache import index_cache
from apps.semantic.search.search import memory_search
from apps.semantic.services import memories_purge, memory_delete, memory_restore, memory_save_many
from tests.system.index_process import ACCESS

DIMENSION, TOP_K = 384, 10
USERS = ("ana", "ben")
PERSONAS = ("kept", "kept too", "purged now and then")
# About so many memories a user has after a while.
CROWD = 400
TOLERANCE = 1e-5


def vector_of(number: int) -> np.ndarray:
    """The vector of a memory or of a question: a number has its own, and every third is near to that of another."""
    vector = np.random.default_rng(number).standard_normal(DIMENSION)
    if number % 3 == 0:
        vector = 0.5 * vector + np.random.default_rng(number // 10).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass(frozen=True)
class Change:
    """Memories came (`there`) or left at a moment between the two. ended: infinite where it is not known whether."""

    uuids: tuple[str, ...]
    there: bool
    began: float
    ended: float


@dataclass(frozen=True)
class Saved:
    """A memory that somebody saved."""

    uuid: str
    number: int
    user: str
    persona: str


@dataclass(frozen=True)
class Purge:
    """Of all memories of a persona."""

    user: str
    persona: str
    began: float
    ended: float


@dataclass(frozen=True)
class Search:
    """A question and its answer. persona: asked for, or None. found: ids and cosines."""

    user: str
    persona: str | None
    number: int
    began: float
    ended: float
    found: tuple[tuple[str, float], ...]
    way: str


@dataclass
class Notes:
    """What a process did."""

    saved: list[Saved] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    purges: list[Purge] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    refused: int = 0


# --- a process ----------------------------------------------------------------------------------------


class Member:
    """One of the crowd."""

    def __init__(self, number: int) -> None:
        self.notes = Notes()
        self._random = Random(number)
        self._next = number * 10_000_000
        self._seen: dict[str, list[str]] = {user: [] for user in USERS}
        self._deleted: list[str] = []

    def save(self, user: str, count: int) -> None:
        """Save memories, and look for one of them at once."""
        numbers = range(self._next, self._next + count)
        self._next += count
        personas = [self._random.choice(PERSONAS) for _ in numbers]
        drafts = [_draft(user, *pair) for pair in zip(numbers, personas, strict=True)]
        began = time.monotonic()
        outcomes = memory_save_many(access=ACCESS, drafts=drafts)
        ended = time.monotonic()
        uuids = [str(outcome.memory.uuid) for outcome in outcomes]  # type: ignore[union-attr]
        self.notes.saved += [Saved(u, n, user, p) for u, n, p in zip(uuids, numbers, personas, strict=True)]
        self.notes.changes.append(Change(tuple(uuids), True, began, ended))
        self.search(user, number=self._random.choice(numbers))

    def search(self, user: str, number: int | None = None) -> None:
        """Ask, sometimes within a persona."""
        number = self._random.randrange(10**9) if number is None else number
        persona = self._random.choice([None, None, *PERSONAS])
        query = SearchQuery(
            scope=Scope(user, persona_id=persona),
            embedding=vector_of(number),
            mode=SearchMode.VECTOR,
            top_k=TOP_K,
        )
        began = time.monotonic()
        result = memory_search(ACCESS, query)
        ended = time.monotonic()
        found = tuple((str(one.memory.uuid), float(one.hit.similarity or 0.0)) for one in result.found)
        self.notes.searches.append(Search(user, persona, number, began, ended, found, result.index))
        self._seen[user] = [uuid for uuid, _ in found]

    def delete(self, user: str) -> None:
        """Delete some of what was found last, whoever saved it."""
        for uuid in self._random.sample(self._seen[user], min(2, len(self._seen[user]))):
            if self._change(uuid, False, memory_delete):
                self._deleted.append(uuid)

    def restore(self) -> None:
        """Take a deletion back."""
        if self._deleted:
            self._change(self._deleted.pop(), True, memory_restore)

    def purge(self, user: str) -> None:
        """Remove the memories of a persona for good."""
        began = time.monotonic()
        memories_purge(access=ACCESS, scope=Scope(user, persona_id=PERSONAS[-1]))
        self.notes.purges.append(Purge(user, PERSONAS[-1], began, time.monotonic()))

    def _change(self, uuid: str, there: bool, service: Callable[..., Any]) -> bool:
        began = time.monotonic()
        try:
            service(access=ACCESS, uuid=uuid)
        except MemoryHubError:  # somebody else was faster
            self.notes.refused += 1
            return False
        self.notes.changes.append(Change((uuid,), there, began, time.monotonic()))
        return True

    def act(self) -> None:
        """Do something."""
        user = self._random.choice(USERS)
        self._random.choices(
            (
                lambda: self.search(user),
                lambda: self.save(user, self._random.randint(1, 4)),
                lambda: self.delete(user),
                self.restore,
                lambda: self.purge(user),
            ),
            weights=(80, 16, 9, 6, 0.4),
        )[0]()


def _draft(user: str, number: int, persona: str) -> MemoryDraft:
    words = " ".join(f"{word:x}" for word in np.random.default_rng(number).integers(16**6, 16**7, 4))
    return MemoryDraft(words, scope=Scope(user, persona_id=persona), embedding=vector_of(number))


def join_in(number: int, seconds: float, small: bool, ready: Any, notes: Path) -> None:
    """Be one of the crowd for a while. small: with room for the shard of one user only."""
    graphs.SNAPSHOT_SHARE = 0.1
    # As broad as there are rows: what is found wrongly then is not for want of recall.
    graph.MIN_BREADTH = 4 * CROWD
    if small:
        index_cache()._max_bytes = 1
    member = Member(number)
    for user in USERS:
        member.save(user, 60)
    ready.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        member.act()
    ready.wait()
    for user in USERS:
        member.search(user)
    notes.write_bytes(pickle.dumps(member.notes))


# --- what may be said of their answers ----------------------------------------------------------------


class Truth:
    """What was there when, as far as anybody can know."""

    def __init__(self, notes: Sequence[Notes]) -> None:
        self._saved = [saved for one in notes for saved in one.saved]
        self._place = {saved.uuid: place for place, saved in enumerate(self._saved)}
        self._vectors = np.array([vector_of(saved.number) for saved in self._saved])
        self._users = np.array([saved.user for saved in self._saved])
        self._personas = np.array([saved.persona for saved in self._saved])
        came: dict[str, list[Change]] = defaultdict(list)
        left: dict[str, list[Change]] = defaultdict(list)
        for change in (change for one in notes for change in [*one.changes, *self._purged(one.purges)]):
            for uuid in change.uuids:
                (came if change.there else left)[uuid].append(change)
        self._came = [came[saved.uuid] for saved in self._saved]
        self._left = [left[saved.uuid] for saved in self._saved]

    def _purged(self, purges: Iterable[Purge]) -> list[Change]:
        return [
            Change(
                tuple(s.uuid for s in self._saved if (s.user, s.persona) == (purge.user, purge.persona)),
                False,
                purge.began,
                purge.ended,
            )
            for purge in purges
        ]

    def wrong(self, search: Search) -> str | None:
        """What is wrong with an answer; None if nothing is."""
        places = np.flatnonzero(self._of_scope(search))
        cosines = dict(zip(places.tolist(), (self._vectors[places] @ vector_of(search.number)).tolist(), strict=True))
        found = [self._place.get(uuid, -1) for uuid, _ in search.found]
        if len(set(found)) < len(found) or len(found) > TOP_K:
            return "twice, or too many"
        for place, (_, similarity) in zip(found, search.found, strict=True):
            if place not in cosines or abs(cosines[place] - similarity) > TOLERANCE:
                return "not of this scope, or with another vector"
            if self._is_surely(place, search, there=False):
                return "not there (any more)"
        similarities = [similarity for _, similarity in search.found]
        if similarities != sorted(similarities, reverse=True):
            return "in another order"
        return self._missing(search, cosines, set(found))

    def is_short(self, search: Search) -> bool:
        """Whether fewer were found than were there all the time: some were deleted before they were read."""
        if len(search.found) == TOP_K:
            return False
        places = np.flatnonzero(self._of_scope(search)).tolist()
        return sum(self._is_surely(place, search, there=True) for place in places) > len(search.found)

    def _of_scope(self, search: Search) -> Any:
        of_scope = self._users == search.user
        return of_scope if search.persona is None else of_scope & (self._personas == search.persona)

    def _missing(self, search: Search, cosines: dict[int, float], found: set[int]) -> str | None:
        """Whether something that was there is nearer than what was found, or there was room for it."""
        taken = 0
        worst = min((cosines[place] for place in found), default=-math.inf)
        for place in sorted(cosines, key=lambda place: -cosines[place]):
            if taken == TOP_K:
                return None
            if place in found:
                taken += 1
            elif self._is_surely(place, search, there=True):
                full = len(found) == TOP_K
                if not (full and cosines[place] <= worst + TOLERANCE):
                    return f"misses {self._saved[place].uuid}, cosine {cosines[place]:.4f}"
            elif not self._is_surely(place, search, there=False):
                taken += 1  # It may have been found, and deleted before it was read.
        return None

    def _is_surely(self, place: int, search: Search, *, there: bool) -> bool:
        """Whether a memory was there, or was not, from the beginning of a search to its end."""
        came, left = self._came[place], self._left[place]
        last, others = (came, left) if there else (left, came)
        if not there and all(change.began > search.ended for change in came):
            return True
        return any(
            one.ended <= search.began and all(other.ended < one.began or other.began > search.ended for other in others)
            for one in last
        )
