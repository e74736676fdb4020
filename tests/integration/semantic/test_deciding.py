"""Saving memories that disagree: what is done, what is answered, and what the receipt says (DESIGN D3, D5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.scope import Access, Scope
from apps.events.models import Event
from apps.rules.services import rule_register
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory, MemoryEmbedding
from apps.semantic.services import memory_save, memory_save_many

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
LOOSE = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
THEN = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        scope = fields.pop("scope", Scope("ana"))
        return memory_save(access=access, draft=MemoryDraft(content, scope=scope, **fields))

    return save


def contents(status: str = "active") -> list[str]:
    return list(Memory.objects.filter(status=status).order_by("id").values_list("content", flat=True))


def rule(**sections: Any) -> None:
    rule_register(document={"name": "mine", "priority": 5, **sections}, actor="test")


def test_newer_of_two_memories_that_contradict_each_other_supersedes_older(save: Save) -> None:
    old = save("Ana lives in Lisbon.").memory
    result = save("Ana does not live in Lisbon.")
    assert result.action == "superseded_existing"
    assert result.reason == "recency"
    old.refresh_from_db()
    assert (old.status, old.superseded_by) == ("superseded", result.memory)
    assert contents() == ["Ana does not live in Lisbon."]


def test_receipt_says_who_decided_what_and_why(save: Save) -> None:
    old = save("Ana lives in Lisbon.").memory
    result = save("Ana does not live in Lisbon.")
    receipt = Conflict.objects.get(uuid=result.conflict)
    assert (receipt.candidate, receipt.existing, receipt.result) == (result.memory, old, result.memory)
    assert (receipt.rule_name, receipt.strategy, receipt.action, receipt.winner) == (
        "default",
        "recency",
        "keep",
        "candidate",
    )
    assert "contradiction" in {signal["type"] for signal in receipt.signals}
    assert receipt.records["existing"]["content"] == "Ana lives in Lisbon."
    assert receipt.rule["arbitration"]["priority_recency"] is True
    assert 0.5 <= receipt.confidence <= 1
    assert receipt.actor == "test"


def test_older_statement_that_comes_late_does_not_override_what_is_known(save: Save) -> None:
    new = save("Ana does not live in Lisbon.", occurred_at=THEN).memory
    result = save("Ana lives in Lisbon.", occurred_at=THEN - timedelta(days=30))
    assert (result.action, result.memory) == ("kept_existing", new)
    assert contents() == ["Ana does not live in Lisbon."]
    loser = Memory.objects.get(content="Ana lives in Lisbon.")
    assert (loser.status, loser.superseded_by) == ("superseded", new)


def test_rule_that_rejects_leaves_existing_memory_as_it_is(save: Save) -> None:
    rule(arbitration={"priority_recency": False, "priority_source": False, "default_strategy": "reject"})
    old = save("Ana lives in Lisbon.").memory
    before = Memory.objects.filter(pk=old.pk).values().get()
    result = save("Ana does not live in Lisbon.", occurred_at=old.created_at)
    assert (result.action, result.memory) == ("rejected", old)
    assert Memory.objects.filter(pk=old.pk).values().get() == before
    assert contents("rejected") == ["Ana does not live in Lisbon."]


def test_rule_about_user_lets_no_guess_override_what_user_said(save: Save) -> None:
    rule(conditions={"user_id": "ana"})
    said = save("Ana lives in Lisbon.").memory
    result = save("Ana does not live in Lisbon.", source="inferred")
    assert (result.action, result.memory) == ("kept_existing", said)
    assert Conflict.objects.get(uuid=result.conflict).rule_name == "inferred"
    assert save("Ana does not live in Lisbon.").action != "skipped"
    assert Conflict.objects.latest("id").rule_name == "mine"


def test_rule_about_household_decides_in_that_household_only(save: Save) -> None:
    rule(conditions={"household_id": "home"}, arbitration={"priority_recency": False, "default_strategy": "reject"})
    for household, action in (("home", "rejected"), ("away", "superseded_existing"), (None, "superseded_existing")):
        scope = Scope("ana", household)
        save("Ana lives in Lisbon.", scope=scope, occurred_at=THEN)
        result = save("Ana does not live in Lisbon.", scope=scope, occurred_at=THEN)
        assert result.action == action, household


def test_merging_keeps_both_parents_beside_what_they_became(save: Save) -> None:
    rule(arbitration={"priority_recency": False}, detection=LOOSE)
    old = save("Ana bakes rye bread with caraway seeds every Sunday.", importance=0.4, keywords=("baking",)).memory
    result = save("Ana bakes rye bread with caraway seeds every Sunday morning!", importance=0.5)
    assert result.action == "merged"
    assert contents("merged") == [
        "Ana bakes rye bread with caraway seeds every Sunday.",
        "Ana bakes rye bread with caraway seeds every Sunday morning!",
    ]
    assert contents() == [result.memory.content]
    assert result.memory.keywords == ["baking"]
    assert result.memory.importance == 0.5
    assert {memory.superseded_by for memory in Memory.objects.filter(status="merged")} == {result.memory}
    assert MemoryEmbedding.objects.filter(memory=result.memory).exists()
    old.refresh_from_db()
    assert old.importance == 0.4
    receipt = Conflict.objects.get(uuid=result.conflict)
    assert receipt.merge["statistics"]["content_length"] == len(result.memory.content)


def test_weak_evidence_is_only_noticed_and_both_memories_stand(save: Save) -> None:
    rule(detection={"act_threshold": 1.0})
    save("Ana owns 12 postcards.")
    result = save("Ana owns 15 postcards.")
    assert result.action == "inserted"
    assert contents() == ["Ana owns 12 postcards.", "Ana owns 15 postcards."]
    receipt = Conflict.objects.get(uuid=result.conflict)
    assert (receipt.outcome, receipt.result) == ("noticed", None)


def test_memories_of_other_scopes_are_never_held_against_each_other(save: Save) -> None:
    save("Ana lives in Lisbon.")
    for scope in (Scope("ana", "home"), Scope("ana", None, "coach"), Scope("ben")):
        assert save("Ana does not live in Lisbon.", scope=scope).conflict is None
    assert not Conflict.objects.exists()


def test_candidate_that_wins_lets_every_memory_leave_that_it_contradicts(save: Save) -> None:
    rule(detection={"act_threshold": 1.0})
    save("Ana lives in Lisbon.")
    save("Ana lives in Lisbon now.")
    rule_register(document={"name": "strict", "priority": 9, "extends": "default"}, actor="test")
    result = save("Ana does not live in Lisbon.")
    assert result.action == "superseded_existing"
    assert contents() == ["Ana does not live in Lisbon."]
    assert Conflict.objects.filter(uuid=result.conflict).count() == 1


def test_items_of_one_batch_are_held_against_each_other(access: Access) -> None:
    drafts = [
        MemoryDraft(text, scope=Scope("ana")) for text in ("Ana lives in Lisbon.", "Ana does not live in Lisbon.")
    ]
    _, second = memory_save_many(access=access, drafts=drafts)
    assert isinstance(second, SaveResult)
    assert second.action == "superseded_existing"
    assert contents() == ["Ana does not live in Lisbon."]
    loser = Memory.objects.get(content="Ana lives in Lisbon.")
    assert loser.superseded_by == second.memory


def test_three_wordings_in_one_batch_become_one_memory(access: Access) -> None:
    rule(arbitration={"priority_recency": False}, detection=LOOSE)
    texts = [f"Ana bakes rye bread with caraway seeds every Sunday{end}" for end in (" morning", " morning now", "")]
    results = memory_save_many(access=access, drafts=[MemoryDraft(text, scope=Scope("ana")) for text in texts])
    assert [result.action for result in results if isinstance(result, SaveResult)] == ["inserted", "merged", "merged"]
    assert len(contents()) == 1


@pytest.mark.parametrize("end", [" at home", " now"])
def test_merge_that_adds_nothing_still_keeps_both_parents(save: Save, end: str) -> None:
    rule(arbitration={"priority_recency": False}, detection=LOOSE)
    old = save(f"Ana bakes rye bread with caraway seeds every Sunday morning{end}").memory
    result = save("Ana bakes rye bread with caraway seeds every Sunday morning")
    assert result.action == "merged"
    assert contents() == [old.content]
    assert contents("merged") == [old.content, "Ana bakes rye bread with caraway seeds every Sunday morning"]


def test_saying_same_of_same_moment_again_decides_nothing_anew(save: Save) -> None:
    save("Ana lives in Lisbon.", occurred_at=THEN)
    save("Ana does not live in Lisbon.", occurred_at=THEN + timedelta(days=1))
    again = save("Ana lives in Lisbon.", occurred_at=THEN)
    assert (again.action, again.reason) == ("skipped", "already_decided")
    assert Memory.objects.count() == 2
    assert Conflict.objects.count() == 1


def test_saying_it_again_today_is_news(save: Save) -> None:
    save("Ana lives in Lisbon.")
    save("Ana does not live in Lisbon.")
    assert save("Ana lives in Lisbon.").action == "superseded_existing"
    assert contents() == ["Ana lives in Lisbon."]


def test_rest_of_hub_is_told_without_any_content(save: Save) -> None:
    save("Ana lives in Lisbon.")
    save("Ana does not live in Lisbon.")
    names = list(Event.objects.order_by("id").values_list("name", flat=True))
    assert names == [
        "memory:semantic:saved",
        "memory:semantic:saved",
        "memory:semantic:status_changed",
        "memory:conflict:decided",
    ]
    assert "Lisbon" not in str(list(Event.objects.values_list("payload", flat=True)))


def test_history_of_both_memories_names_receipt(save: Save) -> None:
    old = save("Ana lives in Lisbon.").memory
    result = save("Ana does not live in Lisbon.")
    steps = old.revisions.values_list("action", "conflict", "changes")
    assert list(steps) == [
        ("created", None, {}),
        (
            "superseded",
            result.conflict,
            {"status": ["active", "superseded"], "superseded_by": [None, str(result.memory)]},
        ),
    ]


def test_words_that_lose_to_same_memory_again_add_nothing(save: Save) -> None:
    save("Ana lives in Lisbon.")
    first = save("Ana does not live in Lisbon.", source="inferred")
    again = save("Ana does not live in Lisbon.", source="inferred")
    assert first.action == again.action == "kept_existing"
    assert (again.reason, again.conflict, again.memory) == ("already_decided", first.conflict, first.memory)
    assert Memory.objects.count() == 2
    assert Conflict.objects.count() == 1
