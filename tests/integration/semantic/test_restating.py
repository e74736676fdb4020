"""Stating something again: the memory that remains has the details of both, and undoing that is exact."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.rules.services import rule_delete, rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.consolidation.services import consolidation_create, consolidation_run
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.search.search import memory_search
from apps.semantic.selectors import memory_list
from apps.semantic.services import conflict_override, conflict_revert, memory_save, memory_save_many
from tests.integration.semantic.opposites import unnoticed
from tests.threads import at_once

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
ANA = Scope("ana")
THEN = datetime(2026, 3, 1, tzinfo=UTC)
TEA, AGAIN, NOT_TEA = "Ana likes green tea.", "Ana really likes green tea.", "Ana does not like green tea."
LOOSE = {"keyword_threshold": 0.3}
AUDIT = {"updated_at", "version"}
KNOWN: dict[str, Any] = {
    "importance": 1.0,
    "keywords": ("drink",),
    "metadata": {"a": 1, "deep": {"b": 2}},
    "context": "at home",
    "session_id": "s1",
    "project": "kitchen",
}


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        return memory_save(access=access, draft=MemoryDraft(content, scope=ANA, **fields))

    return save


def rule(**sections: Any) -> None:
    rule_register(document={"name": "mine", "priority": 5, "detection": LOOSE, **sections}, actor="test")


@pytest.fixture(autouse=True)
def loose() -> None:
    """Compare keywords loosely: those that are given on one side only are no other matter."""
    rule_register(document={"name": "loose", "priority": 1, "detection": LOOSE}, actor="test")


def rows() -> dict[int, dict[str, Any]]:
    """Every memory byte for byte, but for the audit's own columns and what is deleted."""
    found = Memory.objects.exclude(status="deleted").order_by("id").values()
    return {row["id"]: {name: value for name, value in row.items() if name not in AUDIT} for row in found}


def active() -> Memory:
    return Memory.objects.active().get()


def receipt_of(result: SaveResult) -> Conflict:
    return Conflict.objects.get(uuid=result.conflict)


# Superseding


def test_memory_that_restates_another_one_takes_over_what_was_known(save: Save) -> None:
    save(TEA, **KNOWN)
    result = save(AGAIN, keywords=("cup",), metadata={"deep": {"c": 3}, "a": 2}, context="with Ben")
    assert result.action == "superseded_existing"
    found = active()
    assert (found.content, found.importance, found.keywords) == (AGAIN, 1.0, ["cup", "drink"])
    assert found.metadata == {"a": 2, "deep": {"b": 2, "c": 3}}
    assert (found.context, found.session_id, found.project) == ("with Ben\nat home", "s1", "kitchen")


def test_memory_that_contradicts_another_one_takes_over_nothing(save: Save) -> None:
    save(TEA, **KNOWN)
    assert save(NOT_TEA).action == "superseded_existing"
    found = active()
    assert (found.importance, found.keywords, found.metadata, found.context) == (0.5, [], {}, "")


def test_importance_follows_the_rule_of_the_candidate(save: Save) -> None:
    rule(merge={"metadata_strategy": {"importance": "average"}})
    save(TEA, importance=1.0)
    save(AGAIN, importance=0.5)
    assert active().importance == 0.75


def test_confidence_of_restatement_is_merged_as_that_of_a_duplicate(save: Save) -> None:
    save(TEA, confidence=0.6)
    save(AGAIN, confidence=0.8)
    assert active().base_confidence == 0.685714


def test_older_statement_that_comes_late_adds_to_the_memory_that_stays(save: Save, access: Access) -> None:
    save(AGAIN, occurred_at=THEN, metadata={"a": 1})
    before = rows()
    result = save(TEA, occurred_at=THEN - timedelta(days=9), metadata={"a": 2, "b": 3}, importance=0.9)
    assert result.action == "kept_existing"
    found = active()
    assert (found.content, found.occurred_at, found.importance) == (AGAIN, THEN, 0.9)
    assert found.metadata == {"a": 1, "b": 3}  # the newer value prevails
    assert result.memory.metadata == found.metadata
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before


