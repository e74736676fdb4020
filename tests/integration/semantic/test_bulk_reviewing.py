"""Reverting many decisions at once (DESIGN D3)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django_q.models import OrmQ, Task
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Permission, Scope
from apps.rules.services import rule_register, rule_update
from apps.semantic import tasks
from apps.semantic.conflicts.bulk_revert import (
    TASK,
    RevertStatus,
    Selection,
    conflicts_revert,
    decisions_in,
    enqueue_revert,
    run_status,
)
from apps.semantic.conflicts.queue import decided_rules, open_conflicts
from apps.semantic.conflicts.review import Winner, conflict_accept, conflict_override, conflict_revert
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_delete, memory_save

LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
DEFAULT = Selection(rule_name="default")

database = pytest.mark.django_db
Decide = Callable[..., Conflict]
moments = st.none() | st.datetimes(timezones=st.just(UTC), max_value=datetime(2100, 1, 1))  # noqa: DTZ001


@pytest.fixture
def decide(access: Access) -> Decide:
    """Save two memories that disagree; gives the receipt."""

    def save(user: str = "ana", first: str = LISBON, second: str = NOT_LISBON, **fields: Any) -> Conflict:
        for content in (first, second):
            draft = MemoryDraft(content, scope=Scope(user), **fields)
            result = memory_save(access=access, draft=draft)
        return Conflict.objects.get(uuid=result.conflict)

    return save


def active(user: str = "ana") -> list[str]:
    return list(Memory.objects.active().filter(user_id=user).order_by("id").values_list("content", flat=True))


def state_of(receipt: Conflict) -> str:
    receipt.refresh_from_db()
    return receipt.state


@database
def test_the_decisions_of_a_rule_are_reverted(decide: Decide, access: Access) -> None:
    decide("ana")
    decide("ben")
    done = conflicts_revert(access=access, selection=DEFAULT)
    assert (done.reverted, done.refused, done.below) == (2, (), None)
    assert (active("ana"), active("ben")) == ([LISBON], [LISBON])


@database
def test_a_chain_of_decisions_unwinds(decide: Decide, access: Access) -> None:
    first = decide()
    second = memory_save(access=access, draft=MemoryDraft("Ana lives in Lisbon!!", scope=Scope("ana"), importance=0.9))
    assert second.conflict is not None
    assert conflicts_revert(access=access, selection=DEFAULT).reverted == 2
    assert active() == [LISBON]
    assert state_of(first) == "reverted"


@database
def test_only_named_version_of_rule_is_reverted(decide: Decide, access: Access) -> None:
    rule_register(document={"name": "own"}, actor="test")
    before = decide("ana")
    rule_update(name="own", changes={"description": "changed"}, actor="test")
    after = decide("ben")
    assert before.rule_name == after.rule_name == "own"
    selection = Selection(rule_name="own", rule_version=after.rule_version)
    assert conflicts_revert(access=access, selection=selection).reverted == 1
    assert (state_of(before), state_of(after)) == ("open", "reverted")


@database
def test_only_what_was_decided_in_span_is_reverted(decide: Decide, access: Access) -> None:
    early, late = decide("ana"), decide("ben")
    assert conflicts_revert(access=access, selection=Selection(since=late.at)).reverted == 1
    assert (state_of(early), state_of(late)) == ("open", "reverted")
    assert conflicts_revert(access=access, selection=Selection(until=early.at)).reverted == 0


@database
def test_only_the_named_user_is_touched(decide: Decide, access: Access) -> None:
    ana, ben = decide("ana"), decide("ben")
    conflicts_revert(access=access, selection=Selection(rule_name="default", scope=Scope("ben")))
    assert (state_of(ana), state_of(ben)) == ("open", "reverted")


@database
def test_a_key_reaches_nothing_outside_its_bound(decide: Decide) -> None:
    ana = decide("ana")
    ben = Access(Scope("ben"), Permission.WRITE, "key:ben")
    assert conflicts_revert(access=ben, selection=DEFAULT).reverted == 0
    assert state_of(ana) == "open"


@database
def test_what_cannot_be_reverted_is_named_with_reason_and_rest_goes_on(decide: Decide, access: Access) -> None:
    stuck, other = decide("ana"), decide("ben")
    memory_delete(access=access, uuid=stuck.existing.uuid)
    done = conflicts_revert(access=access, selection=DEFAULT)
    assert done.reverted == 1
    [(refused, reason)] = done.refused
    assert refused == stuck.uuid
    assert "restore it first" in reason
    assert (state_of(stuck), state_of(other)) == ("open", "reverted")


@database
def test_what_people_decided_stays(decide: Decide, access: Access) -> None:
    receipt = decide()
    answer = conflict_override(access=access, uuid=receipt.uuid, winner=Winner.BOTH)
    assert conflicts_revert(access=access, selection=DEFAULT).reverted == 0
    assert state_of(answer) == "accepted"


@database
def test_doing_it_again_does_not_undo_the_undoing(decide: Decide, access: Access) -> None:
    decide()
    span = Selection(since=datetime.now(UTC) - timedelta(days=1))
    assert conflicts_revert(access=access, selection=span).reverted == 1
    assert conflicts_revert(access=access, selection=span).reverted == 0
    assert active() == [LISBON]


@database
def test_what_was_only_noticed_is_not_counted(decide: Decide, access: Access) -> None:
    receipt = decide(first="Ana spent $12 on postcards.", second="Ana spent $15 on postcards.")
    assert receipt.outcome == "noticed"
    assert decisions_in(access, DEFAULT).count() == 0


@database
def test_accepted_decisions_can_be_left_alone(decide: Decide, access: Access) -> None:
    receipt = decide()
    conflict_accept(access=access, uuid=receipt.uuid)
    unseen = Selection(rule_name="default", with_accepted=False)
    assert decisions_in(access, unseen).count() == 0
    assert decisions_in(access, DEFAULT).count() == 1


@database
def test_what_was_decided_after_last_one_meant_is_left_alone(decide: Decide, access: Access) -> None:
    seen, later = decide("ana"), decide("ben")
    conflicts_revert(access=access, selection=Selection(rule_name="default", last=seen.pk))
    assert (state_of(seen), state_of(later)) == ("reverted", "open")


@database
def test_call_ends_at_its_limit_and_says_where_to_go_on(decide: Decide, access: Access) -> None:
    stuck = decide("eve")
    memory_delete(access=access, uuid=stuck.existing.uuid)
    receipts = [stuck, *(decide(user) for user in ("ana", "ben", "cleo"))]
    first = conflicts_revert(access=access, selection=DEFAULT, limit=2)
    assert (first.reverted, first.below) == (2, receipts[2].pk)
    second = conflicts_revert(access=access, selection=DEFAULT, limit=2, below=first.below)
    assert (second.reverted, len(second.refused)) == (1, 1)
    assert conflicts_revert(access=access, selection=DEFAULT, limit=2, below=second.below).below is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"scope": Scope("ana")},
        {"rule_version": 3, "since": datetime(2030, 1, 1, tzinfo=UTC)},
        {"since": datetime(2030, 1, 1, tzinfo=UTC), "until": datetime(2030, 1, 1, tzinfo=UTC)},
    ],
)
def test_selection_of_everything_or_nothing_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Selection(**fields)


@given(
    since=moments,
    user=st.none() | st.text(min_size=1),
    version=st.none() | st.integers(0, 1 << 40),
    accepted=st.booleans(),
)
def test_selection_survives_way_through_task(
    since: datetime | None, user: str | None, version: int | None, accepted: bool
) -> None:
    selection = Selection(
        rule_name="own", rule_version=version, since=since, scope=Scope(user_id=user), with_accepted=accepted, last=7
    )
    assert Selection.from_json(selection.as_json()) == selection


# In the background


def keep_result(run: UUID, result: Any, *, success: bool = True) -> None:
    """What django-q2 writes down when a task is done."""
    now = datetime.now(UTC)
    group = f"revert {run}"
    Task.objects.create(
        id=uuid4().hex, name="part", func=TASK, group=group, started=now, stopped=now, success=success, result=result
    )


@database
def test_background_run_is_queued_with_plain_values(access: Access) -> None:
    run = enqueue_revert(selection=DEFAULT, actor="admin:operator")
    task = OrmQ.objects.get().task
    assert task["func"] == TASK
    assert task["kwargs"] == {
        "selection": {"rule_name": "default", "with_accepted": True},
        "actor": "admin:operator",
        "run": str(run),
        "below": None,
    }


@database
def test_part_asks_for_next_one_until_end(decide: Decide, access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("ana", "ben", "cleo"):
        decide(user)
    OrmQ.objects.all().delete()
    run = str(uuid4())
    monkeypatch.setattr("apps.semantic.conflicts.bulk_revert.MAX_REVERTS", 2)
    first = tasks.revert_conflicts(selection=DEFAULT.as_json(), actor="test", run=run, below=None)
    assert (first["reverted"], first["finished"]) == (2, False)
    payload = next(task.task["kwargs"] for task in OrmQ.objects.all() if task.task["func"] == TASK)
    last = tasks.revert_conflicts(**payload)
    assert (last["reverted"], last["finished"]) == (1, True)
    assert active("cleo") == [LISBON]


@database
def test_a_run_tells_what_came_of_its_parts() -> None:
    run = uuid4()
    keep_result(run, {"reverted": 500, "refused": 1, "reasons": [("id", "why")], "finished": False})
    keep_result(run, {"reverted": 20, "refused": 0, "reasons": [], "finished": True})
    keep_result(uuid4(), {"reverted": 9, "refused": 9, "reasons": [], "finished": True})
    assert run_status(run) == RevertStatus(520, 1, (("id", "why"),), finished=True)


@database
def test_a_part_that_failed_is_told() -> None:
    run = uuid4()
    keep_result(run, "Traceback", success=False)
    assert run_status(run) == RevertStatus(failed=True)


# Counts


@database
def test_rules_with_receipts_are_listed_once_for_each_version(decide: Decide) -> None:
    rule_register(document={"name": "own"}, actor="test")
    old = decide("ana").rule_version
    decide("ben")
    rule_update(name="own", changes={"description": "changed"}, actor="test")
    new = decide("cleo").rule_version
    assert decided_rules() == [("own", new), ("own", old)]


@database
def test_without_receipts_no_rule_is_listed() -> None:
    assert decided_rules() == []


@database
def test_open_receipts_are_counted_up_to_a_bound(decide: Decide, access: Access) -> None:
    receipt = decide("ana")
    decide("ben")
    assert (open_conflicts(access), open_conflicts(access, at_most=1)) == (2, 1)
    conflict_revert(access=access, uuid=receipt.uuid)
    assert open_conflicts(access) == 1
