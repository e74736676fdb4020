"""The indexes of all processes as operators see them: health, large indexes, and a change of the embedding model."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db.models import Count

from apps.core.domain.caches import CacheState
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.models import ProcessKind
from apps.core.per_process import PerProcess
from apps.core.processes import ProcessState, live_processes
from apps.llm.selectors import EmbeddingSpace, active_space
from apps.retrieval.domain import planner
from apps.semantic.domain.index_health import IndexLevel, IndexReason
from apps.semantic.index.health import HINTS
from apps.semantic.index.snapshots import Snapshots
from apps.semantic.index.warm_up import user_mark
from apps.semantic.models import Memory, MemoryEmbedding, RecallCheck

SHOWN_USERS = 20
SHOWN_CHECKS = 10
# Counting all memories takes time where there are many, and the page asks every few seconds.
COUNTED_SECONDS = 60.0


@dataclass(frozen=True)
class ProcessIndex:
    """The indexes of one web process, as it said last. facts: of `index_facts`. caches: all that it remembers."""

    name: str
    age: float
    level: IndexLevel
    reasons: Sequence[IndexReason]
    facts: Mapping[str, Any]
    caches: Sequence[CacheState]


@dataclass(frozen=True)
class Snapshot:
    """The newest snapshot of a graph on the disk of this machine."""

    written_at: datetime
    bytes: int


@dataclass(frozen=True)
class UserIndex:
    """The index of a user. loaded: by the name of a process, its memories, those in the graph, and bytes."""

    user: str
    memories: int
    has_graph: bool
    backlog: int
    snapshot: Snapshot | None
    loaded: Mapping[str, tuple[int, int, int]]
    checks: Sequence[RecallCheck]

    @property
    def is_large(self) -> bool:
        """Return whether it is worth a graph."""
        return self.memories >= planner.GRAPH_ROWS


@dataclass(frozen=True)
class Reembedding:
    """Vectors of a space that is not in use yet. per_minute: since the page asked before; None the first time."""

    model: str
    made: int
    total: int
    per_minute: float | None


@dataclass(frozen=True)
class IndexOverview:
    """The state of all indexes. hints: what to do, for each reason. counted_at: when memories were counted."""

    level: IndexLevel
    hints: Sequence[tuple[IndexReason, str]]
    processes: Sequence[ProcessIndex]
    users: Sequence[UserIndex]
    counted_at: datetime
    space: EmbeddingSpace | None
    reembedding: Reembedding | None


class Counted:
    """Counts that are taken once a minute in each process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._users: list[tuple[str, int]] = []
        self._at = utcnow(SYSTEM_CLOCK)
        self._vectors: tuple[int, int, float] | None = None

    def users(self) -> tuple[list[tuple[str, int]], datetime]:
        """Return the users with the most active memories, and when they were counted."""
        with self._lock:
            if time.monotonic() >= self._until:
                counted = Memory.objects.active().order_by().values_list("user_id").annotate(count=Count("id"))
                self._users = list(counted.order_by("-count", "user_id")[:SHOWN_USERS])
                self._at, self._until = utcnow(SYSTEM_CLOCK), time.monotonic() + COUNTED_SECONDS
            return self._users, self._at

    def rate(self, space: int, made: int) -> float | None:
        """Return how many vectors of a space were made per minute since the last call about it."""
        now = time.monotonic()
        with self._lock:
            before, self._vectors = self._vectors, (space, made, now)
        if before is None or before[0] != space or now - before[2] < 0.5:
            return None
        return max(0.0, (made - before[1]) / (now - before[2]) * 60)


_counted = PerProcess(Counted)


def index_overview() -> IndexOverview:
    """Return the state of the indexes of all web processes. Of every user: for those who may see everybody."""
    # The web processes, which search.
    states = [state for state in live_processes() if state.kind is ProcessKind.WEB and "index" in state.facts]
    processes = [
        ProcessIndex(
            name=state_name(state),
            age=state.age,
            level=IndexLevel(state.facts["index"].get("level", "ok")),
            reasons=[IndexReason(reason) for reason in state.facts["index"].get("reasons", ())],
            facts=state.facts["index"],
            caches=[CacheState(*one) for one in state.facts.get("caches", ())],
        )
        for state in states
    ]
    marks = {state_name(state): state.facts.get("large_indexes", {}) for state in states}
    counts, counted_at = _counted.get().users()
    space = active_space()
    checks = last_checks([user for user, _ in counts])
    reasons = list(dict.fromkeys(reason for process in processes for reason in process.reasons))
    levels = list(IndexLevel)
    return IndexOverview(
        level=max((process.level for process in processes), key=levels.index, default=IndexLevel.OK),
        hints=[(reason, HINTS[reason]) for reason in reasons],
        processes=processes,
        users=[user_index(user, count, marks, space, checks.get(user, [])) for user, count in counts],
        counted_at=counted_at,
        space=space,
        reembedding=reembedding(space),
    )


def state_name(state: ProcessState) -> str:
    """Return the name of a process for people."""
    return f"{state.host}:{state.pid}"


def user_index(
    user: str,
    count: int,
    marks: Mapping[str, Mapping[str, Any]],
    space: EmbeddingSpace | None,
    checks: Sequence[RecallCheck],
) -> UserIndex:
    """Return the index of a user. marks: what each process published, by `user_mark`."""
    mark = user_mark(user)
    loaded = {name: tuple(found[mark]) for name, found in marks.items() if mark in found}
    covered = [memories - in_graph for memories, in_graph, _ in loaded.values() if in_graph]
    snapshot = None if space is None or count < planner.GRAPH_ROWS else newest_snapshot(user, space)
    is_missing = count >= planner.GRAPH_ROWS and bool(loaded) and not covered
    backlog = max(covered, default=count if is_missing else 0)
    return UserIndex(user, count, bool(covered) or snapshot is not None, backlog, snapshot, loaded, checks)


def newest_snapshot(user: str, space: EmbeddingSpace) -> Snapshot | None:
    """Return the newest snapshot on this machine."""
    for header in Snapshots.of(user, space).headers():
        graph = Path(header).with_suffix(".graph")
        try:
            found = graph.stat()
        except OSError:
            continue
        return Snapshot(datetime.fromtimestamp(found.st_mtime, UTC), found.st_size)
    return None


def last_checks(users: Sequence[str]) -> dict[str, list[RecallCheck]]:
    """Return the last checks of recall of each user, the oldest first."""
    found: dict[str, list[RecallCheck]] = {}
    for check in RecallCheck.objects.filter(user_id__in=users).order_by("-at", "-id")[: SHOWN_CHECKS * SHOWN_USERS]:
        of_user = found.setdefault(check.user_id, [])
        if len(of_user) < SHOWN_CHECKS:
            of_user.insert(0, check)
    return found


def reembedding(space: EmbeddingSpace | None) -> Reembedding | None:
    """Return how far vectors of another space are made; None while none is on its way."""
    others = EmbeddingSpace.objects.filter(activated_at=None).order_by("-created_at")
    following = others.exclude(pk=space.pk).first() if space is not None else None
    if following is None:
        return None
    made = MemoryEmbedding.objects.filter(space=following).count()
    if not made:
        return None
    rate = _counted.get().rate(following.pk, made)
    return Reembedding(following.model, made, Memory.objects.count(), rate)
