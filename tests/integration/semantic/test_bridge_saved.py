"""Events of the timeline on their way to memories (spec 000, Episodic-Semantic Event Bridge: Saved event fan-out)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.events.models import Delivery
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.bridge import batch
from apps.semantic.bridge.ingest import MAX_TRIES, IngestEnd, events_ingest
from apps.semantic.bridge.policies import policy_delete, policy_update
from apps.semantic.memories import save
from apps.semantic.models import Conflict, Ingestion, Memory, RoutingPolicy
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_delete
from tests.api import Api
from tests.integration.semantic.bridge_support import (
    INGEST,
    NOON,
    active,
    ingestion,
    memory_of,
    policy,
    queued,
    saved,
    tell,
)

pytestmark = pytest.mark.django_db


def ingest(*events: Any) -> dict[str, int]:
    """Tell of events and save what waits; what came of it."""
    if events:
        tell(*events)
    return dict(events_ingest().outcomes)


# Saved event fan-out


def test_saved_event_fan_out(access: Access, api: Api) -> None:
    policy("promises", event_types=["promise"])
    wanted = saved("Ana promised to call the bank", household_id="home", persona_id="chef", importance=0.9)
    others = saved("Nobody needs this", importance=0.5), saved("Ana said hello", event_type="message")
    assert ingest(wanted, *others) == {"inserted": 1}
    found = memory_search(access, SearchQuery(scope=Scope("ana"), query="call the bank")).found
    [memory] = [one.memory for one in found]
    assert memory.scope == Scope("ana", "home", "chef")
    assert (memory.occurred_at, memory.importance) == (NOON, 0.9)
    shown = api.get(f"/api/semantic/memories/{memory.uuid}").json()
    assert shown["metadata"] == {
        "episodic_event_id": str(wanted.event_id),
        "episodic_event_type": "promise",
        "routing_policy": "promises",
    }
    history = api.get(f"/api/semantic/memories/{memory.uuid}/history").json()
    assert [(step["action"], step["actor"]) for step in history["results"]] == [("created", "bridge")]
    link = ingestion(wanted)
    assert (link.status, link.policy, link.action, link.memory) == ("linked", "promises", "inserted", memory)
    assert (link.scope, link.came_from_events, link.content) == (memory.scope, True, "")
    assert Ingestion.objects.count() == 1


def test_nothing_becomes_memory_until_operator_says_so() -> None:
    assert not RoutingPolicy.objects.filter(enabled=True).exists()
    assert ingest(saved(importance=1.0)) == {}
    assert not Ingestion.objects.exists()


def test_what_memory_becomes_is_said_by_policy() -> None:
    policy(memory_type="fact", decay_policy="stable", source="conversation", confidence=0.6)
    event = saved()
    ingest(event)
    memory = memory_of(event)
    assert (memory.type, memory.decay_policy, memory.source, memory.base_confidence) == (
        "fact",
        "stable",
        "conversation",
        0.6,
    )


def test_household_is_routed_by_its_own_policies() -> None:
    policy("everybody")
    policy("home", household_id="home", min_importance=0.2, memory_type="note")
    at_home, away = saved("at home", household_id="home", importance=0.3), saved("away", household_id="away")
    ingest(at_home, away, saved("not this", household_id="away", importance=0.3))
    assert [(memory_of(event).type, ingestion(event).policy) for event in (at_home, away)] == [
        ("note", "home"),
        ("event", "everybody"),
    ]
    assert active() == ["at home", "away"]


# The handler


def test_hearing_of_event_saves_no_memory_yet_and_takes_no_lock_of_writers() -> None:
    policy()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        tell(saved())
    assert not Memory.objects.exists()
    assert not [query for query in queries if "memoryshard" in query["sql"]]
    assert (Ingestion.objects.get().status, queued(INGEST)) == ("pending", 1)


def test_many_events_are_judged_by_one_look_at_policies_and_ask_for_one_task() -> None:
    policy()
    with CaptureQueriesContext(connection) as queries:
        tell(*(saved(f"event {n}") for n in range(150)))
    asked = [query["sql"] for query in queries if "semantic_routingpolicy" in query["sql"]]
    noted = [query["sql"] for query in queries if query["sql"].startswith('INSERT INTO "semantic_ingestion"')]
    assert (len(asked), len(noted)) == (1, 1)
    assert (Ingestion.objects.count(), queued(INGEST)) == (150, 1)


def test_events_that_no_policy_wants_leave_nothing() -> None:
    policy()
    tell(*(saved(f"event {n}", importance=0.1) for n in range(5)))
    assert (Ingestion.objects.count(), queued(INGEST)) == (0, 0)


def test_event_that_is_delivered_again_makes_nothing_again() -> None:
    policy()
    event = saved()
    tell(event, event)
    assert Ingestion.objects.count() == 1
    ingest()
    assert ingest(event) == {}
    assert active() == [event.content]


def test_event_whose_memory_was_deleted_does_not_bring_it_back_when_delivered_again(access: Access) -> None:
    policy()
    event = saved()
    ingest(event)
    memory_delete(access=access, uuid=memory_of(event).uuid)
    assert ingest(event) == {}
    assert active() == []


def test_event_whose_words_were_purged_on_way_is_let_go() -> None:
    policy()
    assert ingest(saved("")) == {}
    assert not Ingestion.objects.exists()
    assert not Delivery.objects.pending().exists()


# Judged again when saved


def test_policy_that_is_switched_off_meanwhile_makes_no_memory() -> None:
    row = policy()
    event = saved()
    tell(event)
    policy_update(pk=row.pk, settings={"enabled": False})
    assert ingest() == {"dropped": 1}
    dropped = ingestion(event)
    assert (dropped.status, dropped.error, dropped.content) == ("dropped", "unwanted", "")
    assert active() == []


def test_policy_that_is_deleted_meanwhile_makes_no_memory() -> None:
    row = policy()
    tell(saved())
    policy_delete(pk=row.pk)
    assert ingest() == {"dropped": 1}


def test_the_policy_as_it_is_by_then_counts() -> None:
    row = policy()
    event = saved()
    tell(event)
    policy_update(pk=row.pk, settings={"memory_type": "fact", "on_prune": "delete"})
    ingest()
    assert (memory_of(event).type, ingestion(event).on_prune) == ("fact", "delete")


# What saving makes of it


def test_event_that_says_what_is_remembered_already_is_linked_to_that(remember: Callable[..., Memory]) -> None:
    policy()
    known = remember("Ana promised to call the bank", type="event", occurred_at=NOON)
    event = saved("Ana promised to call the bank")
    assert ingest(event) == {"skipped": 1}
    link = ingestion(event)
    assert (link.memory, link.came_from_events) == (known, False)
    known.refresh_from_db()
    assert known.metadata == {}


def test_two_events_that_say_same_share_memory() -> None:
    policy()
    first, second, later = saved("the same"), saved("The same!"), saved("the  same")
    ingest(first, second)
    ingest(later)
    links = [ingestion(event) for event in (first, second, later)]
    assert len({link.memory for link in links}) == 1
    assert all(link.came_from_events for link in links)
    assert [link.action for link in links] == ["inserted", "skipped", "skipped"]


def test_same_content_in_another_scope_is_another_memory() -> None:
    policy()
    events = saved("tea"), saved("tea", persona_id="chef"), saved("tea", user_id="ben")
    assert ingest(*events) == {"inserted": 3}


def test_what_is_only_inferred_loses_to_what_was_said(remember: Callable[..., Memory]) -> None:
    policy()
    known = remember("Ana lives in Lisbon.", occurred_at=NOON)
    event = saved("Ana does not live in Lisbon.")
    assert ingest(event) == {"kept_existing": 1}
    link = ingestion(event)
    assert link.memory is not None
    assert (link.memory.status, link.memory.superseded_by, link.conflict) == (
        "superseded",
        known,
        Conflict.objects.get().uuid,
    )
    assert active() == ["Ana lives in Lisbon."]


def test_events_are_saved_in_order_of_their_arrival() -> None:
    policy(source="user")
    first, second = saved("Ana lives in Lisbon."), saved("Ana does not live in Lisbon.")
    ingest(first, second)
    assert active() == ["Ana does not live in Lisbon."]


# What cannot be saved


def test_event_that_can_be_no_memory_fails_alone_and_says_why() -> None:
    policy()
    bad, good = saved("\u200b\u200b"), saved("good")
    assert ingest(bad, good) == {"failed": 1, "inserted": 1}
    failed = ingestion(bad)
    assert (failed.status, failed.error) == ("failed", "content: blank")
    assert active() == ["good"]


def test_while_model_does_not_answer_events_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    policy()
    event = saved()
    tell(event)

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnavailableError("The embedding model does not answer.", code="embedding_unavailable")

    with monkeypatch.context() as patch:
        patch.setattr(batch, "save_prepare", refuse)
        for _ in range(MAX_TRIES + 1):
            assert events_ingest().ended is IngestEnd.UNAVAILABLE
    assert (ingestion(event).status, ingestion(event).tries) == ("pending", 0)
    assert ingest() == {"inserted": 1}


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> str:
    """Content over which saving stumbles, as it would over a mistake of ours."""
    real = save.save_write

    def stumble(*, prepared: Any, **options: Any) -> Any:
        if any("poison" in item.draft.content for item in prepared.items):
            raise ZeroDivisionError("about poison")
        return real(prepared=prepared, **options)

    monkeypatch.setattr(batch, "save_write", stumble)
    return "poison"


def test_event_that_breaks_saving_keeps_no_other_from_being_saved(poison: str) -> None:
    policy()
    bad = saved(poison)
    assert ingest(saved("first"), bad, saved("second")) == {"inserted": 2}
    assert active() == ["first", "second"]
    waiting = ingestion(bad)
    assert (waiting.status, waiting.tries) == ("pending", 2)
    assert "ZeroDivisionError" in waiting.error
    assert poison not in waiting.error


def test_event_that_fails_is_tried_later_and_given_up_in_end(poison: str) -> None:
    policy()
    bad = saved(poison)
    tell(bad)
    for tried in range(1, MAX_TRIES + 1):
        events_ingest()
        row = ingestion(bad)
        assert row.tries == tried
        assert events_ingest().outcomes == {}, "it is not due again at once"
        Ingestion.objects.update(next_try_at=NOON)
    assert row.status == "failed"
    assert row.content == poison, "so that it can be tried again once the cause is mended"


def test_event_in_which_workers_die_is_given_up() -> None:
    policy()
    event = saved()
    tell(event)
    Ingestion.objects.update(tries=MAX_TRIES)
    assert ingest() == {"failed": 1}
    assert ingestion(event).error == "worker_lost"


def test_what_lost_worker_had_in_hand_is_tried_one_by_one() -> None:
    policy()
    events = [saved(f"event {n}") for n in range(3)]
    tell(*events)
    Ingestion.objects.update(tries=1)
    assert ingest() == {"inserted": 3}
    assert [ingestion(event).tries for event in events] == [2, 2, 2]
