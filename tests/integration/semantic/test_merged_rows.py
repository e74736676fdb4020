"""What surrounds the content of a merged memory, and merges whose result is stored already."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from apps.core.domain.scope import Access, Scope
from apps.rules.services import rule_delete, rule_register
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.update import MemoryEdit, memory_update
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Memory
from apps.semantic.services import conflict_revert, memory_save

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
BREAD = "Ana bakes rye bread with caraway seeds every Sunday"
EVENING = f"{BREAD} evening"


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        return memory_save(access=access, draft=MemoryDraft(content, scope=Scope("ana"), **fields))

    return save


def merging_rule(**merge: Any) -> None:
    rule_register(
        document={
            "name": "merging",
            "priority": 1,
            "detection": {"keyword_threshold": 0.5, "restate_threshold": 0.5},
            "arbitration": {"priority_recency": False, "act_on_weak_evidence": True},
            "merge": merge,
        },
        actor="test",
    )


def test_circumstance_that_both_tell_is_kept_once_however_often_they_are_merged(save: Save) -> None:
    merging_rule()
    save(BREAD, context="at home")
    save(f"{BREAD} morning", context="with Ben")
    merged = save(f"{BREAD} morning now", context="with Ben").memory
    assert merged.context == "at home\nwith Ben"


def test_tags_policy_and_metadata_of_both_survive_with_candidates_on_top(save: Save) -> None:
    merging_rule()
    save(BREAD, type="habit", metadata={"a": 1, "b": 1}, decay_policy=DecayPolicy.CONTEXTUAL)
    merged = save(f"{BREAD} morning", agent="new", metadata={"b": 2}, is_global=True, confidence=0.5).memory
    assert (merged.type, merged.agent, merged.is_global) == ("habit", "new", True)
    assert (merged.metadata, merged.decay_policy, merged.base_confidence) == ({"a": 1, "b": 2}, "stable", 1.0)


def test_parents_leave_for_third_memory_that_says_what_they_become_already(save: Save, access: Access) -> None:
    rule_register(
        document={"name": "deaf", "priority": 2, "detection": {"keyword_threshold": 1, "restate_threshold": 1}},
        actor="test",
    )
    # Other keywords and a vector of its own keep it from being what the new memory conflicts with.
    far = {"keywords": [f"shelf{n}" for n in range(20)], "embedding": np.eye(384, dtype=np.float32)[0]}
    third = save(f"{BREAD}\n{EVENING}", **far).memory
    first = save(BREAD).memory
    rule_delete(name="deaf", actor="test")
    merging_rule(content_strategy="concatenate", deduplicate=False)
    result = save(EVENING)
    assert (result.action, result.memory) == ("merged", third)
    assert {one.superseded_by for one in Memory.objects.filter(status="merged")} == {third}
    assert list(Memory.objects.active()) == [third]
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert set(Memory.objects.active()) == {first, third}


def test_change_that_is_merged_is_reverted_exactly_to_the_change(save: Save, access: Access) -> None:
    merging_rule()
    stored = save(BREAD, metadata={"a": 1}).memory
    other = save("The tax office closes at noon", metadata={"b": 2}).memory
    edit = MemoryEdit({"content": EVENING, "metadata": {"c": 3}})
    result = memory_update(access=access, uuid=other.uuid, edit=edit)
    assert (result.action, result.memory.status) == ("merged", "active")
    assert result.memory.metadata == {"a": 1, "b": 2, "c": 3}
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    for memory, content, metadata in ((stored, BREAD, {"a": 1}), (other, EVENING, {"b": 2, "c": 3})):
        memory.refresh_from_db()
        assert (memory.status, memory.superseded_by, memory.content) == ("active", None, content)
        assert memory.metadata == metadata
    result.memory.refresh_from_db()
    assert result.memory.status == "deleted"
    assert [step.changes.get("content") for step in other.revisions.order_by("id")][1] == [
        "The tax office closes at noon", EVENING,
    ]  # fmt: skip
