"""All that a key learnt of a person is forgotten: memories as a whole and back, events for good, nothing of others."""

from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.selectors import actors_of
from apps.core.services import key_create, key_update
from apps.episodic.models import TimelineEvent
from apps.episodic.services import events_written
from apps.people import learnt
from apps.people.learnt import access_of
from apps.people.models import AppForgetting, ForgettingState
from apps.people.services import forgettings_continue, learnt_counts, learnt_forget, learnt_restore
from apps.semantic.models import Memory, MemoryRevision
from apps.semantic.services import memory_reinforce
from tests.api import MEMORIES, Api
from tests.integration.episodic.timeline import Timeline

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]

ANA, BEN = "ana", "ben"
EVENTS = "/api/episodic/events"


def made(name: str) -> tuple[ApiKey, Api]:
    key, secret = key_create(name=name, scope=Scope(), permission=Permission.WRITE, actor="test")
    return key, Api(secret)


def saw(api: Api, content: str, user: str = ANA) -> None:
    event = {"user_id": user, "event_type": "said", "content": content, "timestamp": "2026-03-05T12:00:00Z"}
    assert api.post(EVENTS, event).status_code == 201


def active(user: str = ANA) -> set[str]:
    return set(Memory.objects.filter(user_id=user, status="active").values_list("content", flat=True))


def forgotten(key: ApiKey) -> AppForgetting:
    """Forget all that a key learnt, to the end."""
    record = learnt_forget(user_id=ANA, key=key)
    forgettings_continue()
    record.refresh_from_db()
    assert record.state == ForgettingState.FORGOTTEN
    return record


def test_only_what_the_key_learnt_of_the_person_is_forgotten() -> None:
    (key, kitchen), (_, garden) = made("kitchen"), made("garden")
    for api, user, content in ((kitchen, ANA, "tea"), (kitchen, BEN, "coffee"), (garden, ANA, "roses")):
        api.save(f"likes {content}", user_id=user)
    assert learnt_counts(access_of(ANA), ANA, actors_of(key)).memories == 1
    record = forgotten(key)
    assert (active(), active(BEN)) == ({"likes roses"}, {"likes coffee"})
    assert (len(record.forgotten), record.events, record.kept) == (1, 0, 0)
    step = MemoryRevision.objects.filter(memory__content="likes tea").last()
    assert step is not None
    assert (step.action, step.actor) == ("deleted", "person:ana")


def test_one_undo_brings_all_memories_back() -> None:
    key, kitchen = made("kitchen")
    for content in ("tea", "milk", "bread"):
        kitchen.save(f"likes {content}", user_id=ANA)
    before = active()
    record = forgotten(key)
    assert active() == set()
    record = learnt_restore(user_id=ANA, uuid=record.uuid)
    assert (active(), record.state, record.restored, record.left) == (before, "restored", 3, 0)
    with pytest.raises(ConflictError):
        learnt_restore(user_id=ANA, uuid=record.uuid)
    with pytest.raises(NotFoundError):
        learnt_restore(user_id=BEN, uuid=record.uuid)


def test_what_was_learnt_again_since_does_not_come_back_twice() -> None:
    key, kitchen = made("kitchen")
    for content in ("tea", "milk"):
        kitchen.save(f"likes {content}", user_id=ANA)
    record = forgotten(key)
    made("garden")[1].save("likes tea", user_id=ANA)
    record = learnt_restore(user_id=ANA, uuid=record.uuid)
    assert (active(), record.restored, record.left) == ({"likes tea", "likes milk"}, 1, 1)


def test_what_others_confirmed_stays() -> None:
    (key, kitchen), (_, garden) = made("kitchen"), made("garden")
    saved: dict[str, Any] = {
        name: kitchen.save(f"likes {name}", user_id=ANA, decay_policy="reinforceable")["id"]
        for name in ("tea", "milk", "bread", "salt")
    }
    memory_reinforce(access=access_of(ANA), uuid=saved["tea"])
    assert garden.patch(f"{MEMORIES}/{saved['milk']}", {"importance": 0.9}).status_code == 200
    assert kitchen.post(f"{MEMORIES}/{saved['bread']}/reinforce").status_code == 200
    counts = learnt_counts(access_of(ANA), ANA, actors_of(key))
    assert (counts.memories, counts.confirmed) == (2, 2)
    record = forgotten(key)
    assert (active(), record.kept) == ({"likes tea", "likes milk"}, 2)


def test_its_events_go_from_rows_and_from_the_archive() -> None:
    (key, kitchen), (_, garden) = made("kitchen"), made("garden")
    for api in (kitchen, garden):
        saw(api, f"archived {api is kitchen}")
    saw(kitchen, "archived", BEN)
    Timeline().archive()
    for api in (kitchen, garden):
        saw(api, f"a row {api is kitchen}")
    assert learnt_counts(access_of(ANA), ANA, actors_of(key)).events == 2
    record = forgotten(key)
    assert (record.events, record.problem) == (2, "")
    left = [event["content"] for event in garden.get(EVENTS).json()["results"]]
    assert sorted(left) == ["a row False", "archived", "archived False"]
    assert not TimelineEvent.objects.filter(actor="key:kitchen", user_id=ANA).exists()
    assert list(events_written(access_of(ANA), ANA, ["key:kitchen"])) == []
    assert len(list(events_written(access_of(ANA), ANA, ["key:garden"]))) == 2


@pytest.mark.parametrize("archived", [False, True])
def test_what_it_recorded_after_the_request_stays(archived: bool) -> None:
    key, kitchen = made("kitchen")
    saw(kitchen, "before")
    record = learnt_forget(user_id=ANA, key=key)
    saw(kitchen, "after")
    TimelineEvent.objects.filter(content="after").update(recorded_at=record.until + timedelta(milliseconds=1))
    if archived:
        Timeline().archive()
    assert forgettings_continue() == 1
    assert [event.content for event in events_written(access_of(ANA), ANA, ["key:kitchen"])] == ["after"]


def test_a_key_is_known_by_the_names_that_it_had() -> None:
    key, kitchen = made("kitchen")
    kitchen.save("likes tea", user_id=ANA)
    key = key_update(uuid=key.uuid, changes={"name": "hall"})
    kitchen.save("likes milk", user_id=ANA)
    assert learnt_counts(access_of(ANA), ANA, actors_of(key)).memories == 2


def test_many_are_forgotten_in_the_background_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "FEW", 1)
    monkeypatch.setattr(learnt, "CHUNK", 2)
    key, kitchen = made("kitchen")
    for number in range(5):
        kitchen.save(f"likes number {number}", user_id=ANA)
    record = learnt_forget(user_id=ANA, key=key)
    assert (record.state, record.memories_found, len(active())) == ("waiting", 5, 5)
    assert learnt_forget(user_id=ANA, key=key) == record
    assert learnt.forget_memories(record, learnt.SYSTEM_CLOCK)
    record.refresh_from_db()
    assert (len(record.forgotten), len(active())) == (2, 3)
    kitchen.save("likes what came later", user_id=ANA)
    assert forgettings_continue() == 1
    record.refresh_from_db()
    assert (record.state, len(record.forgotten), active()) == ("forgotten", 5, {"likes what came later"})
    learnt_restore(user_id=ANA, uuid=record.uuid)
    assert forgettings_continue() == 1
    assert len(active()) == 6
