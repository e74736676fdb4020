"""Routing policies, routed events and audit records in the admin."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.html import escape
from django_q.models import OrmQ

from apps.audit.models import AuditEntry
from apps.semantic.bridge.policies import policy_create
from apps.semantic.models import AuditAction, BridgeAudit, Ingestion, Memory, RoutingPolicy
from tests.integration.admin import timeline
from tests.integration.admin.bridge import audited, routed
from tests.integration.admin.pages import address, run, text_of

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]


def fields(**changed: Any) -> dict[str, Any]:
    """The form of a policy, as a browser sends it."""
    return {
        "name": "promises", "household_id": "", "min_importance": "0.8", "event_types": "", "priority": "0",
        "memory_type": "event", "decay_policy": "reinforceable", "source": "inferred", "confidence": "0.8",
        "on_prune": "demote", **changed,
    }  # fmt: skip


def named(name: str) -> RoutingPolicy:
    return RoutingPolicy.objects.get(name=name)


# Policies


def test_new_policy_is_off_unless_it_is_switched_on(operator: Client) -> None:
    response = operator.post(address(RoutingPolicy, "add"), fields(event_types="promise\r\n decision \r\n\r\npromise"))
    assert response.status_code == 302, response.content.decode()
    made = named("promises")
    assert (made.enabled, made.event_types, made.min_importance) == (False, ["decision", "promise"], 0.8)


def test_a_policy_can_be_changed_but_for_its_name(operator: Client) -> None:
    made = policy_create(name="promises", settings={"event_types": ["promise"]})
    page = address(RoutingPolicy, "change", made.pk)
    assert ">promise</textarea>" in text_of(operator, page)
    changed = fields(name="other", enabled="on", min_importance="0.3", household_id="home", event_types="promise")
    response = operator.post(page, changed)
    assert response.status_code == 302, response.content.decode()
    made.refresh_from_db()
    assert (made.name, made.enabled, made.min_importance, made.household_id, made.event_types) == (
        "promises", True, 0.3, "home", ["promise"],
    )  # fmt: skip
    assert "event_types" not in AuditEntry.objects.latest("pk").detail["changes"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("min_importance", "1.5", "less than or equal to 1"),
        ("confidence", "much", "Enter a number"),
        ("event_types", "two words", "No event has the type"),
        ("on_prune", "burn", "Select a valid choice"),
        ("name", "", "This field is required"),
        ("household_id", "x" * 201, "at most 200 characters"),
    ],
)
def test_a_mistake_is_told_beside_its_field(operator: Client, field: str, value: str, told: str) -> None:
    response = operator.post(address(RoutingPolicy, "add"), fields(**{field: value}))
    assert response.status_code == 200
    assert escape(told) in response.content.decode()
    assert not RoutingPolicy.objects.filter(name="promises").exists()


def test_a_policy_can_be_deleted(operator: Client) -> None:
    made = policy_create(name="promises")
    operator.post(address(RoutingPolicy, "delete", made.pk), {"post": "yes"})
    assert not RoutingPolicy.objects.filter(name="promises").exists()


def test_the_list_says_what_each_policy_does(operator: Client) -> None:
    settings = {"event_types": [f"type{n}" for n in range(6)], "household_id": "home", "on_prune": "delete"}
    policy_create(name="promises", settings=settings)
    text = text_of(operator, address(RoutingPolicy, "changelist"))
    for told in ("the household home", "importance from 0.8", "type3 and 2 more", "event, reinforceable", "Delete"):
        assert told in text


def test_a_policy_leads_to_what_it_has_routed(operator: Client) -> None:
    made = policy_create(name="important & dear")
    routed(policy="important & dear")
    other = routed(policy="another")
    text = text_of(operator, address(RoutingPolicy, "change", made.pk))
    link = f"{address(Ingestion, 'changelist')}?policy=important+%26+dear"
    assert escape(link) in text
    found = text_of(operator, link)
    assert str(other.event_id) not in found
    assert "important &amp; dear" in found


def test_policy_says_what_it_would_want_before_it_is_switched_on(operator: Client) -> None:
    made = policy_create(name="promises", settings={"min_importance": 0.5, "event_types": ["promise"]})
    policy_create(name="home", settings={"household_id": "home", "min_importance": 1.0})
    page = address(RoutingPolicy, "change", made.pk)
    assert "no events were recorded yet" in text_of(operator, page)
    for fields in ({"importance": 0.5}, {"importance": 0.4}, {"event_type": "message"}, {"household_id": "home"}):
        timeline.event(**{"event_type": "promise", "importance": 0.9, **fields})
    assert "selects 1 of the last 4 events" in text_of(operator, page)


def test_who_may_only_look_changes_no_policy(staff: Callable[..., Client]) -> None:
    made = policy_create(name="promises")
    client = staff("view_routingpolicy")
    assert client.post(address(RoutingPolicy, "change", made.pk), fields(enabled="on")).status_code == 403
    made.refresh_from_db()
    assert not made.enabled


# Routed events


def test_words_of_event_that_waits_are_on_no_page(operator: Client) -> None:
    row = routed()
    for page in (address(Ingestion, "changelist"), address(Ingestion, "change", row.pk)):
        text = text_of(operator, page)
        assert str(row.event_id) in text
        assert row.content not in text


def test_a_routed_event_leads_to_its_memory(operator: Client, remember: Remember) -> None:
    memory = remember("Ana promised to call the bank")
    row = routed(status="linked", memory=memory, action="inserted", content="", came_from_events=True)
    text = text_of(operator, address(Ingestion, "change", row.pk))
    assert address(Memory, "change", memory.pk) in text
    assert "came from events" in text


def test_routed_events_are_found_by_id_of_event_or_of_memory(operator: Client, remember: Remember) -> None:
    memory = remember("tea")
    linked, waiting = routed(status="linked", memory=memory, content=""), routed()
    page = address(Ingestion, "changelist")
    for term, found, missing in (
        (linked.event_id, linked, waiting),
        (waiting.event_id, waiting, linked),
        (memory.uuid, linked, waiting),
    ):
        text = text_of(operator, page, q=str(term))
        assert address(Ingestion, "change", found.pk) in text
        assert address(Ingestion, "change", missing.pk) not in text
    assert "Nothing matches" in text_of(operator, page, q="no id")


def test_what_failed_can_be_tried_again(operator: Client) -> None:
    failed, waiting = routed(status="failed", tries=5, error="content: max_length"), routed()
    response = run(operator, "retry", [failed, waiting])
    assert "1 event will be retried." in response.content.decode()
    failed.refresh_from_db()
    assert (failed.status, failed.tries) == ("pending", 0)
    assert [task.task["func"] for task in OrmQ.objects.all()] == ["apps.semantic.tasks.ingest_events"]


def test_who_may_only_look_tries_nothing_again(staff: Callable[..., Client]) -> None:
    failed = routed(status="failed")
    run(staff("view_ingestion"), "retry", [failed])
    failed.refresh_from_db()
    assert failed.status == "failed"


def test_list_of_routed_events_takes_same_number_of_queries_for_more_rows(
    operator: Client, remember: Remember, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        routed(status="linked", memory=remember(f"Fact {number}"), content="")
    text_of(operator, address(Ingestion, "changelist"))
    with django_assert_max_num_queries(10):
        text_of(operator, address(Ingestion, "changelist"))


# Audit records


def test_audit_record_says_what_was_done_to_which_memory_and_why(operator: Client, remember: Remember) -> None:
    memory = remember("Ana promised to call the bank")
    record = audited(memory=memory.uuid, why="policy", changes={"importance": [0.9, 0.45]})
    text = text_of(operator, address(BridgeAudit, "change", record.pk))
    for told in (
        "Demoted", "its policy says so", "importance: 0.9 → 0.45", str(record.event_ids[0]), "Retention", "timeline",
        address(Memory, "change", memory.pk),
    ):  # fmt: skip
        assert told in text
    assert memory.content not in text


def test_an_audit_record_outlives_its_memory(operator: Client) -> None:
    gone = uuid4()
    record = audited(AuditAction.KEPT, memory=gone, why="other_events")
    assert str(gone) in text_of(operator, address(BridgeAudit, "change", record.pk))


def test_audit_records_are_found_by_id_of_memory(operator: Client) -> None:
    one, other = audited(memory=uuid4()), audited(memory=uuid4())
    text = text_of(operator, address(BridgeAudit, "changelist"), q=str(one.memory))
    assert address(BridgeAudit, "change", one.pk) in text
    assert address(BridgeAudit, "change", other.pk) not in text


def test_nobody_changes_or_deletes_audit_record(operator: Client) -> None:
    record = audited()
    assert operator.post(address(BridgeAudit, "change", record.pk), {"actor": "nobody"}).status_code == 403
    assert operator.post(address(BridgeAudit, "delete", record.pk), {"post": "yes"}).status_code == 403
    assert BridgeAudit.objects.get().actor == "timeline"
