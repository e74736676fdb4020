"""Memories over REST: DESIGN section 5, spec 004."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.semantic.models import Memory
from apps.semantic.schemas.memories import MemoryOutput
from tests.api import MEMORIES, Api, api_for, belong

pytestmark = pytest.mark.django_db


def test_saving_answers_201_with_the_memory(api: Api) -> None:
    response = api.post(MEMORIES, {"content": "User prefers Python", "type": "preference", "global": True})
    answer = response.json()
    assert response.status_code == 201
    assert (answer["action"], answer["conflict"]) == ("inserted", None)
    assert answer["memory"]["user_id"] == "ana"
    assert answer["memory"]["global"] is True
    assert answer["memory"]["confidence"] == 1.0
    assert answer["memory"]["deleted"] is False


def test_saving_same_again_answers_200_and_says_why(api: Api) -> None:
    api.save("tea")
    response = api.post(MEMORIES, {"content": "Tea."})
    assert response.status_code == 200
    assert (response.json()["action"], response.json()["reason"]) == ("skipped", "equal_confidence")


def test_a_memory_looks_as_the_schema_says(api: Api) -> None:
    assert set(api.save("tea")) == set(MemoryOutput.__annotations__)


def test_everything_that_is_saved_comes_back(api: Api) -> None:
    belong(Scope("ana", persona_id="p"))
    given = {
        "content": "  Moved to Łódź 🏙  ",
        "persona_id": "p",
        "agent": "claude",
        "personality": "engineer",
        "project": "my-project",
        "type": "fact",
        "global": True,
        "decay_policy": "contextual",
        "importance": 0.25,
        "keywords": ["home", "city"],
        "source": "conversation",
        "occurred_at": "2023-05-08T13:56:00Z",
        "session_id": "s1",
        "context": "said over lunch",
        "metadata": {"nested": {"list": [1, 2.5, None, "x"]}},
    }
    memory = api.save(**given)
    assert {name: memory[name] for name in given} == given
    assert api.get(f"{MEMORIES}/{memory['id']}").json() == memory


def test_memory_needs_user_where_key_names_none() -> None:
    response = api_for(Scope()).post(MEMORIES, {"content": "whose?"})
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == "user_id"


def test_get_non_existent_memory(api: Api) -> None:
    assert api.get(f"{MEMORIES}/{uuid.uuid4()}").status_code == 404


def test_delete_an_existing_memory(api: Api) -> None:
    memory = api.save("tea")
    assert api.delete(f"{MEMORIES}/{memory['id']}").status_code == 204
    assert api.get(f"{MEMORIES}/{memory['id']}").status_code == 404
    assert api.search("tea")["count"] == 0


def test_delete_an_already_deleted_memory(api: Api) -> None:
    memory = api.save("tea")
    api.delete(f"{MEMORIES}/{memory['id']}")
    assert api.delete(f"{MEMORIES}/{memory['id']}").status_code == 404


def test_delete_a_non_existent_memory(api: Api) -> None:
    assert api.delete(f"{MEMORIES}/{uuid.uuid4()}").status_code == 404


def test_a_deleted_memory_can_be_restored(api: Api) -> None:
    memory = api.save("tea")
    api.delete(f"{MEMORIES}/{memory['id']}")
    restored = api.post(f"{MEMORIES}/{memory['id']}/restore")
    assert (restored.status_code, restored.json()["status"]) == (200, "active")
    assert api.search("tea")["count"] == 1


def test_memory_that_is_not_deleted_cannot_be_restored(api: Api) -> None:
    assert api.post(f"{MEMORIES}/{api.save('tea')['id']}/restore").status_code == 409


def test_memory_saved_again_since_its_deletion_is_not_restored_beside_it(api: Api) -> None:
    memory = api.save("tea")
    api.delete(f"{MEMORIES}/{memory['id']}")
    api.save("Tea!")
    response = api.post(f"{MEMORIES}/{memory['id']}/restore")
    assert (response.status_code, response.json()["errors"][0]["code"]) == (409, "duplicate")


def test_reinforce_a_reinforceable_memory(api: Api) -> None:
    memory = api.save("tea", decay_policy="reinforceable")
    Memory.objects.update(created_at=utcnow(SYSTEM_CLOCK) - timedelta(days=30))
    assert api.get(f"{MEMORIES}/{memory['id']}").json()["confidence"] == pytest.approx(0.5, abs=1e-3)
    response = api.post(f"{MEMORIES}/{memory['id']}/reinforce")
    assert response.status_code == 200
    assert response.json()["confidence"] == 1.0
    assert response.json()["last_reinforced_at"] is not None


def test_reinforce_a_superseded_memory_names_current_one(api: Api) -> None:
    first = api.save("Ana lives in Lisbon.", decay_policy="reinforceable")
    second = api.save("Ana does not live in Lisbon.", decay_policy="reinforceable")
    current = api.save("Ana lives in Lisbon!", occurred_at="2100-01-01T00:00:00Z", decay_policy="reinforceable")
    assert [memory.status for memory in Memory.objects.order_by("id")] == ["superseded", "superseded", "active"]
    response = api.post(f"{MEMORIES}/{first['id']}/reinforce")
    [error] = response.json()["errors"]
    assert (response.status_code, error["code"], error["current"]) == (409, "superseded", current["id"])
    assert api.post(f"{MEMORIES}/{current['id']}/reinforce").status_code == 200
    api.delete(f"{MEMORIES}/{current['id']}")
    [error] = api.post(f"{MEMORIES}/{first['id']}/reinforce").json()["errors"]
    # What the deleted one had replaced holds again.
    assert error["current"] == second["id"]
    api.delete(f"{MEMORIES}/{second['id']}")
    assert api.post(f"{MEMORIES}/{first['id']}/reinforce").status_code == 200
    api.delete(f"{MEMORIES}/{first['id']}")
    assert api.post(f"{MEMORIES}/{first['id']}/reinforce").status_code == 404


def test_fresh_memories_have_confidence_that_their_writer_claimed(api: Api, settings: Any) -> None:
    """However long saving takes: a half-life of a tenth of a second makes any later moment visible."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, contextual_half_life_days=1e-6)
    memories = [
        {"content": f"Item {number} is on shelf {number}.", "decay_policy": "contextual"} for number in range(50)
    ]
    results = api.post(f"{MEMORIES}/batch", {"memories": memories}).json()["results"]
    assert {result["memory"]["confidence"] for result in results} == {1.0}
    one = api.post(MEMORIES, {**memories[0], "content": "Ana likes tea.", "confidence": 0.7}).json()
    assert one["memory"]["confidence"] == 0.7


