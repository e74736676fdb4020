"""Whatever is saved, deleted, decided and undone in whatever order: nothing vanishes, and undoing is exact (D3)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope, system_access
from apps.rules.services import rule_register
from apps.semantic.conflicts.review import Winner
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import index_cache
from apps.semantic.memories.writer import ALREADY_DECIDED, SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import (
    conflict_accept,
    conflict_override,
    conflict_revert,
    memory_delete,
    memory_restore,
    memory_save_many,
)
from tests.effort import examples

pytestmark = pytest.mark.django_db

SYSTEM = system_access("test")
AUDIT = {"updated_at", "version"}
THEN = datetime(2026, 3, 1, tzinfo=UTC)
Rows = dict[int, dict[str, Any]]

SCOPES = [Scope("ana"), Scope("ana"), Scope("ana", "home"), Scope("ben", None, "coach")]
TEXTS = [
    "Ana lives in Lisbon.",
    "ana lives in Lisbon!",
    "Ana lives in Lisbon now.",
    "Ana does not live in Lisbon.",
    "Ana doesn't live in Lisbon any more.",
    "Ana bakes rye bread with caraway seeds every Sunday.",
    "Ana bakes rye bread with caraway seeds every Sunday morning.",
    "Ana never bakes rye bread with caraway seeds.",
    "Ana owns 12 postcards.",
    "Ana owns 15 postcards.",
    "The parcel from Porto arrived on 3 May.",
]
LOOSE = {"keyword_threshold": 0.4, "restate_threshold": 0.4, "act_threshold": 0.5}
UNDATED = {"priority_recency": False, "priority_source": False}
RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "merging": {"detection": LOOSE, "arbitration": {**UNDATED, "merge_contradictions": True}},
    "pasting": {
        "detection": LOOSE,
        "arbitration": {**UNDATED, "act_on_weak_evidence": True, "merge_contradictions": True, "merge_threshold": 1},
        "merge": {"content_strategy": "concatenate", "deduplicate": False},
    },
    "rejecting": {"detection": LOOSE, "arbitration": {**UNDATED, "allow_merge": False, "default_strategy": "reject"}},
    "keeping": {
        "detection": LOOSE,
        "arbitration": {**UNDATED, "allow_merge": False, "default_strategy": "keep-existing"},
    },
    "weighing": {"detection": LOOSE, "arbitration": {"priority_importance": True}},
}

drafts = st.builds(
    MemoryDraft,
    st.sampled_from(TEXTS),
    scope=st.sampled_from(SCOPES),
    importance=st.sampled_from([None, None, 0.0, 0.3, 1.0]),
    confidence=st.sampled_from([None, 0.4, 0.8]),
    keywords=st.sampled_from([(), ("home",), ("bread", "Home")]),
    source=st.sampled_from([None, "inferred"]),
    session_id=st.sampled_from(["", "s1", "s2"]),
    context=st.sampled_from(["", "at home", "with Ben\nat home"]),
    metadata=st.sampled_from([{}, {"a": 1}, {"a": {"b": [1]}}, {"a": {"b": [2], "c": 3}, "d": 4}]),
    occurred_at=st.none() | st.integers(-3, 3).map(lambda days: THEN + timedelta(days=days)),
)


def rows() -> Rows:
    """Every memory byte for byte, but for the audit's own columns."""
    found = Memory.objects.order_by("id").values()
    return {row["id"]: {name: value for name, value in row.items() if name not in AUDIT} for row in found}


def set_rule(name: str, number: int) -> None:
    """Let one of the rules decide from now on."""
    rule_register(document={"name": f"{name} {number}", "priority": number, **RULES[name]}, actor="test")


def save(items: Sequence[MemoryDraft]) -> list[Conflict]:
    """Save in one call; gives the receipts of what was decided now, and not those of what was decided before."""
    results = [result for result in memory_save_many(access=SYSTEM, drafts=items) if isinstance(result, SaveResult)]
    assert len(results) == len(items)
    uuids = [result.conflict for result in results if result.conflict and result.reason != ALREADY_DECIDED]
    return [Conflict.objects.get(uuid=uuid) for uuid in uuids]


def attempt(step: Callable[[], Conflict]) -> Conflict | None:
    """The receipt of a step; None when it was refused, which must change nothing and say why."""
    before, receipts = rows(), Conflict.objects.count()
    try:
        return step()
    except ConflictError:
        assert (rows(), Conflict.objects.count()) == (before, receipts)
        return None


def assert_undone(before: Rows, after: Rows) -> None:
    """Every row that there was is as it was, and every other is soft-deleted."""
    assert {pk: row for pk, row in after.items() if pk in before} == before
    assert {row["status"] for pk, row in after.items() if pk not in before} <= {"deleted"}


def assert_can_be_undone(before: Rows, receipt: Conflict) -> None:
    """Reverting a decision just made is exact, and so is reverting that."""
    decided = rows()
    answer = conflict_revert(access=SYSTEM, uuid=receipt.uuid)
    assert_undone(before, rows())
    conflict_revert(access=SYSTEM, uuid=answer.uuid)
    assert rows() == decided
    receipt.refresh_from_db()
    assert receipt.is_in_force


