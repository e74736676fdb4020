"""Accepting, reverting and overriding decisions (DESIGN D3)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Access, Permission, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.rules.services import rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.search.search import memory_search
from apps.semantic.services import (
    conflict_accept,
    conflict_override,
    conflict_revert,
    memory_delete,
    memory_restore,
    memory_save,
)

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
AUDIT = {"updated_at", "version"}
LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        return memory_save(access=access, draft=MemoryDraft(content, scope=Scope("ana"), **fields))

    return save


def rows() -> list[dict[str, Any]]:
    """Every memory, byte for byte, but for the audit's own columns and what was soft-deleted."""
    found = Memory.objects.exclude(status="deleted").order_by("id").values()
    return [{name: value for name, value in row.items() if name not in AUDIT} for row in found]


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def merging_rule() -> None:
    detection = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
    rule_register(
        document={"name": "merging", "detection": detection, "arbitration": {"priority_recency": False}}, actor="test"
    )


def test_reverting_puts_memory_that_lost_back_byte_for_byte(save: Save, access: Access) -> None:
    save(LISBON, keywords=("home",), metadata={"a": [1]})
    before = rows()
    result = save(NOT_LISBON)
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before
    result.memory.refresh_from_db()
    assert result.memory.status == "deleted"


def test_reverting_merge_brings_parent_back_and_takes_what_was_made(save: Save, access: Access) -> None:
    merging_rule()
    save("Ana bakes rye bread with caraway seeds every Sunday.")
    before = rows()
    result = save("Ana bakes rye bread with caraway seeds every Sunday morning.")
    assert result.action == "merged"
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before
    assert Memory.objects.filter(status="deleted").count() == 2


