"""What the rules replaced by themselves is given after what replaced it, marked, until somebody accepts it (ADR 70)."""

import contextlib
from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.rules.services import rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.bring_back import memories_expire
from apps.semantic.memories.deletion import Selection, memories_delete
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.search.search import Found, memory_search
from apps.semantic.services import (
    conflict_accept,
    conflict_override,
    conflict_revert,
    memory_delete,
    memory_restore,
    memory_save,
)
from tests.api import Api

pytestmark = pytest.mark.django_db

LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
ANA = Scope("ana")


def save(access: Access, content: str, **fields: Any) -> SaveResult:
    return memory_save(access=access, draft=MemoryDraft(content, scope=ANA, **fields))


def found(access: Access, query: str = "Where does Ana live?", **fields: Any) -> tuple[Found, ...]:
    return memory_search(access, SearchQuery(scope=ANA, query=query, **fields)).found


def contents(access: Access, **fields: Any) -> list[str]:
    return [one.memory.content for one in found(access, **fields)]


@pytest.fixture
def replaced(access: Access) -> SaveResult:
    """Return the save that replaced the older memory."""
    save(access, LISBON)
    save(access, "Ana bakes rye bread.")
    result = save(access, NOT_LISBON)
    assert result.action == "superseded_existing"
    return result


def test_replaced_memory_follows_what_replaced_it(access: Access, replaced: SaveResult) -> None:
    texts = contents(access)
    assert texts.index(LISBON) == texts.index(NOT_LISBON) + 1
    shown = next(one for one in found(access) if one.memory.content == LISBON)
    assert shown.memory.status == "superseded"
    assert shown.replaced is not None
    assert shown.replaced.by == replaced.memory.uuid
    assert shown.replaced.receipt == replaced.conflict
    assert shown.replaced.why


def test_active_memories_are_not_marked(access: Access, replaced: SaveResult) -> None:
    assert [one.memory.content for one in found(access) if one.replaced] == [LISBON]


def test_search_may_leave_history_out(access: Access, replaced: SaveResult) -> None:
    assert LISBON not in contents(access, history=False)


def test_replaced_memory_takes_a_place_of_the_limit(access: Access, replaced: SaveResult) -> None:
    assert len(contents(access, top_k=1)) == 1
    assert len(contents(access, top_k=2)) == 2


def test_accepting_hides_at_once(access: Access, replaced: SaveResult) -> None:
    assert replaced.conflict is not None
    conflict_accept(access=access, uuid=replaced.conflict)
    assert LISBON not in contents(access)


def test_override_hides_the_loser(access: Access, replaced: SaveResult) -> None:
    assert replaced.conflict is not None
    conflict_override(access=access, uuid=replaced.conflict, winner=Winner.EXISTING)
    assert NOT_LISBON not in contents(access)
    assert contents(access).count(LISBON) == 1


def test_reverting_brings_the_replaced_one_back_once(access: Access, replaced: SaveResult) -> None:
    assert replaced.conflict is not None
    conflict_revert(access=access, uuid=replaced.conflict)
    assert contents(access).count(LISBON) == 1
    assert not any(one.replaced for one in found(access))


def test_it_is_hidden_after_the_days_of_the_rule(access: Access, replaced: SaveResult) -> None:
    receipt = Conflict.objects.get(uuid=replaced.conflict)
    Conflict.objects.filter(pk=receipt.pk).update(at=receipt.at - timedelta(days=30))
    assert LISBON not in contents(access)


def test_rule_without_days_hides_at_once(access: Access) -> None:
    rule_register(document={"name": "firm", "priority": 1, "arbitration": {"hide_after_days": 0}}, actor="test")
    save(access, LISBON)
    assert save(access, NOT_LISBON).action == "superseded_existing"
    assert LISBON not in contents(access)


def test_what_does_not_answer_the_search_is_not_given(access: Access, replaced: SaveResult) -> None:
    assert LISBON not in [one.memory.content for one in found(access, "rye bread")]


def test_restatement_is_not_given_twice(access: Access) -> None:
    save(access, "Ana bakes rye bread with caraway every Sunday.")
    save(access, "Ana bakes rye bread with caraway every Sunday!!")
    assert len(contents(access, query="What does Ana bake?")) == 1


