"""What pruning does to memories that decisions were made about (spec 000, Pruned event reconciliation)."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from apps.core.domain.scope import Access, Scope
from apps.episodic.events import EventSaved
from apps.rules.services import rule_register
from apps.semantic.conflicts.review import Winner, conflict_override
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory, MemoryStatus
from apps.semantic.services import memory_delete, memory_save
from tests.integration.semantic.bridge_support import (
    NOON,
    active,
    audited,
    ingestion,
    memory_of,
    policy,
    prune,
    remembered,
    saved,
)

pytestmark = pytest.mark.django_db


def disagreeing(access: Access) -> tuple[Memory, EventSaved]:
    """What a person said, and an event that contradicts it, newer and believed as much."""
    draft = MemoryDraft("Ana lives in Lisbon.", scope=Scope("ana"), occurred_at=NOON - timedelta(days=1))
    known = memory_save(access=access, draft=draft).memory
    event = saved("Ana does not live in Lisbon.")
    remembered(event)
    return known, event


def test_what_deleted_memory_had_replaced_comes_back(access: Access) -> None:
    policy(source="user", on_prune="delete")
    known, event = disagreeing(access)
    assert active() == ["Ana does not live in Lisbon."]
    assert prune(event) == {"deleted": 1}
    known.refresh_from_db()
    assert (active(), known.status) == (["Ana lives in Lisbon."], "active")


def test_a_memory_that_has_lost_is_deleted_too(access: Access) -> None:
    policy(on_prune="delete")
    _, event = disagreeing(access)
    lost = memory_of(event)
    assert lost.status == "superseded"
    assert prune(event) == {"deleted": 1}
    lost.refresh_from_db()
    assert lost.status == "deleted"
    assert active() == ["Ana lives in Lisbon."]


def test_there_is_nothing_to_demote_about_memory_that_has_lost(access: Access) -> None:
    policy()
    _, event = disagreeing(access)
    assert prune(event) == {"kept": 1}
    assert audited() == [("kept", "not_standing")]


BREAD = "Ana bakes rye bread with caraway seeds every Sunday."
MORNING = "Ana bakes rye bread with caraway seeds every Sunday morning."


@pytest.fixture
def merging() -> None:
    """What says nearly the same and is believed as much is merged."""
    policy(source="user", min_importance=0.5, on_prune="delete")
    detection = {"keyword_threshold": 0.5, "restate_threshold": 0.5}
    undecided = {"priority_importance": False, "priority_recency": False, "priority_source": False}
    document = {"name": "merge", "priority": 5, "detection": detection, "arbitration": undecided}
    rule_register(document=document, actor="test")


def statuses() -> dict[str, str]:
    return dict(Memory.objects.values_list("content", "status"))


def test_event_that_was_merged_is_taken_out_of_what_was_said(merging: None, remember: Callable[..., Memory]) -> None:
    remember(BREAD, occurred_at=NOON)
    event = saved(MORNING, importance=0.5)
    remembered(event)
    assert (ingestion(event).action, statuses()[MORNING]) == ("merged", "merged")
    assert prune(event) == {"deleted": 1}
    assert active() == [BREAD]
    assert statuses()[MORNING] == "deleted"
    assert audited() == [("deleted", "policy")]


def test_what_was_merged_with_event_stands_by_itself_again(merging: None, remember: Callable[..., Memory]) -> None:
    event = saved(BREAD, importance=0.5)
    remembered(event)
    remember(MORNING, occurred_at=NOON)
    assert statuses()[BREAD] == "merged"
    assert prune(event) == {"deleted": 1}
    assert active() == [MORNING]
    assert statuses()[BREAD] == "deleted"


def test_what_somebody_deleted_does_not_come_back_when_one_part_of_it_goes(
    access: Access, merging: None, remember: Callable[..., Memory]
) -> None:
    remember(BREAD, occurred_at=NOON)
    event = saved(MORNING, importance=0.5)
    remembered(event)
    [result] = Memory.objects.active()
    memory_delete(access=access, uuid=result.uuid)
    assert prune(event) == {"deleted": 1}
    assert active() == []


def test_merge_that_was_merged_again_stays_and_record_says_why(merging: None, remember: Callable[..., Memory]) -> None:
    remember(BREAD, occurred_at=NOON)
    event = saved(MORNING, importance=0.5)
    remembered(event)
    remember("Ana bakes rye bread with caraway seeds every Sunday morning early.", occurred_at=NOON)
    assert statuses()[MORNING] == "merged"
    [result] = active()
    assert "early" in result
    assert prune(event) == {"kept": 1}
    assert active() == [result]
    assert audited() == [("kept", "changed_since")]


def test_links_are_kept_where_person_has_decided_since(access: Access) -> None:
    policy(source="user", on_prune="delete")
    known, event = disagreeing(access)
    conflict_override(access=access, uuid=Conflict.objects.get().uuid, winner=Winner.EXISTING)
    assert prune(event) == {"deleted": 1}
    known.refresh_from_db()
    assert (known.status, memory_status(event)) == ("active", "deleted")


def memory_status(event: EventSaved) -> MemoryStatus:
    return MemoryStatus(Memory.objects.get(metadata__episodic_event_id=str(event.event_id)).status)