def test_what_was_reverted_is_found_again_and_what_was_made_is_not(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    found = memory_search(access, SearchQuery(scope=Scope("ana"), query="Lisbon")).found
    assert [one.memory.content for one in found] == [LISBON]


def test_reverting_leaves_receipt_of_its_own_that_can_be_reverted(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    decided = rows()
    answer = conflict_revert(access=access, uuid=result.conflict)
    receipt = Conflict.objects.get(uuid=result.conflict)
    assert (answer.origin, answer.outcome, answer.about, receipt.state) == ("revert", "reverted", receipt, "reverted")
    conflict_revert(access=access, uuid=answer.uuid)
    receipt.refresh_from_db()
    assert rows() == decided
    assert receipt.state == "open"


def test_a_decision_is_reverted_once(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    answer = conflict_revert(access=access, uuid=result.conflict)
    with pytest.raises(ConflictError, match=str(answer.uuid)) as refused:
        conflict_revert(access=access, uuid=result.conflict)
    assert refused.value.code == "already_reverted"


def test_where_both_stand_there_is_nothing_to_revert(save: Save, access: Access) -> None:
    save("Ana spent $12 on postcards.")
    result = save("Ana spent $15 on postcards.")
    assert result.conflict is not None
    with pytest.raises(ConflictError, match="nothing to revert"):
        conflict_revert(access=access, uuid=result.conflict)
    assert active() == ["Ana spent $12 on postcards.", "Ana spent $15 on postcards."]


def test_later_decision_must_be_reverted_first_and_is_named(save: Save, access: Access) -> None:
    save(LISBON)
    first, second = save(NOT_LISBON), save("Ana lives in Lisbon!!", importance=0.9)
    assert first.conflict is not None
    assert second.conflict is not None
    with pytest.raises(ConflictError, match=str(second.conflict)) as refused:
        conflict_revert(access=access, uuid=first.conflict)
    assert refused.value.code == "changed_since"
    conflict_revert(access=access, uuid=second.conflict)
    conflict_revert(access=access, uuid=first.conflict)
    assert active() == [LISBON]


def test_memory_deleted_since_is_not_brought_back_behind_its_owner(save: Save, access: Access) -> None:
    old = save(LISBON).memory
    result = save(NOT_LISBON)
    assert result.conflict is not None
    memory_delete(access=access, uuid=old.uuid)
    with pytest.raises(ConflictError, match=r"deleted by test at .* restore it first"):
        conflict_revert(access=access, uuid=result.conflict)
    memory_restore(access=access, uuid=old.uuid)
    conflict_revert(access=access, uuid=result.conflict)
    assert active() == [LISBON]


def test_winner_deleted_since_does_not_stand_in_way(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    memory_delete(access=access, uuid=result.memory.uuid)
    conflict_revert(access=access, uuid=result.conflict)
    assert active() == [LISBON]


def test_same_content_saved_again_since_is_named(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    conflict_override(access=access, uuid=result.conflict, winner=Winner.BOTH)
    memory = Memory.objects.get(content=LISBON)
    receipt = Conflict.objects.get(origin="override")
    memory_delete(access=access, uuid=memory.uuid)
    rule_register(document={"name": "deaf", "detection": {"contradiction_threshold": 1.0}}, actor="test")
    twin = save(LISBON).memory
    with pytest.raises(ConflictError):
        conflict_revert(access=access, uuid=receipt.uuid)
    assert twin.status == "active"


def test_later_improvements_of_winner_do_not_prevent_revert(save: Save, access: Access) -> None:
    save(LISBON)
    before = rows()
    result = save(NOT_LISBON, confidence=0.5)
    save(NOT_LISBON, confidence=0.9)
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    assert rows() == before


@pytest.mark.parametrize(
    ("winner", "standing"),
    [(Winner.EXISTING, [LISBON]), (Winner.BOTH, [LISBON, NOT_LISBON])],
)
def test_a_person_decides_otherwise(save: Save, access: Access, winner: Winner, standing: list[str]) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    decided = rows()
    answer = conflict_override(access=access, uuid=result.conflict, winner=winner)
    assert active() == standing
    assert Conflict.objects.get(uuid=result.conflict).state == "overridden"
    conflict_revert(access=access, uuid=answer.uuid)
    assert rows() == decided
    assert Conflict.objects.get(uuid=result.conflict).state == "open"


def test_what_was_only_noticed_can_be_decided_by_person(save: Save, access: Access) -> None:
    save("Ana spent $12 on postcards.")
    result = save("Ana spent $15 on postcards.")
    assert result.conflict is not None
    conflict_override(access=access, uuid=result.conflict, winner=Winner.CANDIDATE)
    assert active() == ["Ana spent $15 on postcards."]


def test_merge_can_be_overridden_so_that_one_parent_stands(save: Save, access: Access) -> None:
    merging_rule()
    save("Ana bakes rye bread with caraway seeds every Sunday.")
    result = save("Ana bakes rye bread with caraway seeds every Sunday morning.")
    assert result.conflict is not None
    conflict_override(access=access, uuid=result.conflict, winner=Winner.CANDIDATE)
    assert active() == ["Ana bakes rye bread with caraway seeds every Sunday morning."]


def test_what_is_decided_so_already_is_not_decided_again(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    with pytest.raises(ConflictError, match="Accept it instead"):
        conflict_override(access=access, uuid=result.conflict, winner=Winner.CANDIDATE)


def test_existing_memory_that_left_since_is_not_revived_by_override(save: Save, access: Access) -> None:
    old = save("Ana spent $12 on postcards.").memory
    noticed = save("Ana spent $15 on postcards.")
    assert noticed.conflict is not None
    memory_delete(access=access, uuid=old.uuid)
    with pytest.raises(ConflictError, match=str(old.uuid)):
        conflict_override(access=access, uuid=noticed.conflict, winner=Winner.EXISTING)


def test_accepting_takes_decision_out_of_queue(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    receipt = conflict_accept(access=access, uuid=result.conflict)
    assert (receipt.state, receipt.reviewed_by) == ("accepted", "test")
    assert receipt.reviewed_at is not None
    assert receipt.reviewed_at <= datetime.now(UTC)


def accepted() -> float:
    return REGISTRY.get_sample_value("memoryhub_conflicts_accepted_total") or 0.0


def test_decision_that_is_accepted_counts_once_when_that_is_committed(
    save: Save, access: Access, django_capture_on_commit_callbacks: Any
) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    before = accepted()
    with django_capture_on_commit_callbacks(execute=True):
        conflict_accept(access=access, uuid=result.conflict)
        conflict_accept(access=access, uuid=result.conflict)
        assert accepted() == before
    assert accepted() == before + 1


def test_receipts_of_others_do_not_exist(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON)
    assert result.conflict is not None
    ben = Access(Scope("ben"), Permission.WRITE, "key:ben")
    for uuid in (result.conflict, uuid4()):
        with pytest.raises(NotFoundError):
            conflict_revert(access=ben, uuid=uuid)


def test_restoring_what_lost_decision_that_was_reverted_lets_it_stand(save: Save, access: Access) -> None:
    save(LISBON)
    result = save(NOT_LISBON, source="inferred")
    assert (result.action, active()) == ("kept_existing", [LISBON])
    loser = Memory.objects.get(content=NOT_LISBON)
    memory_delete(access=access, uuid=loser.uuid)
    assert result.conflict is not None
    conflict_revert(access=access, uuid=result.conflict)
    restored = memory_restore(access=access, uuid=loser.uuid)
    assert (restored.status, restored.superseded_by) == ("active", None)


def test_restoring_what_lost_decision_that_stands_leaves_it_behind_winner(save: Save, access: Access) -> None:
    old = save(LISBON).memory
    winner = save(NOT_LISBON).memory
    memory_delete(access=access, uuid=old.uuid)
    restored = memory_restore(access=access, uuid=old.uuid)
    assert (restored.status, restored.superseded_by) == ("superseded", winner)
