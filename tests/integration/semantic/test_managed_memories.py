"""Managed memories: written by their manager in place, found like others, and compared with none."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db import transaction

from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.memories.managed import ManagedChangedError
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision
from apps.semantic.selectors import ManagedMemory, managed_get, managed_memories
from apps.semantic.services import (
    managed_prepare,
    managed_write,
    memories_purge,
    memory_search,
)
from tests.integration.semantic.managed_support import MANAGER, OTHER, change, write
from tests.integration.semantic.managed_support import manager as manager

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("manager")]

TABS, SPACES = "[ADR] Indent with tabs (accepted)", "[ADR] Do not indent with tabs (accepted)"


def found(access: Access, query: str, scope: Scope | None = None) -> list[str]:
    """Return the contents that a search finds."""
    asked = SearchQuery(scope=scope or Scope("ana"), query=query)
    return [one.memory.content for one in memory_search(access, asked).found]


def counts() -> tuple[int, int, int]:
    """Return how much history there is, how many events, and the highest version of a memory."""
    versions = Memory.objects.order_by("-version").values_list("version", flat=True)
    return MemoryRevision.objects.count(), Event.objects.count(), versions.first() or 0


# Writing


def test_a_new_memory_is_whole_and_found(access: Access) -> None:
    [uuid] = write(change(TABS, project="web", importance=0.9, keywords=("style",), metadata={"layer": "team"}))
    memory = Memory.objects.get(uuid=uuid)
    assert (memory.managed_by, memory.source, memory.status, memory.embeddings.count()) == (
        MANAGER, "knowledge", "active", 1,
    )  # fmt: skip
    [step] = memory.revisions.all()
    assert (step.action, step.reason, step.actor) == ("created", "added", "system:test")
    assert found(access, "style of indenting") == [TABS]
    [seen] = managed_memories(MANAGER)
    assert seen == ManagedMemory(
        uuid, "ana", TABS, {"layer": "team"}, "adr", "web", memory.created_at, memory.updated_at,
        importance=0.9, keywords=("style",),
    )  # fmt: skip
    assert managed_memories(OTHER) == []


def test_writing_the_same_again_writes_nothing() -> None:
    draft = change(TABS, metadata={"superseded_by": ("b", "a")}, keywords=("style",))
    [uuid] = write(draft)
    before = counts()
    prepared = managed_prepare(changes=[replace(draft, uuid=uuid, reason="updated")])
    assert prepared.vectors == {}, "nothing is embedded again"
    with transaction.atomic():
        assert managed_write(manager=MANAGER, prepared=prepared, deletes={}, actor="system:test") == [uuid]
    assert counts() == before


def test_a_change_keeps_the_id_and_replaces_what_is_found(access: Access) -> None:
    [uuid, other] = write(change(TABS), change("[ADR] Deploy on Fridays (accepted)"))
    old = MemoryEmbedding.objects.get(memory__uuid=uuid).vector
    assert found(access, "Fridays")[0] == "[ADR] Deploy on Fridays (accepted)"
    words = "[ADR] Bake bread at midnight (accepted)"
    assert write(change(words, uuid, metadata={"layer": "org"}, reason="updated")) == [uuid]
    assert found(access, "bread at midnight")[0] == words
    assert TABS not in found(access, "indent with tabs")
    [embedding] = MemoryEmbedding.objects.filter(memory__uuid=uuid)
    assert embedding.vector != old
    step = MemoryRevision.objects.filter(memory__uuid=uuid).last()
    assert step is not None
    assert (step.action, step.reason, step.changes) == (
        "updated", "updated", {"content": [TABS, words], "metadata": [{}, {"layer": "org"}]},
    )  # fmt: skip
    assert MemoryRevision.objects.filter(memory__uuid=other).count() == 1


def test_details_change_without_a_new_vector() -> None:
    [uuid] = write(change(TABS))
    vector = MemoryEmbedding.objects.get().pk
    prepared = managed_prepare(changes=[change(TABS, uuid, project="web", importance=0.2)])
    assert prepared.vectors == {}
    write(change(TABS, uuid, project="web", importance=0.2))
    assert list(Memory.objects.values_list("project", "importance")) == [("web", 0.2)]
    assert MemoryEmbedding.objects.get().pk == vector


def test_a_deleted_memory_becomes_active_again_under_its_id(access: Access) -> None:
    [uuid] = write(change(TABS))
    assert write(deletes={uuid: "removed"}) == []
    assert (found(access, "tabs"), managed_memories(MANAGER)) == ([], [])
    assert (managed_get([uuid])[uuid].is_active, managed_get([uuid])[uuid].content) == (False, TABS)
    before = counts()
    write(deletes={uuid: "removed"})
    assert counts() == before, "it is deleted once"
    assert write(change(TABS, uuid, reason="restored")) == [uuid]
    assert found(access, "tabs") == [TABS]
    assert write(deletes={uuid: "removed"}) == []
    assert write(change(SPACES, uuid)) == [uuid]
    assert found(access, "tabs") == [SPACES]
    steps = MemoryRevision.objects.filter(memory__uuid=uuid).order_by("id").values_list("action", "reason")
    assert list(steps) == [
        ("created", "added"), ("deleted", "removed"), ("restored", "restored"), ("deleted", "removed"),
        ("restored", "added"),
    ]  # fmt: skip


def test_a_purged_memory_is_made_again(access: Access) -> None:
    [uuid] = write(change(TABS))
    assert memories_purge(access=access, scope=Scope("ana")) == 1
    [new] = write(change(TABS, uuid))
    assert new != uuid
    assert [one.uuid for one in managed_memories(MANAGER)] == [new]


def test_memories_of_others_are_left_alone(remember: Callable[..., Memory]) -> None:
    own = remember(TABS)
    [other] = write(change(TABS), manager=OTHER)
    [mine, also_mine] = write(
        change(SPACES, own.uuid), change(SPACES, other), deletes={own.uuid: "removed", other: "removed"}
    )
    assert {own.uuid, other}.isdisjoint({mine, also_mine})
    assert set(Memory.objects.filter(uuid__in=[own.uuid, other]).values_list("content", "status")) == {(TABS, "active")}


def test_a_memory_moves_to_another_owner_as_a_new_one(access: Access) -> None:
    [uuid] = write(change(TABS))
    [new] = write(change(TABS, uuid, scope=Scope("team:web")))
    assert new != uuid
    assert (found(access, "tabs"), found(access, "tabs", Scope("team:web"))) == ([], [TABS])
    assert Memory.objects.get(uuid=uuid).revisions.filter(action="deleted", reason="moved").exists()


def test_what_changed_since_it_was_prepared_is_prepared_again() -> None:
    [uuid] = write(change(TABS))
    prepared = managed_prepare(changes=[change(TABS, uuid)])
    Memory.objects.filter(uuid=uuid).update(content=SPACES)
    with pytest.raises(ManagedChangedError), transaction.atomic():
        managed_write(manager=MANAGER, prepared=prepared, deletes={}, actor="system:test")
    assert write(change(TABS, uuid)) == [uuid]
    assert managed_get([uuid])[uuid].content == TABS


def test_nothing_of_a_failed_transaction_remains(access: Access) -> None:
    [uuid] = write(change(TABS))
    before = counts()
    prepared = managed_prepare(changes=[change("[ADR] Bake bread (accepted)", uuid), change(SPACES)])

    def write_and_fail() -> None:
        with transaction.atomic():
            managed_write(manager=MANAGER, prepared=prepared, deletes={}, actor="system:test")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert (counts(), found(access, "tabs")) == (before, [TABS])


def test_many_are_written_in_one_transaction() -> None:
    seen: list[tuple[int, int]] = []
    changes = [change(f"[SPEC] Part {number} of the plan (accepted)") for number in range(1_100)]
    prepared = managed_prepare(changes=changes, progress=lambda done, total: seen.append((done, total)))
    with transaction.atomic():
        uuids = managed_write(manager=MANAGER, prepared=prepared, deletes={}, actor="system:test")
    assert len(set(uuids)) == len(managed_memories(MANAGER)) == MemoryEmbedding.objects.count() == 1_100
    seen_now = managed_get(uuids)
    assert [seen_now[uuid].content for uuid in uuids] == [one.draft.content for one in changes]
    assert seen[0] == (100, 1_100)
    assert seen[-1] == (1_100, 1_100)