def test_loser_that_is_saved_once_more_still_adds_what_is_new(save: Save) -> None:
    rule(arbitration={"priority_importance": True})
    save(AGAIN, importance=0.9)
    save(TEA)
    again = save(TEA, metadata={"b": 3})
    assert (again.action, again.reason, again.memory.metadata) == ("kept_existing", "already_decided", {"b": 3})
    assert active().metadata == {"b": 3}
    assert Conflict.objects.count() == 1


def test_rule_that_refuses_leaves_existing_memory_as_it_is(save: Save) -> None:
    rule(arbitration={"allow_merge": False, "default_strategy": "reject"})
    save(TEA, occurred_at=THEN)
    assert save(AGAIN, occurred_at=THEN, metadata={"a": 1}).action == "rejected"
    assert active().metadata == {}


def test_memories_that_are_superseded_along_add_what_they_know(save: Save) -> None:
    with unnoticed():
        save(TEA, metadata={"a": 1})
        save("Ana still likes green tea.", metadata={"b": 2}, importance=0.8)
    result = save(AGAIN)
    assert Memory.objects.filter(status="superseded").count() == 2
    assert (active().metadata, active().importance) == ({"a": 1, "b": 2}, 0.8)
    assert result.conflict is not None


def test_what_is_taken_over_is_found_by_its_words(save: Save, access: Access) -> None:
    save(TEA, keywords=("samovar",), context="in the conservatory")
    save(AGAIN)
    for word in ("samovar", "conservatory"):
        query = SearchQuery(scope=ANA, query=word, mode=SearchMode.KEYWORD)
        assert [one.memory.content for one in memory_search(access, query).found] == [AGAIN], word


def test_memory_is_found_by_every_session_in_which_it_was_said(save: Save, access: Access) -> None:
    save(TEA, session_id="s1")
    save(AGAIN, session_id="s2")
    save(AGAIN, session_id="s3")
    found = active()
    assert (found.session_id, found.further_sessions) == ("s2", ["s1", "s3"])
    for session in ("s1", "s2", "s3"):
        query = SearchQuery(scope=ANA, query="tea", tags={"session_id": session})
        assert [one.memory for one in memory_search(access, query).found] == [found]
        assert list(memory_list(access, ANA, {"session_id": session})) == [found]
    assert not memory_list(access, ANA, {"session_id": "s4"})


def test_receipt_and_history_keep_each_change(save: Save) -> None:
    save(TEA, importance=1.0, metadata={"a": 1})
    result = save(AGAIN, metadata={"b": 2})
    [step] = [step for step in receipt_of(result).transitions if "details" in step]
    assert step["memory"] == str(result.memory.uuid)
    assert step["details"] == {"importance": [0.5, 1.0], "metadata": [{"b": 2}, {"a": 1, "b": 2}]}
    [created, restated] = result.memory.revisions.all()
    assert (created.action, restated.action, restated.reason) == ("created", "updated", "restated")
    assert (restated.changes, restated.conflict) == (step["details"], result.conflict)
    assert Event.objects.filter(name="memory:semantic:saved", payload__action="updated").count() == 1


def test_memories_without_details_leave_no_change(save: Save) -> None:
    save(TEA)
    result = save(AGAIN)
    assert not any("details" in step for step in receipt_of(result).transitions)
    assert result.memory.revisions.count() == 1


# Undoing


def test_reverting_is_exact_and_so_is_reverting_that(save: Save, access: Access) -> None:
    save(TEA, **KNOWN, occurred_at=THEN)
    before = rows()
    result = save(AGAIN, metadata={"b": 2}, occurred_at=THEN + timedelta(days=1))
    decided = rows()
    assert result.conflict is not None
    answer = conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before
    assert Memory.objects.get(uuid=result.memory.uuid).metadata == {"b": 2}
    conflict_revert(access=access, uuid=answer.uuid)
    assert rows() == decided


def test_both_kept_by_a_person_have_their_own_details_again(save: Save, access: Access) -> None:
    save(TEA, **KNOWN)
    result = save(AGAIN, metadata={"b": 2})
    decided = rows()
    assert result.conflict is not None
    answer = conflict_override(access=access, uuid=result.conflict, winner=Winner.BOTH)
    candidate = Memory.objects.get(uuid=result.memory.uuid)
    assert (candidate.status, candidate.metadata, candidate.importance) == ("active", {"b": 2}, 0.5)
    assert (candidate.keywords, candidate.context, candidate.session_id) == ([], "", "")
    conflict_revert(access=access, uuid=answer.uuid)
    assert rows() == decided