class Deciding(RuleBasedStateMachine):
    """A hub of two people, several scopes, several rules, and somebody who reviews."""

    def __init__(self) -> None:
        super().__init__()
        index_cache().clear()
        self._atomic = transaction.atomic()
        self._atomic.__enter__()
        self._numbers = count(1)
        self._known = 0
        self._restored: set[int] = set()

    def teardown(self) -> None:
        connection.check_constraints()
        transaction.set_rollback(True)
        self._atomic.__exit__(None, None, None)

    @rule(name=st.sampled_from(sorted(RULES)))
    def change_the_rule(self, name: str) -> None:
        set_rule(name, next(self._numbers))

    @rule(items=st.lists(drafts, min_size=2, max_size=6))
    def save_a_batch(self, items: list[MemoryDraft]) -> None:
        save(items)

    @rule(item=drafts)
    def save_one_and_undo(self, item: MemoryDraft) -> None:
        before = rows()
        for receipt in save([item]):
            if receipt.outcome != "noticed":
                assert_can_be_undone(before, receipt)

    @precondition(lambda self: Conflict.objects.exists())
    @rule(data=st.data(), winner=st.sampled_from(Winner))
    def override(self, data: st.DataObject, winner: Winner) -> None:
        receipt, before = self._some_receipt(data), rows()
        answer = attempt(lambda: conflict_override(access=SYSTEM, uuid=receipt.uuid, winner=winner))
        if answer is not None:
            assert_can_be_undone(before, answer)

    @precondition(lambda self: Conflict.objects.exists())
    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        receipt = self._some_receipt(data)
        attempt(lambda: conflict_revert(access=SYSTEM, uuid=receipt.uuid))

    @precondition(lambda self: Conflict.objects.exists())
    @rule(data=st.data())
    def accept(self, data: st.DataObject) -> None:
        receipt = self._some_receipt(data)
        attempt(lambda: conflict_accept(access=SYSTEM, uuid=receipt.uuid))

    @precondition(lambda self: Memory.objects.exclude(status="deleted").exists())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        memory = data.draw(st.sampled_from(list(Memory.objects.exclude(status="deleted").order_by("id"))))
        memory_delete(access=SYSTEM, uuid=memory.uuid)

    @precondition(lambda self: Memory.objects.filter(status="deleted").exists())
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        memory = data.draw(st.sampled_from(list(Memory.objects.filter(status="deleted").order_by("id"))))
        with suppress(ConflictError):  # the same content was saved again since
            memory_restore(access=SYSTEM, uuid=memory.uuid)
            self._restored.add(memory.pk)

    @invariant()
    def nothing_ever_vanishes(self) -> None:
        number = Memory.objects.count()
        assert number >= self._known
        self._known = number

    @invariant()
    def who_does_not_stand_is_explained_by_a_receipt_in_force(self) -> None:
        told = {
            (step["memory"], step["after"]["status"], step["after"]["superseded_by"])
            for receipt in Conflict.objects.filter(state__in=["open", "accepted"])
            for step in receipt.transitions
        }
        # What somebody deleted and restored stands where it stood, even when the decision was undone meanwhile.
        left = Memory.objects.exclude(status__in=["active", "deleted"]).exclude(pk__in=self._restored)
        for memory in left.select_related("superseded_by"):
            by = memory.superseded_by
            assert by is not None
            assert (str(memory.uuid), memory.status, str(by.uuid)) in told

    @invariant()
    def who_stands_stands_behind_nobody(self) -> None:
        assert not Memory.objects.active().exclude(superseded_by=None).exists()

    @invariant()
    def every_memory_has_its_vector(self) -> None:
        assert not Memory.objects.filter(embeddings=None).exists()

    def _some_receipt(self, data: st.DataObject) -> Conflict:
        receipts = list(Conflict.objects.order_by("-id"))
        receipt: Conflict = data.draw(st.sampled_from(receipts))
        return receipt


def test_nothing_vanishes_and_every_step_can_be_undone_in_any_story() -> None:
    chosen = settings(
        max_examples=examples(8),
        stateful_step_count=15,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    run_state_machine_as_test(Deciding, settings=chosen)


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(RULES)), batches=st.lists(st.lists(drafts, min_size=1, max_size=5), max_size=6))
def test_undoing_all_decisions_newest_first_leaves_what_was_saved_without_any(
    name: str, batches: list[list[MemoryDraft]]
) -> None:
    index_cache().clear()
    with transaction.atomic():
        set_rule(name, 1)
        made = [receipt for items in batches for receipt in save(items) if receipt.outcome != "noticed"]
        brought = {step["memory"] for receipt in made for step in receipt.transitions if step["before"] is None}
        refused = [
            receipt
            for receipt in reversed(made)
            if attempt(lambda r=receipt: conflict_revert(access=SYSTEM, uuid=r.uuid)) is None
        ]
        if not refused:
            for memory in Memory.objects.all():
                assert memory.status == ("deleted" if str(memory.uuid) in brought else "active")
                assert str(memory.uuid) in brought or (memory.superseded_by, memory.status_changed_at) == (None, None)
        transaction.set_rollback(True)
