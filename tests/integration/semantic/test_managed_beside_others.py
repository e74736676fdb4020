"""Managed memories beside those of people: they neither repeat, contradict nor crowd out each other."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import transaction

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.errors import UnavailableError
from apps.core.domain.filters.parse import parse_filter
from apps.core.domain.scope import Access, Scope
from apps.core.per_process import PerProcess
from apps.llm.embedding import embedder as embedding_embedder
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.conflicts.near_pairs import NearPairs
from apps.semantic.consolidation.services import consolidation_preview
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories import save as saving
from apps.semantic.memories.bring_back import memories_expire
from apps.semantic.memories.reembed import reembed
from apps.semantic.memories.update import MemoryEdit, memory_update
from apps.semantic.models import Conflict, Memory, MemoryEmbedding
from apps.semantic.selectors import managed_memories, memory_list
from apps.semantic.services import (
    Selection,
    managed_prepare,
    managed_with_space,
    managed_write,
    memories_delete,
    memory_delete,
    memory_restore,
    memory_save,
    memory_search,
)
from apps.semantic.store.embedding_space import SpaceChangedError, forget_space
from tests.caches import timeline_dir as timeline_dir
from tests.integration.personal.hubs import empty_hub, exported, imported
from tests.integration.semantic.managed_support import GONE, MANAGER, change, write
from tests.integration.semantic.managed_support import manager as manager
from tests.integration.semantic.opposites import unnoticed
from tests.integration.semantic.test_maintenance import SmallEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("manager")]

ANA = Scope("ana")
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."


def actions(access: Access, *texts: str, **fields: Any) -> list[str]:
    """Save memories of ana one after another; return what each save did."""
    drafts = [MemoryDraft(text, scope=ANA, **fields) for text in texts]
    return [memory_save(access=access, draft=draft).action for draft in drafts]


# Filters


@pytest.mark.parametrize(("asked", "expected"), [(True, "managed"), (False, "own")])
def test_searches_and_lists_ask_for_managed_ones_or_not(access: Access, asked: bool, expected: str) -> None:
    [managed] = write(change(LISBON))
    ids = {"managed": managed, "own": memory_save(access=access, draft=MemoryDraft(LISBON, scope=ANA)).memory.uuid}
    where = parse_filter({"managed": asked}, MEMORY_FIELDS)
    found = memory_search(access, SearchQuery(scope=ANA, query="Lisbon", where=where)).found
    assert [one.memory.uuid for one in found] == [ids[expected]]
    assert [one.uuid for one in memory_list(access, ANA, {}, where)] == [ids[expected]]


# Duplicates


def test_a_person_may_say_the_very_same(access: Access) -> None:
    [uuid] = write(change(LISBON, type=""))
    assert actions(access, LISBON, LISBON) == ["inserted", "skipped"]
    own = Memory.objects.get(managed_by="")
    memory_delete(access=access, uuid=own.uuid)
    assert memory_restore(access=access, uuid=own.uuid).status == "active"
    memory_delete(access=access, uuid=own.uuid)
    other = memory_save(access=access, draft=MemoryDraft("Tea.", scope=ANA)).memory
    assert memory_update(access=access, uuid=other.uuid, edit=MemoryEdit({"content": LISBON})).action == "updated"
    [_, same] = write(change(LISBON, type=""), change(LISBON, uuid, type=""))
    assert same == uuid
    assert Memory.objects.active().filter(content=LISBON).count() == 3


# Conflicts


def test_pointers_conflict_neither_with_each_other_nor_with_people(access: Access) -> None:
    assert actions(access, LISBON) == ["inserted"]
    write(change(LISBON), change(NOT_LISBON))
    write(change(NOT_LISBON), change(LISBON))
    assert not Conflict.objects.exists()
    Memory.objects.filter(managed_by="").update(status="deleted")
    assert actions(access, NOT_LISBON) == ["inserted"]
    assert not Conflict.objects.exists()


def test_people_still_conflict_beside_them(access: Access) -> None:
    write(change(LISBON), change(NOT_LISBON))
    actions(access, LISBON, NOT_LISBON)
    receipt = Conflict.objects.get()
    assert (receipt.candidate.managed_by, receipt.existing.managed_by) == ("", "")


def test_pointers_do_not_crowd_out_what_people_said(access: Access) -> None:
    actions(access, LISBON)
    write(*(change(f"Ana does not live in Lisbon {number}.") for number in range(30)))
    actions(access, NOT_LISBON)
    assert Conflict.objects.get().existing.content == LISBON


def test_pointers_written_during_a_save_are_not_compared(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    compare = saving.compare

    def compare_and_write(*args: Any) -> Any:
        found = compare(*args)
        write(change(LISBON))
        return found

    monkeypatch.setattr(saving, "compare", compare_and_write)
    assert actions(access, NOT_LISBON) == ["inserted"]
    assert not Conflict.objects.exists()


def test_consolidation_and_rehearsal_leave_them_out(access: Access) -> None:
    write(change(LISBON), change(NOT_LISBON))
    with unnoticed():
        actions(access, LISBON)
    assert sum(consolidation_preview(scope=ANA).values()) == 0
    assert list(NearPairs(access, ANA, 100)) == []
    with unnoticed():
        actions(access, NOT_LISBON)
    assert sum(consolidation_preview(scope=ANA).values()) == 1
    [case] = NearPairs(access, ANA, 100)
    assert case is not None


def test_a_search_puts_no_pointer_before_another_one_for_its_age(access: Access) -> None:
    query = SearchQuery(scope=ANA, query="Where does Ana live?", current_first=True)
    write(change("Ana lives in Lisbon."))
    write(change("Ana lives in Porto."))
    assert memory_search(access, query).ranking.pairs == ()
    actions(access, "Ana lives in Rome.")
    assert memory_search(access, query).ranking.pairs == ()


# Time, space, and other hubs


def test_an_expired_pointer_is_swept_and_written_again() -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    [uuid] = write(change(LISBON, expires_at=later))
    clock = DeterministicClock(int((later + timedelta(hours=1)).timestamp() * 1000))
    assert (memories_expire(clock=clock), managed_memories(MANAGER)) == (1, [])
    assert write(change(LISBON, uuid)) == [uuid]
    assert Memory.objects.get(uuid=uuid).expires_at is None


def test_a_write_is_repeated_when_the_model_changes_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    [uuid] = write(change(LISBON))
    tries: list[str] = []

    def work() -> list[UUID]:
        prepared = managed_prepare(changes=[change(LISBON, uuid), change(NOT_LISBON)])
        tries.append(prepared.space.model)
        if len(tries) == 1:
            embedder = SmallEmbedder()
            monkeypatch.setattr(embedding_embedder, "_embedder", PerProcess(lambda: embedder))
            reembed(embedder=embedder)
        with transaction.atomic():
            return managed_write(manager=MANAGER, prepared=prepared, deletes={}, actor="system:test")

    try:
        with pytest.raises(SpaceChangedError):
            work()
        assert managed_memories(MANAGER)[0].uuid == uuid
        assert len(managed_memories(MANAGER)) == 1, "nothing was written in the other space"
        assert managed_with_space(work)[0] == uuid
    finally:
        forget_space()
    assert (len(tries), tries[-1]) == (3, "small")
    assert {len(vector) for vector in MemoryEmbedding.objects.values_list("vector", flat=True)} == {64}


def test_memories_are_deleted_while_the_model_has_no_space(monkeypatch: pytest.MonkeyPatch) -> None:
    [uuid] = write(change(LISBON))
    monkeypatch.setattr(embedding_embedder, "_embedder", PerProcess(SmallEmbedder))
    forget_space()
    try:
        with pytest.raises(UnavailableError):
            managed_prepare(changes=[change(LISBON)])
        prepared = managed_prepare(changes=[])
        assert managed_write(manager=MANAGER, prepared=prepared, deletes={uuid: "removed"}, actor="x") == []
    finally:
        forget_space()
    assert managed_memories(MANAGER) == []


@pytest.mark.usefixtures("timeline_dir")  # no segment of another test is in the way
def test_forgetting_the_owner_removes_them(access: Access) -> None:
    write(change(LISBON), change(LISBON, scope=Scope("ben")))
    call_command("forget", "ana", "--yes")
    assert list(Memory.objects.values_list("user_id", flat=True)) == ["ben"]


def test_deleting_many_leaves_them_out_and_counts_them(access: Access, remember: Callable[..., Memory]) -> None:
    [uuid] = write(change(LISBON))
    write(change(NOT_LISBON), manager=GONE)
    remember("tea")
    chosen = Selection(ANA, tuple(Memory.objects.values_list("uuid", flat=True)))
    assert memories_delete(access=access, chosen=chosen, dry_run=True) == (2, 0, 1, 0)
    assert memories_delete(access=access, chosen=chosen) == (2, 2, 1, 0)
    assert list(Memory.objects.active().values_list("uuid", flat=True)) == [uuid]


@pytest.mark.django_db(transaction=True)
def test_a_pointer_keeps_its_manager_in_another_hub() -> None:
    draft = change(LISBON, metadata={"layer": "team"})
    [uuid] = write(draft)
    file = exported(ANA)
    empty_hub()
    imported(file)
    assert [(one.uuid, one.content, one.metadata) for one in managed_memories(MANAGER)] == [
        (uuid, LISBON, {"layer": "team"})
    ]
    assert write(change(LISBON, uuid, metadata={"layer": "team"})) == [uuid]
    assert exported(ANA) == file, "a source that goes on finds nothing to write"
