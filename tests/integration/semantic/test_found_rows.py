"""Reading what a search names: nothing passes that the one door would not let pass."""

from collections.abc import Callable
from itertools import product

import pytest

from apps.core.domain.scope import Access, Permission, Scope
from apps.semantic.models import Memory, MemoryShard
from apps.semantic.schemas.memories import render_memory
from apps.semantic.search.fetch import fetch_active_memories, fetch_unchanged_memories
from apps.semantic.services import memory_delete
from apps.semantic.store.embedding_space import current_space

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
CHOICES = (None, "a", "b")
SCOPES = [Scope(*values) for values in product(CHOICES, repeat=3)]


@pytest.fixture
def memories(remember: Remember, access: Access) -> list[Memory]:
    """One of every scope of two users, of which two are deleted."""
    made = [remember("tea", scope=scope) for scope in SCOPES if scope.user_id is not None]
    for memory in made[::9]:
        memory_delete(access=access, uuid=memory.uuid)
    return list(Memory.objects.order_by("pk"))


def test_every_bound_sees_what_door_lets_it_see(memories: list[Memory]) -> None:
    ids, space = [memory.pk for memory in memories], current_space()
    versions = dict(MemoryShard.objects.values_list("user_id", "version"))
    for scope in SCOPES:
        access = Access(scope, Permission.READ, "test")
        expected = Memory.objects.visible_to(access).active().in_bulk(ids)
        assert fetch_active_memories(access, ids) == expected
        assert fetch_unchanged_memories(access, ids, versions, space) == expected
        granted, include = Access(scope, Permission.READ, "test", ("b",)), ("a", "b", "c")
        expected_too = {memory.pk: memory for memory in memories if memory.pk in expected or memory.user_id == "b"}
        if scope in (Scope(), Scope("a")):
            expected_too |= {memory.pk: memory for memory in memories if memory.user_id == "a"}
        active = {pk: memory for pk, memory in expected_too.items() if memory.status == "active"}
        assert fetch_active_memories(granted, ids, include) == active
        assert fetch_unchanged_memories(granted, ids, versions, space, include) == active
        assert Memory.objects.visible_to(granted, None, include).active().in_bulk(ids) == active
    assert len(expected) < len(fetch_active_memories(Access(Scope(), Permission.READ, "test"), ids)) == len(ids) - 2


def test_memory_says_same_however_it_was_read(remember: Remember, access: Access) -> None:
    memory = remember("tea", metadata={"a": [1, {"b": None}]}, keywords=("green", "leaf"), importance=0.25)
    stored = Memory.objects.get(pk=memory.pk)
    [read] = fetch_active_memories(access, [memory.pk]).values()
    assert render_memory(read, stored.created_at) == render_memory(stored, stored.created_at)
    assert read.lexemes == stored.lexemes
    assert read.content_hash == stored.content_hash


def test_nothing_is_given_of_other_versions_or_another_space(remember: Remember, access: Access) -> None:
    memory, space = remember("tea"), current_space()
    version = MemoryShard.objects.get(user_id="ana").version
    assert fetch_unchanged_memories(access, [memory.pk], {"ana": version}, space) == {memory.pk: memory}
    assert fetch_unchanged_memories(access, [memory.pk], {"ana": version - 1}, space) is None
    assert fetch_unchanged_memories(access, [memory.pk], {"ana": version, "ben": 0}, space) == {memory.pk: memory}
    assert fetch_unchanged_memories(access, [memory.pk], {"ana": version, "ben": 1}, space) is None
    space.pk += 1
    assert fetch_unchanged_memories(access, [memory.pk], {"ana": version}, space) is None
