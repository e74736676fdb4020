"""What becomes of memories whose events are pruned (spec 000, Pruned event reconciliation)."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Scope
from apps.episodic.events import EventSaved, PruneReason
from apps.events.models import Delivery
from apps.events.services import emit
from apps.semantic.bridge.ingest import events_ingest
from apps.semantic.bridge.policies import policy_delete, policy_update
from apps.semantic.bridge.reconcile import links_reconcile
from apps.semantic.models import BridgeAudit, Ingestion, Memory
from apps.semantic.services import memories_purge, memory_delete, memory_reinforce, memory_restore
from tests.api import Api
from tests.integration.semantic.bridge_support import (
    NOON,
    RECONCILE,
    active,
    audited,
    deliver,
    ingestion,
    policy,
    prune,
    pruned,
    queued,
    remembered,
    saved,
    tell,
)

pytestmark = pytest.mark.django_db


# Pruned event reconciliation


def test_pruned_event_reconciliation(caplog: pytest.LogCaptureFixture, api: Api) -> None:
    policy()
    event = saved("Ana promised to call the bank", household_id="home", persona_id="chef")
    [memory] = remembered(event)
    with caplog.at_level(logging.INFO):
        assert prune(event, reason=PruneReason.MANUAL) == {"demoted": 1}
    memory.refresh_from_db()
    assert (memory.status, memory.importance, memory.base_confidence) == ("active", 0.45, 0.4)
    [step] = api.get(f"/api/semantic/memories/{memory.uuid}/history").json()["results"][1:]
    assert (step["action"], step["reason"], step["actor"]) == ("updated", "episodic_pruned", "bridge")
    assert step["changes"] == {"importance": [0.9, 0.45], "base_confidence": [0.8, 0.4]}
    record = BridgeAudit.objects.get()
    assert (record.action, record.why, record.memory, record.event_ids) == (
        "demoted",
        "policy",
        memory.uuid,
        [event.event_id],
    )
    assert (record.scope, record.policy) == (Scope("ana", "home", "chef"), "important")
    assert (record.reason, record.actor, record.changes) == ("manual", "timeline", step["changes"])
    assert f"audit {record.uuid}: demoted" in caplog.text
    assert "bank" not in caplog.text
    assert (ingestion(event).status, ingestion(event).memory) == ("pruned", None)


def test_policy_may_delete_memory_which_can_be_restored(access: Access, api: Api) -> None:
    policy(on_prune="delete")
    event = saved()
    [memory] = remembered(event)
    assert prune(event) == {"deleted": 1}
    assert active() == []
    last = api.get(f"/api/semantic/memories/{memory.uuid}/history").json()["results"][-1]
    assert (last["action"], last["reason"]) == ("deleted", "episodic_pruned")
    assert BridgeAudit.objects.get().changes == {"status": ["active", "deleted"]}
    memory_restore(access=access, uuid=memory.uuid)
    assert active() == [event.content]


def test_a_policy_may_keep_the_memory_as_it_is() -> None:
    policy(on_prune="keep")
    event = saved()
    [memory] = remembered(event)
    assert prune(event) == {"kept": 1}
    assert Memory.objects.get(pk=memory.pk).importance == memory.importance
    assert audited() == [("kept", "policy")]


# Whose


@pytest.mark.parametrize("scope", [{"user_id": "ben"}, {"household_id": "home"}, {"persona_id": "chef"}])
def test_memories_of_another_scope_are_left_alone(scope: dict[str, str]) -> None:
    policy(on_prune="delete")
    event = saved()
    remembered(event)
    assert prune(event, **scope) == {}
    assert active() == [event.content]
    assert (ingestion(event).status, audited()) == ("linked", [])


def test_events_that_made_no_memory_leave_no_trace() -> None:
    assert prune(saved(), saved()) == {}
    assert not Ingestion.objects.exists()
    assert audited() == []


# Which stay


def test_memory_that_was_there_before_is_never_touched(remember: Callable[..., Memory]) -> None:
    policy(on_prune="delete")
    known = remember("Ana promised to call the bank", importance=0.3, type="event", occurred_at=NOON)
    event = saved("Ana promised to call the bank")
    remembered(event)
    assert prune(event) == {"kept": 1}
    known.refresh_from_db()
    assert (known.status, known.importance) == ("active", 0.3)
    assert audited() == [("kept", "was_there_before")]


def test_memory_stays_until_last_of_its_events_is_gone() -> None:
    policy(on_prune="delete")
    first, second = saved("the same"), saved("The same!")
    remembered(first, second)
    prune(first)
    assert active() == ["the same"]
    prune(second)
    assert active() == []
    assert audited() == [("kept", "other_events"), ("deleted", "policy")]


def test_memory_whose_events_go_together_is_looked_at_once() -> None:
    policy(on_prune="delete")
    first, second = saved("the same"), saved("The same!")
    remembered(first, second)
    assert prune(first, second) == {"deleted": 1}
    assert sorted(BridgeAudit.objects.get().event_ids) == sorted([first.event_id, second.event_id])


def test_events_of_one_memory_that_were_pruned_for_different_reasons_are_recorded_apart() -> None:
    policy(on_prune="delete")
    first, second = saved("the same"), saved("The same!")
    remembered(first, second)
    tell(pruned(first), pruned(second, reason=PruneReason.MANUAL))
    assert links_reconcile() == {"deleted": 1}
    assert sorted(BridgeAudit.objects.values_list("reason", "event_ids")) == [
        ("manual", [second.event_id]),
        ("retention", [first.event_id]),
    ]


def test_memory_that_somebody_else_has_saved_since_stays(remember: Callable[..., Memory]) -> None:
    policy(on_prune="delete")
    event = saved("Ana promised to call the bank")
    [memory] = remembered(event)
    assert remember("Ana promised to call the bank", type="event") == memory
    assert prune(event) == {"kept": 1}
    assert active() == [event.content]
    assert audited() == [("kept", "saved_by_others")]


@pytest.mark.parametrize("on_prune", ["delete", "demote"])
@pytest.mark.parametrize("confidence", [0.8, 0.3])
def test_memory_that_user_saved_in_the_same_words_stays(
    remember: Callable[..., Memory], api: Api, on_prune: str, confidence: float
) -> None:
    policy(on_prune=on_prune)
    event = saved("Ana promised to call the bank")
    [memory] = remembered(event)
    for _ in range(2):
        known = {"type": "event", "confidence": confidence, "importance": memory.importance}
        same = remember("Ana promised to call the bank", **known)
        assert same.pk == memory.pk
    steps = api.get(f"/api/semantic/memories/{memory.uuid}/history").json()["results"]
    # The same confidence adds a detail of the user's and reinforces, less of it never does, which is noted once.
    done = [(step["action"], step["reason"]) for step in steps[1:]]
    reinforced = ("reinforced", "restated")
    known = [("updated", "restated"), reinforced, reinforced] if confidence == 0.8 else [("updated", "said_again")]
    assert done == known
    assert prune(event) == {"kept": 1}
    after = Memory.objects.get(pk=memory.pk)
    assert (after.status, after.importance, after.base_confidence) == ("active", 0.9, 0.8)
    assert audited() == [("kept", "saved_by_others")]


def test_memory_that_user_saved_stays_until_the_last_of_its_events_is_gone_and_after(
    remember: Callable[..., Memory],
) -> None:
    policy(on_prune="delete")
    first, second = saved("the same"), saved("The same!")
    remembered(first)
    remember("the same", type="event")
    remembered(second)
    assert [prune(first), prune(second)] == [{"kept": 1}, {"kept": 1}]
    assert active() == ["the same"]


@pytest.mark.parametrize("on_prune", ["delete", "demote"])
def test_what_user_saved_without_a_type_is_a_memory_of_its_own_and_stays(
    remember: Callable[..., Memory], on_prune: str
) -> None:
    policy(on_prune=on_prune)
    event = saved("Ana promised to call the bank")
    [memory] = remembered(event)
    own = remember("Ana promised to call the bank", confidence=0.8, importance=0.9)
    assert own.pk != memory.pk
    prune(event)
    own.refresh_from_db()
    assert (own.status, own.importance, own.base_confidence) == ("active", 0.9, 0.8)


def test_same_words_of_two_moments_are_two_memories_and_each_goes_with_its_event() -> None:
    policy(on_prune="delete")
    january, june = saved("Eva had a fever"), saved("Eva had a fever", timestamp=NOON + timedelta(days=150))
    first, second = remembered(january, june)
    assert {first.occurred_at, second.occurred_at} == {january.timestamp, june.timestamp}
    assert prune(january) == {"deleted": 1}
    assert Memory.objects.active().get().occurred_at == june.timestamp


def test_memory_that_user_reinforced_stays(access: Access) -> None:
    policy(on_prune="delete")
    event = saved()
    [memory] = remembered(event)
    Memory.objects.filter(pk=memory.pk).update(decay_policy="reinforceable")
    memory_reinforce(access=access, uuid=memory.uuid)
    assert prune(event) == {"kept": 1}
    assert active() == [event.content]


def test_bridge_that_says_the_same_again_is_nobody_who_keeps_it() -> None:
    policy(on_prune="delete")
    first, second = saved("the same"), saved("The same!")
    remembered(first)
    remembered(second)
    assert prune(first, second) == {"deleted": 1}


def test_memory_that_was_deleted_meanwhile_is_only_unlinked(access: Access) -> None:
    policy()
    event = saved()
    [memory] = remembered(event)
    memory_delete(access=access, uuid=memory.uuid)
    assert prune(event) == {"kept": 1}
    assert audited() == [("kept", "is_deleted")]


# Policies that have changed


def test_the_policy_as_it_is_now_decides() -> None:
    row = policy(on_prune="keep")
    event = saved()
    remembered(event)
    policy_update(pk=row.pk, settings={"on_prune": "delete"})
    assert prune(event) == {"deleted": 1}


def test_of_policy_that_is_gone_what_it_said_then_still_holds() -> None:
    row = policy(on_prune="delete")
    event = saved()
    remembered(event)
    policy_delete(pk=row.pk)
    assert prune(event) == {"deleted": 1}


# Events that had not become memories


def test_event_that_is_pruned_while_it_waits_becomes_no_memory() -> None:
    policy()
    event = saved()
    tell(event)
    tell(pruned(event))
    assert events_ingest().outcomes == {}
    gone = ingestion(event)
    assert (gone.status, gone.content, gone.pruned_reason) == ("pruned", "", "retention")
    assert audited() == [("dropped", "")]


def test_event_that_is_pruned_before_it_was_heard_of_becomes_no_memory() -> None:
    policy()
    event = saved()
    with not_delivered(event):
        tell(pruned(event))
    assert not Delivery.objects.pending().exists()
    assert events_ingest().outcomes == {}
    assert active() == []


@contextmanager
def not_delivered(event: EventSaved) -> Iterator[None]:
    """The delivery of a saved event waits for its next try."""
    with transaction.atomic():
        emit(event)
    Delivery.objects.update(next_attempt_at=utcnow(SYSTEM_CLOCK) + timedelta(hours=1), attempts=1)
    yield
    Delivery.objects.pending().update(next_attempt_at=NOON)
    deliver()


# Redelivery


def test_being_told_twice_changes_nothing_more() -> None:
    policy()
    event = saved()
    [memory] = remembered(event)
    prune(event)
    assert prune(event) == {}
    memory.refresh_from_db()
    assert (memory.importance, len(audited())) == (0.45, 1)


def test_hearing_of_pruned_events_changes_no_memory_yet_and_takes_no_lock_of_writers() -> None:
    policy(on_prune="delete")
    event = saved()
    remembered(event)
    with CaptureQueriesContext(connection) as queries:
        tell(pruned(event))
    assert not [query for query in queries if "memoryshard" in query["sql"]]
    assert active() == [event.content]
    assert (ingestion(event).status, queued(RECONCILE)) == ("unlinking", 1)


# Purging memories


def test_purging_memories_of_user_removes_what_bridge_holds_of_them(access: Access) -> None:
    policy()
    of_ana, of_ben, waiting = saved(household_id="home"), saved(user_id="ben"), saved("waiting")
    remembered(of_ana, of_ben)
    tell(waiting)
    assert memories_purge(access=access, scope=Scope("ana")) == 1
    assert list(Ingestion.objects.values_list("user_id", flat=True)) == ["ben"]


def test_purging_household_leaves_rest_of_user(access: Access) -> None:
    policy()
    at_home, elsewhere = saved(household_id="home"), saved(household_id="away")
    remembered(at_home, elsewhere)
    memories_purge(access=access, scope=Scope("ana", "home"))
    assert list(Ingestion.objects.values_list("event_id", flat=True)) == [elsewhere.event_id]