def test_decision_overridden_twice_leaves_nothing_taken_over(save: Save, access: Access) -> None:
    save(TEA, **KNOWN)
    result = save(AGAIN, metadata={"b": 2})
    assert result.conflict is not None
    answer = conflict_override(access=access, uuid=result.conflict, winner=Winner.EXISTING)
    before = rows()
    again = conflict_override(access=access, uuid=answer.uuid, winner=Winner.CANDIDATE)
    assert (active().content, active().metadata) == (AGAIN, {"b": 2})
    conflict_revert(access=access, uuid=again.uuid)
    assert rows() == before


def test_what_was_added_since_outlives_a_revert(save: Save, access: Access) -> None:
    save(AGAIN, occurred_at=THEN, metadata={"a": 1})
    result = save(TEA, occurred_at=THEN - timedelta(days=9), metadata={"b": 3}, importance=0.9, keywords=("x",))
    save(AGAIN, metadata={"c": 4}, keywords=("y",))
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    found = active()
    assert (found.metadata, found.importance, found.keywords) == ({"a": 1, "c": 4}, 0.5, ["y"])


# Repeating


def test_repetition_that_says_nothing_new_is_skipped(save: Save) -> None:
    first = save(TEA, **KNOWN, occurred_at=THEN)
    second = save(TEA.upper(), **KNOWN, occurred_at=THEN.astimezone())
    assert (second.action, second.reason) == ("skipped", "equal_confidence")
    assert first.memory.revisions.count() == 1


def test_repetition_adds_what_it_says_besides_its_content(save: Save) -> None:
    save(TEA, importance=0.9, metadata={"a": 1, "l": [1]}, keywords=("drink",))
    result = save("ana likes GREEN tea", metadata={"a": 2, "l": [2]}, keywords=("cup",), context="with Ben")
    assert (result.action, result.reason) == ("updated", "restated")
    found = active()
    assert (found.content, found.importance, found.keywords) == (TEA, 0.9, ["drink", "cup"])
    assert (found.metadata, found.context) == ({"a": 2, "l": [1, 2]}, "with Ben")
    [step] = found.revisions.filter(action="updated")
    assert (step.reason, set(step.changes)) == ("restated", {"keywords", "context", "metadata"})


def test_less_sure_repetition_changes_nothing(save: Save) -> None:
    save(TEA, metadata={"a": 1}, confidence=0.9)
    before = rows()
    result = save(TEA, metadata={"b": 2}, importance=1.0, confidence=0.5)
    assert (result.action, result.reason, rows()) == ("skipped", "lower_confidence", before)


def test_memory_of_a_moment_keeps_it_when_a_later_one_restates_it(save: Save) -> None:
    rule(arbitration={"priority_importance": True})
    save(TEA, importance=0.9, occurred_at=THEN)
    assert save(AGAIN, occurred_at=THEN + timedelta(days=1)).action == "kept_existing"
    assert (active().content, active().occurred_at) == (TEA, THEN)


def test_moment_is_not_taken_over_where_the_same_is_known_of_it(save: Save) -> None:
    rule(arbitration={"priority_importance": True})
    save(TEA, importance=0.9)
    save(TEA, importance=0.2, occurred_at=THEN)
    save(AGAIN, importance=0.5, occurred_at=THEN)
    assert sorted(Memory.objects.active().values_list("content", "occurred_at"), key=str) == [
        (TEA, None),
        (TEA, THEN),
    ]


def test_surer_repetition_does_not_lower_importance(save: Save) -> None:
    save(TEA, importance=0.9, confidence=0.5)
    assert save(TEA, importance=0.2, confidence=0.9).reason == "confidence_improved"
    assert active().importance == 0.9


def test_rule_that_boosts_counts_repetitions_but_not_repeated_imports(save: Save) -> None:
    rule(merge={"metadata_strategy": {"importance": "boost"}, "boost_amount": 0.1})
    save(TEA, occurred_at=THEN)
    assert save(TEA, occurred_at=THEN).action == "skipped"
    assert active().importance == 0.5
    save(TEA)
    assert active().importance == 0.6


# Batches


