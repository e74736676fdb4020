"""The index of a process under strain: it warns, does with less, slows saves down, and recovers by itself."""

from collections.abc import Callable

import pytest
from django.db import OperationalError
from prometheus_client import REGISTRY

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock
from apps.core.domain.errors import ThrottledError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.retrieval.domain import planner
from apps.semantic.domain.index_health import HARD_LATENCY, IndexLevel, IndexLimits, IndexReason
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.health import index_ready
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.health import DEGRADED_WRITES_PER_SECOND, IndexGuard
from apps.semantic.index.warm_up import WarmUp
from apps.semantic.services import memory_save, memory_save_many
from apps.semantic.store.embedding_space import current_space
from tests.api import Api, api_for

pytestmark = pytest.mark.django_db

NOON = 1_780_000_000_000


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> IndexGuard:
    """A guard of this process's cache, which uses graphs again afterwards."""
    cache = index_cache()
    monkeypatch.setattr(cache, "use_graphs", True)
    guard = IndexGuard(cache)
    monkeypatch.setattr("apps.semantic.memories.save.index_guard", lambda: guard)
    return guard


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(NOON)


def slow_writes(guard: IndexGuard, clock: DeterministicClock, times: float, settings) -> None:
    for _ in range(5):
        guard.note_write(settings.MEMORYHUB.index_write_ms * times, clock=clock)


def raiser(failure: type[BaseException]) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise failure

    return fail


def told() -> list[tuple[str, str, list[str]]]:
    events = Event.objects.filter(name="memory:semantic:index_health").order_by("id")
    return [(e.payload["before"], e.payload["level"], e.payload["reasons"]) for e in events]


def test_slow_writes_warn_once_and_are_told_with_their_reason(guard, clock, settings) -> None:
    slow_writes(guard, clock, 2, settings)
    assert guard.check(clock=clock).level is IndexLevel.WARNING
    guard.check(clock=clock)
    assert told() == [("ok", "warning", ["write_latency"])]
    assert REGISTRY.get_sample_value("memoryhub_index_level") == 1


def test_past_hard_limit_searches_do_without_graphs_and_saves_are_slowed_down(guard, clock, settings, access) -> None:
    slow_writes(guard, clock, HARD_LATENCY + 1, settings)
    assert guard.check(clock=clock).level is IndexLevel.DEGRADED
    assert not index_cache().use_graphs
    save = [MemoryDraft("tea", scope=Scope("ana"))]
    for _ in range(int(DEGRADED_WRITES_PER_SECOND)):
        memory_save_many(access=access, drafts=save, clock=clock)
    with pytest.raises(ThrottledError) as refused:
        memory_save_many(access=access, drafts=save, clock=clock)
    assert (refused.value.code, refused.value.retry_after) == ("index_degraded", 1)


def test_it_recovers_by_itself_and_says_so(guard, clock, settings, access) -> None:
    slow_writes(guard, clock, HARD_LATENCY + 1, settings)
    guard.check(clock=clock)
    clock.advance(61_000)
    assert guard.check(clock=clock).level is IndexLevel.OK
    assert index_cache().use_graphs
    assert told() == [("ok", "degraded", ["write_latency"]), ("degraded", "ok", ["write_latency"])]
    memory_save(access=access, draft=MemoryDraft("tea", scope=Scope("ana")), clock=clock)


def test_change_is_told_when_database_that_was_away_is_back(guard, clock, settings, monkeypatch) -> None:
    slow_writes(guard, clock, HARD_LATENCY + 1, settings)
    with monkeypatch.context() as away:
        away.setattr("apps.semantic.index.health.emit", raiser(OperationalError))
        for pause in (0, 61_000):
            clock.advance(pause)
            with pytest.raises(OperationalError):
                guard.check(clock=clock)
    assert told() == []
    guard.check(clock=clock)
    assert told() == [("ok", "degraded", ["write_latency"]), ("degraded", "ok", ["write_latency"])]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_guard_outlives_what_goes_wrong(guard, monkeypatch) -> None:
    failures = iter((ValueError, OperationalError, SystemExit))  # the last one ends its thread
    monkeypatch.setattr("apps.semantic.index.health.TICK_SECONDS", 0.001)
    monkeypatch.setattr(guard, "check", lambda: raiser(next(failures))())
    guard.start()
    guard._thread.join(10)
    assert list(failures) == []


