"""Deciding again what a person decided: overrides of overrides, and undoing them in every order (DESIGN D3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Access, Scope
from apps.rules.services import rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import index_cache
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import conflict_override, conflict_revert, memory_save
from tests.effort import examples

pytestmark = pytest.mark.django_db

Save = Callable[..., SaveResult]
PLAIN = "Ana bakes rye bread with caraway seeds every Sunday."
FULL = "Ana bakes rye bread with caraway seeds on Sundays"
LISBON, STILL, NOT_LISBON = "Ana lives in Lisbon.", "Ana lives in Lisbon now.", "Ana does not live in Lisbon."
WINNERS = list(Winner)


@pytest.fixture
def save(access: Access) -> Save:
    def save(content: str, **fields: Any) -> SaveResult:
        return memory_save(access=access, draft=MemoryDraft(content, scope=Scope("ana"), **fields))

    return save


def standing() -> list[dict[str, Any]]:
    """Where every memory stands."""
    return list(Memory.objects.order_by("id").values("content", "status", "superseded_by"))


def active() -> set[str]:
    return set(Memory.objects.active().values_list("content", flat=True))


def merged(save: Save) -> Conflict:
    rule_register(
        document={
            "name": "merging",
            "detection": {"keyword_threshold": 0.5, "restate_threshold": 0.5, "pair_notice_threshold": 1},
            "arbitration": {"priority_recency": False, "act_on_weak_evidence": True},
            "merge": {"content_strategy": "concatenate", "deduplicate": False},
        },
        actor="test",
    )
    save(PLAIN)
    result = save(FULL)
    assert result.action == "merged"
    return Conflict.objects.get(uuid=result.conflict)


def won_twice(save: Save) -> Conflict:
    rule_register(document={"name": "deaf", "priority": 1, "detection": {"act_threshold": 1.0}}, actor="test")
    save(LISBON)
    save(STILL)
    rule_register(document={"name": "strict", "priority": 9}, actor="test")
    result = save(NOT_LISBON)
    assert active() == {NOT_LISBON}
    return Conflict.objects.get(uuid=result.conflict)


@pytest.mark.parametrize(("first", "second"), [pair for pair in product(WINNERS, WINNERS) if pair[0] != pair[1]])
def test_of_merge_overridden_twice_only_last_word_counts(
    save: Save, access: Access, first: Winner, second: Winner
) -> None:
    receipt = merged(save)
    states = [standing()]
    one = conflict_override(access=access, uuid=receipt.uuid, winner=first)
    states.append(standing())
    two = conflict_override(access=access, uuid=one.uuid, winner=second)
    assert active() == {Winner.CANDIDATE: {FULL}, Winner.EXISTING: {PLAIN}, Winner.BOTH: {PLAIN, FULL}}[second]
    conflict_revert(access=access, uuid=two.uuid)
    assert standing() == states.pop()
    conflict_revert(access=access, uuid=one.uuid)
    assert standing() == states.pop()


@pytest.mark.parametrize(
    ("first", "second"),
    [(Winner.EXISTING, Winner.CANDIDATE), (Winner.EXISTING, Winner.BOTH), (Winner.BOTH, Winner.EXISTING)],
)
def test_overriding_twice_comes_to_same_as_overriding_once(
    save: Save, access: Access, first: Winner, second: Winner
) -> None:
    receipt = won_twice(save)
    before = active()
    one = conflict_override(access=access, uuid=receipt.uuid, winner=first)
    conflict_override(access=access, uuid=one.uuid, winner=second)
    twice = active()
    for answer in Conflict.objects.filter(origin="override").order_by("-id"):
        conflict_revert(access=access, uuid=answer.uuid)
    assert active() == before
    if second is not Winner.CANDIDATE:
        conflict_override(access=access, uuid=receipt.uuid, winner=second)
    assert active() == twice


def test_third_override_of_merge_still_knows_what_merge_made(save: Save, access: Access) -> None:
    uuid = merged(save).uuid
    for winner in (Winner.CANDIDATE, Winner.EXISTING, Winner.BOTH, Winner.CANDIDATE, Winner.EXISTING):
        uuid = conflict_override(access=access, uuid=uuid, winner=winner).uuid
    assert active() == {PLAIN}
    for answer in Conflict.objects.filter(origin="override").order_by("-id"):
        conflict_revert(access=access, uuid=answer.uuid)
    assert Conflict.objects.get(origin="save").state == "open"
    assert active() == {f"{PLAIN}\n{FULL}"}


def test_what_override_deleted_is_put_back_to_when_it_was_deleted(save: Save, access: Access) -> None:
    receipt = merged(save)
    override = conflict_override(access=access, uuid=receipt.uuid, winner=Winner.CANDIDATE)
    [deleted] = Memory.objects.filter(status="deleted").values("uuid", "status_changed_at")
    answer = conflict_revert(access=access, uuid=override.uuid)
    conflict_revert(access=access, uuid=answer.uuid)
    assert list(Memory.objects.filter(status="deleted").values("uuid", "status_changed_at")) == [deleted]


def states() -> list[str]:
    """Of every receipt, in the order in which they were made."""
    return list(Conflict.objects.order_by("id").values_list("state", flat=True))


def test_undoing_and_redoing_override_brings_every_receipt_back_to_where_it_was(save: Save, access: Access) -> None:
    save(LISBON)
    receipt = Conflict.objects.get(uuid=save(NOT_LISBON).conflict)
    last = conflict_override(access=access, uuid=receipt.uuid, winner=Winner.BOTH)
    assert states() == ["overridden", "accepted"]
    expected = [["open", "reverted"], ["overridden", "accepted"]]
    for step in range(5):
        last = conflict_revert(access=access, uuid=last.uuid)
        assert states() == [*expected[step % 2], *_reverts(step + 1)]


def _reverts(count: int) -> list[str]:
    """A revert stands unless the next one, which reverted it, does."""
    return ["accepted" if (count - number) % 2 else "reverted" for number in range(count)]


def test_what_was_overridden_cannot_be_overridden_again_when_that_is_redone(save: Save, access: Access) -> None:
    save(LISBON)
    receipt = Conflict.objects.get(uuid=save(NOT_LISBON).conflict)
    override = conflict_override(access=access, uuid=receipt.uuid, winner=Winner.BOTH)
    conflict_revert(access=access, uuid=conflict_revert(access=access, uuid=override.uuid).uuid)
    with pytest.raises(ConflictError):
        conflict_override(access=access, uuid=receipt.uuid, winner=Winner.BOTH)


def test_revert_of_revert_is_not_reverted_past_later_override(save: Save, access: Access) -> None:
    save(LISBON)
    receipt = Conflict.objects.get(uuid=save(NOT_LISBON).conflict)
    again = conflict_revert(access=access, uuid=conflict_revert(access=access, uuid=receipt.uuid).uuid)
    override = conflict_override(access=access, uuid=receipt.uuid, winner=Winner.BOTH)
    before = standing(), states()
    with pytest.raises(ConflictError, match=str(override.uuid)) as refused:
        conflict_revert(access=access, uuid=again.uuid)
    assert refused.value.code == "changed_since"
    assert (standing(), states()) == before
    conflict_revert(access=access, uuid=override.uuid)
    conflict_revert(access=access, uuid=again.uuid)
    assert active() == {LISBON}


def test_a_decision_is_reverted_once_at_a_time(save: Save, access: Access) -> None:
    receipt = merged(save)
    again = conflict_revert(access=access, uuid=conflict_revert(access=access, uuid=receipt.uuid).uuid)
    last = conflict_revert(access=access, uuid=receipt.uuid)
    with pytest.raises(ConflictError, match=str(last.uuid)):
        conflict_revert(access=access, uuid=again.uuid)
    assert one_answer_in_force() == []


def one_answer_in_force() -> list[str]:
    """What is wrong: a receipt in force that has an answer in force, or two of them, or none although it is not."""
    receipts = list(Conflict.objects.order_by("id"))
    wrong = []
    for number, receipt in enumerate(receipts):
        answers = [one for one in receipts if one.about_id == receipt.pk]
        in_force = [one for one in answers if one.is_in_force]
        overridden = [one for one in answers if one.origin == "override" and one.state == "overridden"]
        if len(in_force) > (0 if receipt.is_in_force else 1):
            wrong.append(f"{number}: {receipt.state}, {len(in_force)} answers in force")
        if not receipt.is_in_force and not in_force and not overridden:
            wrong.append(f"{number}: {receipt.state}, no answer in force")
    return wrong


@pytest.mark.parametrize("decided", ["merged", "won_twice"])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 7), st.sampled_from([None, *Winner])), min_size=2, max_size=7))
def test_in_any_order_of_undoing_and_deciding_again_each_receipt_has_one_answer_at_most(
    decided: str, save: Save, access: Access, steps: list[tuple[int, Winner | None]]
) -> None:
    with undone():
        {"merged": merged, "won_twice": won_twice}[decided](save)
        for place, winner in steps:
            receipts = list(Conflict.objects.order_by("id"))
            uuid = receipts[place % len(receipts)].uuid
            with suppress(ConflictError):
                if winner is None:
                    conflict_revert(access=access, uuid=uuid)
                else:
                    conflict_override(access=access, uuid=uuid, winner=winner)
            assert one_answer_in_force() == []
            assert active()


@contextmanager
def undone() -> Iterator[None]:
    """Leave nothing behind."""
    point = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(point)
        index_cache().clear()
