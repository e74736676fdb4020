"""The shards in memory: what they hold is what the database holds, and no more than they may."""

import os
import signal
from collections.abc import Callable, Sequence

import pytest
from django.db import connection, transaction

from apps.core.db import identity
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Scope
from apps.llm.domain.embedder import EmbeddingSpaceId
from apps.llm.models import EmbeddingSpace
from apps.llm.services import space_activate, space_get_or_create
from apps.retrieval.domain.query import SearchQuery
from apps.retrieval.domain.rows import RowStore
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index import cache as cache_module
from apps.semantic.index import changes, health, warm_up
from apps.semantic.index.cache import IndexCache, index_cache
from apps.semantic.index.changes import changes_since
from apps.semantic.models import Memory
from apps.semantic.search import search
from apps.semantic.search.search import memory_search
from apps.semantic.services import memories_purge, memory_delete, memory_save_many
from apps.semantic.store.embedding_space import SpaceChangedError, current_space
from benchmarks.vectors.data import fill, synthetic_scope

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]


def found(access: Access) -> list[str]:
    result = memory_search(access, SearchQuery(scope=Scope("ana"), query="tea"))
    return sorted(item.memory.content for item in result.found)


def sizes(cache: IndexCache, *users: str) -> list[int]:
    with cache.refreshed(users, current_space()) as shards:
        return [len(shard) for shard in shards]


def one_shard(user: str) -> int:
    """The size of a cached user."""
    cache = IndexCache(1 << 30)
    sizes(cache, user)
    return cache.nbytes