def test_memories_that_wait_for_graph_and_full_cache_are_signs_too(guard, clock, settings, access, monkeypatch) -> None:
    monkeypatch.setattr("apps.semantic.index.cache.GRAPH_ROWS", 3)
    monkeypatch.setattr(planner, "GRAPH_ROWS", 10**9)
    drafts = [MemoryDraft(f"thing {n}", scope=Scope("ana")) for n in range(5)]
    memory_save_many(access=access, drafts=drafts)
    with index_cache().refreshed(["ana"], current_space()):
        pass
    assert index_cache().describe()["backlog"] == 5
    monkeypatch.setattr("apps.semantic.index.health.index_limits", lambda: IndexLimits(4, 1, 1_000))
    health = guard.check(clock=clock)
    assert set(health.reasons) >= {IndexReason.CAPACITY}
    assert health.level is IndexLevel.DEGRADED


def test_indexes_that_do_not_fit_are_warned_of_with_their_rate(clock, settings, access, monkeypatch) -> None:
    users = [f"user {number}" for number in range(8)]
    memory_save_many(access=access, drafts=[MemoryDraft("tea", scope=Scope(user)) for user in users])
    cache = IndexCache(1)  # in which the last one alone is kept
    guard = IndexGuard(cache)
    monkeypatch.setattr("apps.semantic.index.warm_up.index_cache", lambda: cache)
    monkeypatch.setattr("apps.semantic.index.warm_up.index_guard", lambda: guard)
    monkeypatch.setattr("apps.semantic.index.health.index_limits", lambda: IndexLimits(1e9, 1e12, 1e9))
    for user in users:
        with cache.refreshed([user], current_space()):
            pass
    guard.check(clock=clock)
    status = api_for(Scope()).get("/api/semantic/status").json()["index"]
    assert (status["level"], status["reasons"]) == ("warning", ["evictions"])
    assert (status["evictions"], status["evictions_per_minute"]) == (7, 1.4)
    assert told() == [("ok", "warning", ["evictions"])]
    assert REGISTRY.get_sample_value("memoryhub_index_evictions_per_minute") == 1.4


def test_health_and_backpressure(guard, settings, api: Api) -> None:
    """Spec 000: slow writes are warned of, then searches do without graphs and saves are slowed down."""
    slow_writes(guard, SYSTEM_CLOCK, 2, settings)  # type: ignore[arg-type]
    guard.check()
    assert api.post("/api/semantic/memories", {"content": "tea"}).status_code == 201
    slow_writes(guard, SYSTEM_CLOCK, HARD_LATENCY + 1, settings)  # type: ignore[arg-type]
    guard.check()
    drafts = [{"content": f"thing {n}"} for n in range(500)]
    assert api.post("/api/semantic/memories/batch", {"memories": drafts}).status_code == 200
    response = api.post("/api/semantic/memories", {"content": "milk"})
    assert response.status_code == 429
    assert int(response["Retry-After"]) >= 1
    assert response.json()["errors"][0]["code"] == "index_degraded"
    assert api.post("/api/semantic/search", {"query": "tea"}).json()["results"][0]["memory"]["content"] == "tea"
    assert told() == [("ok", "warning", ["write_latency"]), ("warning", "degraded", ["write_latency"])]


def test_before_index_is_loaded_saves_are_refused_and_hub_is_not_ready(access: Access, monkeypatch) -> None:
    warm_up = WarmUp(IndexCache(1 << 20))
    monkeypatch.setattr("apps.semantic.index.warm_up._warm_up._made", [warm_up])
    assert index_ready() is None
    warm_up._progress = (1, 3)
    assert index_ready() == "loading the index, 1 of 3"
    with pytest.raises(UnavailableError) as refused:
        memory_save(access=access, draft=MemoryDraft("tea", scope=Scope("ana")))
    assert refused.value.code == "index_loading"
    warm_up._progress = None
    memory_save(access=access, draft=MemoryDraft("tea", scope=Scope("ana")))
