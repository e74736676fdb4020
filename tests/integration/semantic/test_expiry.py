"""Memories that are to be found until a moment only."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.db.user_locks import lock_user
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.scope import Access, Scope
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.bring_back import memories_expire
from apps.semantic.models import Memory, MemoryRevision
from apps.semantic.services import memory_save
from apps.semantic.store.unit_of_work import lock_shards
from tests.api import MEMORIES, Api, api_for

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).isoformat()


def pass_time(memory: dict[str, Any] | Memory) -> None:
    """Let a memory expire a second ago: its row as time would leave it, and the index told of it."""
    uuid = memory["id"] if isinstance(memory, dict) else memory.uuid
    row = Memory.objects.get(uuid=uuid)
    [version] = lock_shards([row.user_id]).values()
    Memory.objects.filter(pk=row.pk).update(expires_at=utcnow(SYSTEM_CLOCK) - timedelta(seconds=1), version=version)


def patch(api: Api, memory: dict[str, Any], body: dict[str, Any]) -> Any:
    """The answer to a change."""
    return api.call("PATCH", f"{MEMORIES}/{memory['id']}", body)


def contents(api: Api, **fields: Any) -> list[str]:
    return [one["memory"]["content"] for one in api.search("bells ring", **fields)["results"]]


def test_it_is_found_until_then(api: Api) -> None:
    memory = api.save("The bells ring at noon", expires_at=TOMORROW)
    assert memory["expires_at"][:16] == TOMORROW[:16]
    assert contents(api) == ["The bells ring at noon"]
    assert [one["id"] for one in api.get(MEMORIES).json()["results"]] == [memory["id"]]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_nothing_finds_it_after_it_even_before_a_sweep(api: Api, mode: str) -> None:
    memory, other = api.save("The bells ring at noon", expires_at=TOMORROW), api.save("Bells ring in the night")
    pass_time(memory)
    answer = api.search("bells ring", mode=mode)
    assert [one["memory"]["id"] for one in answer["results"]] == [other["id"]]
    assert answer["diagnostics"]["considered_count"] == 1
    assert [one["id"] for one in api.get(MEMORIES).json()["results"]] == [other["id"]]
    assert api.get(f"{MEMORIES}/{memory['id']}").status_code == 404
    assert patch(api, memory, {"importance": 1}).status_code == 404


def test_index_in_memory_hides_it_when_its_time_comes(access: Access, api: Api) -> None:
    """The rows are loaded while it still holds; no write says that its time has come."""
    soon = utcnow(SYSTEM_CLOCK) + timedelta(seconds=1.5)
    memory_save(access=access, draft=MemoryDraft("The bells ring at noon", Scope("ana"), expires_at=soon))
    assert contents(api) == ["The bells ring at noon"]
    while utcnow(SYSTEM_CLOCK) <= soon:
        pass
    assert contents(api) == []


def test_sweep_deletes_what_expired_with_its_history(api: Api) -> None:
    gone, kept = api.save("The bells ring at noon", expires_at=TOMORROW), api.save("Tea is green", expires_at=TOMORROW)
    pass_time(gone)
    assert memories_expire() == 1
    assert memories_expire() == 0
    last = MemoryRevision.objects.filter(memory__uuid=gone["id"]).last()
    assert last is not None
    assert (last.action, last.reason, last.actor) == ("deleted", "expired", "system:expiry")
    assert api.get(f"{MEMORIES}/{kept['id']}").json()["status"] == "active"
    assert (
        memories_expire(clock=DeterministicClock(int((datetime.now(UTC) + timedelta(days=2)).timestamp() * 1000))) == 1
    )


def test_restored_one_holds_without_end(api: Api) -> None:
    memory = api.save("The bells ring at noon", expires_at=TOMORROW)
    pass_time(memory)
    memories_expire()
    answer = api.post(f"{MEMORIES}/{memory['id']}/restore")
    assert (answer.status_code, answer.json()["expires_at"]) == (200, None)
    assert contents(api) == ["The bells ring at noon"]


def test_same_content_is_new_once_the_old_one_has_expired(api: Api) -> None:
    memory = api.save("The bells ring at noon", expires_at=TOMORROW, confidence=1)
    pass_time(memory)
    answer = api.post(MEMORIES, {"content": "The bells ring at noon", "confidence": 0.2})
    assert (answer.status_code, answer.json()["action"]) == (201, "inserted")
    assert contents(api) == ["The bells ring at noon"]
    assert Memory.objects.get(uuid=memory["id"]).status == "deleted"


def test_expired_one_conflicts_with_nothing(api: Api) -> None:
    memory = api.save("I live in Oslo.", expires_at=TOMORROW)
    pass_time(memory)
    answer = api.post(MEMORIES, {"content": "I live in Bergen."}).json()
    assert (answer["action"], answer["conflict"]) == ("inserted", None)


@pytest.mark.parametrize(("again", "expected"), [(None, None), (TOMORROW, TOMORROW)], ids=["for good", "longer"])
def test_restating_gives_it_the_longer_time(api: Api, again: str | None, expected: str | None) -> None:
    api.save("The bells ring at noon", expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    memory = api.save("The bells ring at noon", **({} if again is None else {"expires_at": again}))
    assert (memory["expires_at"] or "")[:16] == (expected or "")[:16]


def test_time_can_be_changed_and_filtered_by(api: Api) -> None:
    memory = api.save("The bells ring at noon")
    assert patch(api, memory, {"expires_at": TOMORROW}).status_code == 200
    assert len(api.search("bells", filter={"expires_at": {"exists": True}})["results"]) == 1
    assert patch(api, memory, {"expires_at": None}).json()["memory"]["expires_at"] is None


@pytest.mark.parametrize("moment", ["2020-01-01T00:00:00Z", "2020-01-01", "soon", 5])
def test_time_that_is_no_time_to_come_is_refused(api: Api, moment: Any) -> None:
    assert api.post(MEMORIES, {"content": "tea", "expires_at": moment}).status_code == 400


def test_sweep_leaves_out_who_is_being_forgotten(api: Api) -> None:
    locked, theirs = api.save("Tea", expires_at=TOMORROW), api_for(Scope("ben")).save("Tea", expires_at=TOMORROW)
    pass_time(locked)
    pass_time(theirs)
    lock_user("ana", utcnow(SYSTEM_CLOCK))
    assert memories_expire() == 1
    assert Memory.objects.get(uuid=theirs["id"]).status == "deleted"


def test_those_of_others_are_swept_as_well(api: Api) -> None:
    mine, theirs = api.save("Tea", expires_at=TOMORROW), api_for(Scope("ben")).save("Tea", expires_at=TOMORROW)
    pass_time(mine)
    pass_time(theirs)
    assert memories_expire() == 2