def test_what_is_cached_loads_only_what_changed_since_last_time(
    remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied: list[int] = []
    original = RowStore.apply
    monkeypatch.setattr(RowStore, "apply", lambda self, rows: (applied.append(len(rows)), original(self, rows))[1])
    for content in ("tea", "coffee"):
        remember(content)
    cache = IndexCache(1 << 20)
    sizes(cache, "ana")
    remember("milk")
    applied.clear()
    sizes(cache, "ana")
    sizes(cache, "ana")
    assert applied == [1]


def test_rows_are_asked_for_only_when_version_has_changed(remember: Remember, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    original = changes.changed_rows
    monkeypatch.setattr(changes, "changed_rows", lambda seen: (asked.append(list(seen)), original(seen))[1])
    remember("tea")
    cache = IndexCache(1 << 20)
    sizes(cache, "ana")
    asked.clear()
    assert sizes(cache, "ana") == [1]
    assert asked == []
    assert sizes(cache, "ana", "ben") == [1, 0]
    assert asked == [["ana", "ben"]]


def test_another_process_sees_every_committed_change(remember: Remember, access: Access) -> None:
    other = IndexCache(1 << 20)
    remember("tea")
    assert sizes(other, "ana") == [1]
    remember("milk")
    assert sizes(other, "ana") == [2]
    memories_purge(access=access, scope=Scope("ana"))
    assert sizes(other, "ana") == [0]


def test_purge_and_save_that_follow_each_other_are_not_missed(remember: Remember, access: Access) -> None:
    for n in range(5):
        remember(f"old {n}")
    cache = IndexCache(1 << 20)
    assert sizes(cache, "ana") == [5]
    memories_purge(access=access, scope=Scope("ana"))
    remember("new")
    assert sizes(cache, "ana") == [1]


def test_database_that_has_gone_back_is_believed(remember: Remember) -> None:
    """As after a restore, or when a standby takes over that had not got everything."""
    remember("tea")
    cache = IndexCache(1 << 20)
    with transaction.atomic():
        remember("milk")
        assert sizes(cache, "ana", "ben") == [2, 0]
        transaction.set_rollback(True)
    assert sizes(cache, "ana", "ben") == [1, 0]
    remember("coffee")
    assert sizes(cache, "ana") == [2]


def test_forked_process_begins_with_nothing_and_waits_for_nobody(remember: Remember) -> None:
    remember("tea")
    with index_cache().refreshed(["ana"], current_space()), cache_module._cache._lock, health._guard._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            known = [list(value._made) for value in (cache_module._cache, warm_up._warm_up, health._guard)]
            made = index_cache() is not None and health.index_guard() is not None
            os._exit(0 if known == [[], [], []] and made else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_what_is_deleted_before_it_is_read_leaves_its_place_to_another(
    remember: Remember, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        remember(f"tea number {number}")
    assert len(found(access)) == 10  # from now on the shard is at hand
    deleted: list[Memory] = []

    def before_reading(read: Callable[..., object]) -> Callable[..., object]:
        def deleting(access: Access, ids: Sequence[int], *more: object) -> object:
            if len(deleted) < 3:  # at the first three tries
                deleted.append(memory_delete(access=access, uuid=Memory.objects.get(pk=ids[0]).uuid))
            return read(access, ids, *more)

        return deleting

    for name in ("fetch_unchanged_memories", "fetch_active_memories"):
        monkeypatch.setattr(search, name, before_reading(getattr(search, name)))
    assert len(found(access)) == 9
    assert not {memory.content for memory in deleted} & set(found(access))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What searches asked the database: for "changes", or for the memories that they found."""
    seen: list[str] = []

    def noted(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def noting(*args: object) -> object:
            seen.append(name)
            return call(*args)

        return noting

    monkeypatch.setattr(cache_module, "is_current", noted("changes", cache_module.is_current))
    for name in ("fetch_unchanged_memories", "fetch_active_memories"):
        monkeypatch.setattr(search, name, noted(name, getattr(search, name)))
    return seen


def test_when_nothing_changes_search_asks_database_once(remember: Remember, access: Access, looks: list[str]) -> None:
    remember("tea")
    found(access)
    for expected in (["changes", "fetch_active_memories"], ["fetch_unchanged_memories"], ["fetch_unchanged_memories"]):
        looks.clear()
        assert found(access) == ["tea"]
        assert looks == expected


def test_what_another_process_saved_is_found_although_shard_seemed_steady(
    remember: Remember, access: Access, looks: list[str]
) -> None:
    remember("tea")
    for _ in range(3):
        found(access)
    here = cache_module._cache._made
    cache_module._cache.forget()  # what another process does goes past the indexes of this one
    memory = remember("green tea")
    cache_module._cache._made = here
    looks.clear()
    assert found(access) == ["green tea", "tea"]
    assert looks == ["fetch_unchanged_memories", "changes", "fetch_active_memories"]
    memory_delete(access=access, uuid=memory.uuid)
    assert found(access) == ["tea"]


def test_search_that_finds_nothing_asks_for_changes(remember: Remember, access: Access, looks: list[str]) -> None:
    remember("tea")
    found(access)
    looks.clear()
    for _ in range(3):
        assert not memory_search(access, SearchQuery(scope=Scope("ana"), query="tea", tags={"type": "x"})).found
    assert looks == ["changes"] * 3


def test_search_by_shards_at_hand_sees_that_another_space_is_in_use(
    remember: Remember, access: Access, looks: list[str]
) -> None:
    remember("tea")
    for _ in range(3):
        found(access)
    EmbeddingSpace.objects.update(is_active=False)
    looks.clear()
    assert found(access) == ["tea"]  # in the space of the configured model, which is made active again
    assert looks[:2] == ["fetch_unchanged_memories", "changes"]
    assert EmbeddingSpace.objects.get(is_active=True).model == current_space().model


def test_users_without_memories_do_not_disturb_those_with_some(remember: Remember) -> None:
    remember("tea")
    cache = IndexCache(1 << 20)
    assert sizes(cache, "ana", "ben", "cem") == [1, 0, 0]
    remember("tea", scope=Scope("cem"))
    assert sizes(cache, "ana", "ben", "cem") == [1, 0, 1]
    with cache.refreshed([], current_space()) as shards:
        assert shards == []


def test_failure_while_shard_grows_is_forgotten_by_next_search(
    remember: Remember, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("tea")
    assert found(access) == ["tea"]
    drafts = [MemoryDraft(f"box {n} holds screws", scope=Scope("ana")) for n in range(20)]
    memory_save_many(access=access, drafts=drafts)
    original = RowStore._allocate

    def out_of_memory(self: RowStore, capacity: int) -> None:
        original(self, capacity)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(RowStore, "_allocate", out_of_memory)
        with pytest.raises(MemoryError):
            found(access)
    assert len(found(access)) == 10
    assert sizes(index_cache(), "ana") == [21]


def test_cache_keeps_to_its_size_even_after_search_over_everybody(remember: Remember) -> None:
    users = [f"user {n}" for n in range(40)]
    for user in users:
        remember("tea", scope=Scope(user))
    limit = 5 * one_shard(users[0])
    cache = IndexCache(limit)
    assert sizes(cache, *users) == [1] * 40
    assert cache.nbytes <= limit
    assert 0 < cache.describe()["indexes"] <= 5
    assert sizes(cache, *users[-3:]) == [1] * 3


def test_a_user_with_one_memory_takes_little_room(remember: Remember) -> None:
    remember("tea")
    assert one_shard("ana") < 20_000


def test_shard_that_is_loaded_gets_room_that_it_needs_at_once(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_save_many(access=access, drafts=[MemoryDraft(f"thing {n}", scope=Scope("ana")) for n in range(64)])
    monkeypatch.setattr(changes, "_FETCH_SIZE", 10)
    made, make_room = [], RowStore._make_room

    def noted(shard: RowStore, capacity: int) -> None:
        made.append(capacity)
        make_room(shard, capacity)

    monkeypatch.setattr(RowStore, "_make_room", noted)
    cache = IndexCache(1 << 30)
    assert sizes(cache, "ana", "ben") == [64, 0]
    assert made == [68], "room for 64 and a few more"


def test_space_that_changed_before_large_shard_was_loaded_leaves_connection_free(access: Access) -> None:
    """Rows that have not been read yet would keep it: asking for the new space would wait for ever."""
    fill(synthetic_scope("ana", 2_500, 1, current_space().dimension), current_space())
    before = current_space()
    space_activate(space=space_get_or_create(EmbeddingSpaceId("other", before.dimension)))
    with pytest.raises(SpaceChangedError) as raised:
        changes_since({"ana": -1}, before)
    assert raised.tb is not None, "as long as it is looked at, so are the rows"
    assert not connection.connection.lock.locked()


def test_searches_of_shards_at_hand_do_without_graphs_when_they_have_to(
    remember: Remember, access: Access, looks: list[str]
) -> None:
    remember("tea")
    for _ in range(3):
        found(access)
    index_cache().use_graphs = False
    try:
        looks.clear()
        found(access)
        cached = index_cache().peek("ana", current_space())
        assert cached is not None
        assert (looks, cached.rows.use_graph) == (["fetch_unchanged_memories"], False)
    finally:
        index_cache().use_graphs = True


def test_graph_that_makes_its_shard_larger_drops_what_was_used_longest_ago(remember: Remember) -> None:
    remember("tea")
    remember("milk", scope=Scope("ben"))
    cache = IndexCache(1 << 30)
    sizes(cache, "ana")
    sizes(cache, "ben")
    cache._max_bytes = cache.nbytes - 1
    cache.keeper.update("ben", current_space())
    assert cache.peek("ana", current_space()) is None
    assert cache.peek("ben", current_space()) is not None


def test_what_was_read_from_another_database_is_forgotten_before_anything_is_found_in_it(
    remember: Remember, access: Access, monkeypatch: pytest.MonkeyPatch, looks: list[str]
) -> None:
    remember("tea")
    for _ in range(3):
        found(access)
    index_cache().peek("ana", current_space()).rows.ids[0] += 1_000_000  # type: ignore[union-attr]
    monkeypatch.setattr(identity, "_known", ("1", "00000001", "1"))
    identity.check_new_connection(connection)
    looks.clear()
    assert found(access) == ["tea"]
    assert "changes" in looks


def test_search_of_more_users_than_the_index_has_room_for_is_refused(
    access: Access, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = SearchQuery(scope=Scope(), query="tea")
    small = IndexCache(25 * 12_000)
    monkeypatch.setattr(search, "index_cache", lambda: small)
    for number in range(search.FEW_USERS):
        remember("tea", scope=Scope(f"user{number}"))
    assert len(memory_search(access, query).found) == 10
    for number in range(search.FEW_USERS, 30):
        remember("tea", scope=Scope(f"user{number}"))
    with pytest.raises(InvalidInputError, match="memories of 30 users"):
        memory_search(access, query)
    assert len(memory_search(access, SearchQuery(scope=Scope("user3"), query="tea")).found) == 1
    small._max_bytes *= 2
    assert len(memory_search(access, query).found) == 10