def test_filters_hold_for_the_replaced_one_too(access: Access) -> None:
    save(access, LISBON, source="letter")
    save(access, NOT_LISBON, source="user")
    assert contents(access, tags={"source": "user"}) == [NOT_LISBON]


def test_api_marks_it_and_hides_on_request(api: Api, access: Access, replaced: SaveResult) -> None:
    asked = {"user_id": "ana", "query": "Where does Ana live?"}
    results = api.post("/api/semantic/search", asked).json()["results"]
    [marked] = [one for one in results if one["replaced"]]
    assert marked["memory"]["status"] == "superseded"
    assert marked["replaced"]["by"] == str(replaced.memory.uuid)
    assert marked["replaced"]["receipt"] == str(replaced.conflict)
    hidden = api.post("/api/semantic/search", {**asked, "history": "hide"}).json()["results"]
    assert not [one for one in hidden if one["replaced"]]


# --- nothing stays replaced by what is gone -----------------------------------------------------------


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def test_deleting_what_replaced_it_brings_it_back(access: Access, replaced: SaveResult) -> None:
    memory_delete(access=access, uuid=replaced.memory.uuid)
    assert active() == [LISBON, "Ana bakes rye bread."]
    assert not any(one.replaced for one in found(access))
    back = Memory.objects.get(content=LISBON)
    assert back.superseded_by is None
    last = back.revisions.last()
    assert last is not None
    assert (last.action, last.reason, last.actor) == ("restored", "successor gone", "test")


def test_of_equal_ones_that_it_replaced_the_last_one_comes_back(access: Access) -> None:
    """Said, denied, said again, and decided for the denial: both are replaced by the same memory."""
    first = save(access, LISBON).memory
    save(access, NOT_LISBON)
    again = save(access, LISBON)
    assert again.conflict is not None
    conflict_override(access=access, uuid=again.conflict, winner=Winner.EXISTING)
    [denial] = Memory.objects.filter(content=NOT_LISBON, status="active")
    assert set(denial.supersedes.values_list("pk", flat=True)) == {first.pk, again.memory.pk}
    memory_delete(access=access, uuid=denial.uuid)
    assert list(Memory.objects.filter(content=LISBON, status="active")) == [again.memory]


def test_restoring_what_replaced_it_replaces_it_again(access: Access, replaced: SaveResult) -> None:
    memory_delete(access=access, uuid=replaced.memory.uuid)
    memory_restore(access=access, uuid=replaced.memory.uuid)
    assert active() == ["Ana bakes rye bread.", NOT_LISBON]
    assert Memory.objects.get(content=LISBON).superseded_by == replaced.memory


def test_revert_is_exact_after_deleting_and_restoring(access: Access, replaced: SaveResult) -> None:
    assert replaced.conflict is not None
    memory_delete(access=access, uuid=replaced.memory.uuid)
    memory_restore(access=access, uuid=replaced.memory.uuid)
    with contextlib.suppress(ConflictError):
        conflict_revert(access=access, uuid=replaced.conflict)
    assert len([one for one in active() if "Lisbon" in one]) == 1


def test_expired_successor_brings_it_back(access: Access) -> None:
    save(access, LISBON)
    save(access, NOT_LISBON, expires_at=utcnow(SYSTEM_CLOCK) + timedelta(hours=1))
    assert active() == [NOT_LISBON]
    memories_expire(clock=DeterministicClock(round((utcnow(SYSTEM_CLOCK) + timedelta(hours=2)).timestamp() * 1000)))
    assert active() == [LISBON]


def test_deleting_everything_leaves_nothing(access: Access, replaced: SaveResult) -> None:
    result = memories_delete(access=access, chosen=Selection(ANA))
    assert active() == []
    assert result.deleted == result.matched == 3


def test_deleting_by_id_brings_back_what_was_not_named(access: Access, replaced: SaveResult) -> None:
    memories_delete(access=access, chosen=Selection(ANA, ids=(replaced.memory.uuid,)))
    assert active() == [LISBON, "Ana bakes rye bread."]


def test_restatement_does_not_come_back(access: Access) -> None:
    save(access, "Ana bakes rye bread with caraway every Sunday.")
    result = save(access, "Ana really bakes rye bread with caraway every Sunday.")
    memory_delete(access=access, uuid=result.memory.uuid)
    assert active() == []
