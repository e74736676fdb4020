"""Saving: spec 004 "Create", spec 000 "Persist semantic memory record", spec 002 section 9."""

import pytest

from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.llm.embedding.embedder import embed_texts
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryEmbedding, MemoryShard
from apps.semantic.services import memory_save, memory_save_many

pytestmark = pytest.mark.django_db


def test_creating_a_memory_with_all_fields(access: Access) -> None:
    draft = MemoryDraft(
        "User prefers Python",
        scope=Scope("ana"),
        agent="claude",
        personality="engineer",
        project="my-project",
        type="preference",
        decay_policy=DecayPolicy.STABLE,
    )
    memory = memory_save(access=access, draft=draft).memory
    stored = Memory.objects.get(uuid=memory.uuid)
    assert (stored.agent, stored.personality, stored.project, stored.type) == (
        "claude", "engineer", "my-project", "preference",
    )  # fmt: skip
    assert stored.last_reinforced_at is None
    assert stored.status == "active"
    assert stored.confidence_at(stored.created_at) == 1.0
    assert len(stored.embeddings.get().vector) == 384


def test_creating_a_memory_with_minimal_fields(access: Access) -> None:
    memory = memory_save(access=access, draft=MemoryDraft("test", scope=Scope("ana"))).memory
    assert (memory.agent, memory.personality, memory.project, memory.type, memory.is_global) == (
        "",
        "",
        "",
        "",
        False,
    )
    assert memory.decay_policy == "stable"


def test_saving_tells_the_hub_without_the_content(access: Access) -> None:
    memory = memory_save(access=access, draft=MemoryDraft("a secret", scope=Scope("ana", "home"))).memory
    event = Event.objects.get(name="memory:semantic:saved")
    assert event.payload["memory_id"] == str(memory.uuid)
    assert event.payload["household_id"] == "home"
    assert "secret" not in str(event.payload)


def test_same_content_in_same_scope_is_stored_once(access: Access) -> None:
    first = memory_save(access=access, draft=MemoryDraft("Hello, World!!", scope=Scope("ana")))
    second = memory_save(access=access, draft=MemoryDraft("hello,   world", scope=Scope("ana")))
    assert (first.action, first.reason) == ("inserted", "unique_hash")
    assert (second.action, second.reason) == ("skipped", "equal_confidence")
    assert second.memory.uuid == first.memory.uuid
    assert Memory.objects.count() == MemoryEmbedding.objects.count() == 1


@pytest.mark.parametrize("scope", [Scope("ben"), Scope("ana", "home"), Scope("ana", None, "chef")])
def test_same_content_in_another_scope_is_another_memory(access: Access, scope: Scope) -> None:
    memory_save(access=access, draft=MemoryDraft("tea", scope=Scope("ana")))
    assert memory_save(access=access, draft=MemoryDraft("tea", scope=scope)).action == "inserted"


def test_surer_duplicate_improves_stored_memory(access: Access) -> None:
    memory_save(access=access, draft=MemoryDraft("tea", scope=Scope("ana"), confidence=0.6, metadata={"a": 1}))
    draft = MemoryDraft("TEA.", scope=Scope("ana"), confidence=0.8, importance=0.9, metadata={"b": 2})
    result = memory_save(access=access, draft=draft)
    assert (result.action, result.reason) == ("updated", "confidence_improved")
    stored = Memory.objects.get()
    assert (stored.content, stored.base_confidence, stored.importance) == ("tea", 0.685714, 0.9)
    assert stored.metadata == {"a": 1, "b": 2}


def test_a_batch_answers_for_each_item_in_order(access: Access) -> None:
    drafts = [MemoryDraft(text, scope=Scope("ana")) for text in ("one", "two", "One!")]
    drafts.insert(1, MemoryDraft("nobody's"))
    outcomes = memory_save_many(access=access, drafts=drafts)
    assert [getattr(outcome, "action", type(outcome).__name__) for outcome in outcomes] == [
        "inserted", "InvalidInputError", "inserted", "skipped",
    ]  # fmt: skip
    assert Memory.objects.count() == 2


def test_duplicate_inside_batch_improves_one_before_it(access: Access) -> None:
    drafts = [MemoryDraft("tea", scope=Scope("ana"), confidence=c) for c in (0.5, 0.9)]
    outcomes = memory_save_many(access=access, drafts=drafts)
    assert [getattr(outcome, "action", "") for outcome in outcomes] == ["inserted", "updated"]
    assert Memory.objects.get().base_confidence == pytest.approx(0.642857)
    assert Memory.objects.get().revisions.count() == 2


def test_every_change_raises_version_of_users_shard(access: Access) -> None:
    for text in ("one", "two"):
        memory_save(access=access, draft=MemoryDraft(text, scope=Scope("ana")))
    assert MemoryShard.objects.get(user_id="ana").version == 2
    assert sorted(Memory.objects.values_list("version", flat=True)) == [1, 2]


def test_of_duplicates_in_batch_vector_is_that_of_one_stored(access: Access) -> None:
    texts = ("I love green tea", "I LOVE GREEN TEA!!!!!!!!", "i love   green tea?")
    memory_save_many(access=access, drafts=[MemoryDraft(text, scope=Scope("ana")) for text in texts])
    stored = MemoryEmbedding.objects.get()
    assert stored.memory.content == texts[0]
    assert float(stored.vector @ embed_texts([texts[0]])[0]) == pytest.approx(1.0, abs=1e-5)