@pytest.mark.parametrize("policy", ["stable", "contextual"])
def test_reinforce_a_memory_of_another_policy(api: Api, policy: str) -> None:
    memory = api.save("tea", decay_policy=policy)
    response = api.post(f"{MEMORIES}/{memory['id']}/reinforce")
    assert response.status_code == 409
    assert policy in response.json()["errors"][0]["detail"]
    assert Memory.objects.get().last_reinforced_at is None


def test_history_tells_every_step_and_who_took_it(api: Api) -> None:
    memory = api.save("tea", confidence=0.5)
    api.post(MEMORIES, {"content": "tea", "confidence": 0.9})
    api.delete(f"{MEMORIES}/{memory['id']}")
    answer = api.get(f"{MEMORIES}/{memory['id']}/history").json()
    assert [step["action"] for step in answer["results"]] == ["created", "updated", "deleted"]
    assert answer["results"][1]["changes"]["base_confidence"] == [0.5, 0.642857]
    assert answer["results"][2]["changes"]["status"] == ["active", "deleted"]
    assert {step["actor"] for step in answer["results"]} == {"key:test"}


def test_lists_are_filtered_by_tags_and_scope() -> None:
    api = api_for(Scope())
    api.save("one", user_id="ana", project="x")
    api.save("two", user_id="ana", project="y")
    api.save("three", user_id="ben", project="x")
    page = api.get(f"{MEMORIES}?user_id=ana&project=x").json()
    assert [memory["content"] for memory in page["results"]] == ["one"]


def test_a_list_shows_deleted_memories_when_asked(api: Api) -> None:
    api.delete(f"{MEMORIES}/{api.save('tea')['id']}")
    assert api.get(MEMORIES).json()["results"] == []
    assert [m["deleted"] for m in api.get(f"{MEMORIES}?status=deleted").json()["results"]] == [True]


def test_pages_follow_each_other_newest_first_while_memories_arrive(api: Api) -> None:
    api.post(f"{MEMORIES}/batch", {"memories": [{"content": f"memory {n}"} for n in range(5)]})
    first = api.get(f"{MEMORIES}?limit=2").json()
    api.save("a newcomer")
    second = api.get(first["next"].removeprefix("http://testserver")).json()
    seen = [memory["content"] for memory in first["results"] + second["results"]]
    assert seen == ["memory 4", "memory 3", "memory 2", "memory 1"]


def test_batch_answers_per_item_and_bad_item_fails_alone(api: Api) -> None:
    items = [{"content": "one"}, {"content": ""}, "two", {"content": "One!"}, {"content": "x", "user_id": "ben"}]
    response = api.post(f"{MEMORIES}/batch", {"memories": items})
    results = response.json()["results"]
    assert response.status_code == 200
    assert [item["status"] for item in results] == [201, 400, 400, 200, 403]
    assert [item.get("action") for item in results] == ["inserted", None, None, "skipped", None]
    assert results[1]["errors"][0]["attr"] == "content"
    assert Memory.objects.count() == 1


def test_a_batch_holds_at_most_a_thousand(api: Api) -> None:
    response = api.post(f"{MEMORIES}/batch", {"memories": [{"content": "x"}] * 1001})
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == "memories"


def test_the_status_counts_what_the_key_can_see(api: Api) -> None:
    api_for(Scope()).save("ben's", user_id="ben")
    api.save("tea")
    answer = api.get("/api/semantic/status").json()
    assert answer["status"] == "healthy"
    assert answer["count"] == 1
    assert set(answer["store"]) == {"host", "name"}
    assert answer["collection"] == "semantic_memory"