def test_items_of_a_batch_add_to_each_other(access: Access) -> None:
    drafts = [
        MemoryDraft(TEA, scope=ANA, importance=0.7, metadata={"a": 1}),
        MemoryDraft(TEA, scope=ANA, metadata={"b": 2}),
        MemoryDraft(AGAIN, scope=ANA, occurred_at=datetime(2099, 1, 1, tzinfo=UTC), keywords=("cup",)),
        MemoryDraft(AGAIN, scope=ANA, importance=1.0),
    ]
    results = memory_save_many(access=access, drafts=drafts)
    actions = [result.action for result in results if isinstance(result, SaveResult)]
    assert actions == ["inserted", "updated", "superseded_existing", "updated"]
    found = active()
    assert (found.content, found.metadata, found.importance) == (AGAIN, {"a": 1, "b": 2}, 1.0)
    assert found.keywords == ["cup"]


def test_what_changed_inside_a_batch_counts_for_later_items(access: Access, save: Save) -> None:
    rule(arbitration={"priority_importance": True})
    save(TEA, importance=0.3)
    drafts = [MemoryDraft(TEA, scope=ANA, importance=0.9), MemoryDraft(NOT_TEA, scope=ANA, importance=0.5)]
    results = memory_save_many(access=access, drafts=drafts)
    actions = [result.action for result in results if isinstance(result, SaveResult)]
    assert actions == ["updated", "kept_existing"]


# Merging


def test_merged_memory_has_the_metadata_of_both_in_depth(save: Save, access: Access) -> None:
    rule(arbitration={"priority_recency": False, "merge_threshold": 1})
    save(TEA, metadata={"deep": {"a": 1, "b": 1}}, session_id="s1")
    before = rows()
    result = save(AGAIN, metadata={"deep": {"b": 2}}, session_id="s2")
    assert result.action == "merged"
    assert result.memory.metadata == {"deep": {"a": 1, "b": 2}}
    assert (result.memory.session_id, result.memory.further_sessions) == ("s2", ["s1"])
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before


def test_third_memory_that_says_the_merged_text_already_takes_over_the_details_of_both(
    save: Save, access: Access
) -> None:
    rule_register(
        document={"name": "deaf", "priority": 9, "detection": {"keyword_threshold": 1, "restate_threshold": 1}},
        actor="test",
    )
    third = save(f"{TEA}\n{AGAIN}", keywords=tuple(f"shelf{n}" for n in range(20))).memory
    save(TEA, metadata={"a": 1})
    rule_delete(name="deaf", actor="test")
    rule(
        arbitration={"priority_recency": False, "act_on_weak_evidence": True},
        merge={"content_strategy": "concatenate", "deduplicate": False},
    )
    before = rows()
    result = save(AGAIN, metadata={"b": 2}, importance=0.9)
    assert (result.action, result.memory) == ("merged", third)
    assert (active().metadata, active().importance) == ({"a": 1, "b": 2}, 0.9)
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before


# Elsewhere


def test_consolidation_merges_what_is_known_as_well(save: Save, access: Access) -> None:
    with unnoticed():
        save(TEA, **KNOWN)
        save(AGAIN, metadata={"b": 2})
    before = rows()
    consolidation = consolidation_create(name="nightly", settings={"mode": "decide"})
    consolidation_run(pk=consolidation.pk)
    found = active()
    assert (found.content, found.importance, found.project) == (AGAIN, 1.0, "kitchen")
    assert found.metadata == {"a": 1, "b": 2, "deep": {"b": 2}}
    conflict_revert(access=access, uuid=Conflict.objects.get().uuid)
    assert rows() == before


@pytest.mark.django_db(transaction=True)
def test_what_writers_say_at_the_same_time_is_all_kept(access: Access) -> None:
    texts = (TEA, AGAIN, f"{TEA}!!", f"{AGAIN}!!")
    drafts = [MemoryDraft(text, scope=ANA, metadata={f"m{n}": n}, keywords=(f"k{n}",)) for n, text in enumerate(texts)]
    at_once(*(lambda draft=draft: memory_save(access=access, draft=draft) for draft in drafts))  # type: ignore[misc]
    found = active()
    assert found.metadata == {f"m{n}": n for n in range(4)}
    assert sorted(found.keywords) == [f"k{n}" for n in range(4)]
