"""Changing a memory: PATCH /api/semantic/memories/{id}."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.core.domain.scope import Permission, Scope
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.models import Memory, MemoryEmbedding
from tests.api import MEMORIES, Api, api_for

pytestmark = pytest.mark.django_db


def patch(api: Api, memory: dict[str, Any], body: dict[str, Any], **headers: str) -> Any:
    """The answer to a change."""
    given = {"Authorization": f"Bearer {api.key}", **headers}
    return api.client.patch(f"{MEMORIES}/{memory['id']}", body, content_type="application/json", headers=given)


def patched(api: Api, memory: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A memory after a change that has to be done."""
    response = patch(api, memory, body)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def saved(api: Api, content: str) -> dict[str, Any]:
    """The answer to a save."""
    answer: dict[str, Any] = api.post(MEMORIES, {"content": content, "user_id": "ana"}).json()
    return answer


def found(api: Api, query: str, **fields: Any) -> list[str]:
    return [one["memory"]["content"] for one in api.search(query, **fields)["results"]]


def test_only_what_is_named_changes(api: Api) -> None:
    memory = api.save("Ana rows on the lake", type="sport", importance=0.4, metadata={"a": 1, "b": {"c": 2, "d": 3}})
    answer = patched(api, memory, {"importance": 0.9, "project": "boats", "metadata": {"a": None, "b": {"c": 5}}})
    assert (answer["action"], answer["reason"], answer["conflict"]) == ("updated", "edited", None)
    changed = answer["memory"]
    expected = {**memory, "importance": 0.9, "project": "boats", "metadata": {"b": {"c": 5, "d": 3}}}
    assert {**changed, "version": "", "updated_at": ""} == {**expected, "version": "", "updated_at": ""}
    assert changed["version"] != memory["version"]
    assert api.get(f"{MEMORIES}/{memory['id']}").json() == changed


def test_every_field_can_be_changed(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    body = {
        "agent": "a", "personality": "b", "project": "c", "type": "d", "session_id": "e", "global": True,
        "decay_policy": "reinforceable", "importance": 0.25, "keywords": ["boat"], "context": "at the club",
        "occurred_at": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    changed = patched(api, memory, body)["memory"]
    assert {name: changed[name] for name in body} == body
    assert patched(api, memory, {"occurred_at": None, "keywords": [], "context": ""})["memory"]["occurred_at"] is None


def test_new_words_are_found_and_old_ones_are_not(api: Api) -> None:
    memory = api.save("Ana rows on the lake", keywords=["regatta"])
    patched(api, memory, {"keywords": ["galley"]})
    assert found(api, "galley", mode="keyword") == ["Ana rows on the lake"]
    assert found(api, "regatta", mode="keyword") == []
    patched(api, memory, {"content": "Ana paddles a canoe"})
    assert found(api, "canoe", mode="keyword") == ["Ana paddles a canoe"]
    assert found(api, "lake", mode="keyword") == []


def test_new_content_has_a_vector_of_its_own(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    before = MemoryEmbedding.objects.get(memory__uuid=memory["id"]).vector
    patched(api, memory, {"content": "The tax office closes at noon"})
    after = MemoryEmbedding.objects.get(memory__uuid=memory["id"]).vector
    assert list(before) != list(after)
    [hit] = api.search("The tax office closes at noon", mode="vector")["results"]
    assert hit["similarity"] == pytest.approx(1.0, abs=1e-4)


def test_vector_of_same_content_can_be_given(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    vector = [1.0, *[0.0] * 383]
    assert api.search(embedding=vector)["results"][0]["similarity"] < 0.9
    answer = patched(api, memory, {"content": "Ana rows on the lake", "embedding": vector})
    assert answer["memory"]["version"] != memory["version"]
    assert api.search(embedding=vector)["results"][0]["similarity"] == pytest.approx(1.0, abs=1e-4)


def test_content_of_another_memory_is_refused(api: Api) -> None:
    first, second = api.save("Ana rows on the lake"), api.save("Ben sings in a choir")
    answer = patch(api, second, {"content": "ana rows on  the LAKE"})
    assert answer.status_code == 409
    [error] = answer.json()["errors"]
    assert (error["code"], error["attr"], error["current"]) == ("duplicate", "content", first["id"])
    assert api.get(f"{MEMORIES}/{second['id']}").json()["content"] == "Ben sings in a choir"


def test_own_content_in_other_letters_is_no_duplicate(api: Api) -> None:
    memory = api.save("ana rows on the lake")
    changed = patched(api, memory, {"content": "Ana rows on the lake."})["memory"]
    assert changed["content"] == "Ana rows on the lake."


def test_new_content_is_held_against_others_like_a_save(api: Api) -> None:
    other = api.save("I live in Oslo.")
    memory = api.save("The kettle is blue.")
    answer = patched(api, memory, {"content": "I moved to Bergen."})
    assert answer["action"] == "superseded_existing"
    assert answer["memory"]["id"] == memory["id"]
    assert api.get(f"{MEMORIES}/{other['id']}").json()["superseded_by"] == memory["id"]
    assert api.post(f"/api/semantic/conflicts/{answer['conflict']}/revert").status_code == 200
    assert api.get(f"{MEMORIES}/{other['id']}").json()["status"] == "active"
    assert api.get(f"{MEMORIES}/{memory['id']}").json()["content"] == "I moved to Bergen."


def test_memory_is_not_held_against_what_it_was(api: Api) -> None:
    memory = api.save("I live in Oslo.")
    answer = patched(api, memory, {"content": "I live in Bergen."})
    assert (answer["action"], answer["conflict"]) == ("updated", None)
    assert found(api, "Where do I live?") == ["I live in Bergen."]


def test_what_it_was_stays_in_its_history(api: Api) -> None:
    memory = api.save("Ana rows on the lake", importance=0.4)
    patched(api, memory, {"content": "Ana rows on the river", "importance": 0.7})
    steps = api.get(f"{MEMORIES}/{memory['id']}/history").json()["results"]
    assert [step["action"] for step in steps] == ["created", "updated"]
    assert steps[1]["reason"] == "edited"
    assert steps[1]["changes"] == {
        "content": ["Ana rows on the lake", "Ana rows on the river"], "importance": [0.4, 0.7],
    }  # fmt: skip


def test_nothing_new_changes_nothing(api: Api) -> None:
    memory = api.save("Ana rows on the lake", importance=0.4, metadata={"a": 1})
    answer = patched(api, memory, {"content": "Ana rows on the lake", "importance": 0.4, "metadata": {"b": None}})
    assert (answer["action"], answer["reason"]) == ("skipped", "unchanged")
    assert answer["memory"] == memory
    assert len(api.get(f"{MEMORIES}/{memory['id']}/history").json()["results"]) == 1


def test_versions_guard_against_lost_updates(api: Api) -> None:
    saved = api.post(MEMORIES, {"content": "Ana rows on the lake"})
    memory, tag = saved.json()["memory"], saved.headers["ETag"]
    assert tag == f'"{memory["version"]}"' == api.get(f"{MEMORIES}/{memory['id']}").headers["ETag"]
    first = patch(api, memory, {"importance": 0.9}, **{"If-Match": tag})
    assert first.status_code == 200
    for body in ({"importance": 0.1}, {"content": "Ana swims"}):
        stale = patch(api, memory, body, **{"If-Match": tag})
        assert (stale.status_code, stale.json()["errors"][0]["code"]) == (412, "stale_version")
    assert patch(api, memory, {"importance": 0.2}, **{"If-Match": first.headers["ETag"]}).status_code == 200
    tag = patch(api, memory, {"importance": 0.3}, **{"If-Match": "*"}).headers["ETag"]
    latest = patch(api, memory, {"importance": 0.4}, **{"If-Match": f'"another", {tag}'})
    assert latest.status_code == 200
    assert patch(api, memory, body, **{"If-Match": f"W/{latest.headers['ETag']}"}).status_code == 412
    odd = patch(api, memory, body, **{"If-Match": "nonsense"})
    assert (odd.status_code, odd.json()["errors"][0]["attr"]) == (400, "If-Match")


def test_versions_tell_nothing_of_other_writes(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    for number in range(3):
        api.save(f"The {number} bells ring at noon in the valley")
    assert api.get(f"{MEMORIES}/{memory['id']}").json()["version"] == memory["version"]


@pytest.mark.parametrize(
    "body",
    [
        {}, {"content": ""}, {"content": 5}, {"importance": None}, {"importance": 2}, {"user_id": "ben"},
        {"confidence": 0.1}, {"status": "deleted"}, {"metadata": [1]}, {"embedding": [1.0]}, {"keywords": "a"},
        {"content": "x", "embedding": [1.0, 2.0]}, {"decay_policy": "never"},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_changed_is_refused(api: Api, body: dict[str, Any]) -> None:
    memory = api.save("Ana rows on the lake")
    assert patch(api, memory, body).status_code == 400
    assert api.get(f"{MEMORIES}/{memory['id']}").json() == memory


def test_deleted_and_superseded_ones_are_refused(api: Api) -> None:
    old, gone = api.save("I live in Oslo."), api.save("The kettle is blue.")
    new = api.save("I moved to Bergen.")
    api.delete(f"{MEMORIES}/{gone['id']}")
    for body in ({"importance": 0.1}, {"content": "Something else"}):
        assert patch(api, gone, body).status_code == 404
        answer = patch(api, old, body)
        assert (answer.status_code, answer.json()["errors"][0]["current"]) == (409, new["id"])


def test_reader_and_strangers_change_nothing(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    reader, stranger = api_for(Scope("ana"), Permission.READ), api_for(Scope("ben"))
    assert patch(reader, memory, {"importance": 0.1}).status_code == 403
    assert patch(stranger, memory, {"importance": 0.1}).status_code == 404
    assert Memory.objects.get().importance == 0.5


def test_patches_of_metadata_do_not_add_up_beyond_the_limits(api: Api) -> None:
    memory = api.save("Ana rows on the lake", metadata={"first": "a" * 15_000})
    answer = patch(api, memory, {"metadata": {"second": "b" * 15_000}})
    assert answer.status_code == 400, answer.content[:200]
    assert [(one["attr"], one["code"]) for one in answer.json()["errors"]] == [("metadata", "too_large")]
    patched(api, memory, {"metadata": {"first": None, "second": "b" * 15_000}})
    assert set(api.get(f"{MEMORIES}/{memory['id']}").json()["metadata"]) == {"second"}


def test_a_full_metadata_can_be_made_smaller(api: Api) -> None:
    memory = api.save("Ana rows on the lake", metadata={f"n{number}": "a" * 900 for number in range(20)})
    for number in range(20):
        patched(api, memory, {"metadata": {f"n{number}": None}})
    assert api.get(f"{MEMORIES}/{memory['id']}").json()["metadata"] == {}


def test_found_memories_are_read_at_once(api: Api) -> None:
    for number in range(1, 13):
        api.save(f"Regatta number {number} was on the lake")
    api.search("regatta", limit=2)
    with CaptureQueriesContext(connection) as few:
        assert len(api.search("regatta", limit=2)["results"]) == 2
    with CaptureQueriesContext(connection) as many:
        assert len(api.search("regatta", limit=12)["results"]) == 12
    assert len(many) == len(few)


def test_vectors_of_old_words_are_gone_from_every_space(api: Api) -> None:
    memory = api.save("Ana rows on the lake")
    row = Memory.objects.get(uuid=memory["id"])
    other = EmbeddingSpace.objects.create(model="other", dimension=3, is_active=False, created_at=row.created_at)
    MemoryEmbedding.objects.create(memory=row, space=other, vector=[1.0, 0.0, 0.0])
    patched(api, memory, {"importance": 0.9})
    assert row.embeddings.filter(space=other).exists()
    patched(api, memory, {"content": "The tax office closes at noon"})
    assert not row.embeddings.filter(space=other).exists()


def test_revert_does_not_take_back_what_was_written_since(api: Api) -> None:
    old = api.save("Ana lives in Lisbon.")
    answer = api.post(MEMORIES, {"content": "Ana lives in Porto."}).json()
    assert answer["conflict"] is not None
    new = answer["memory"]
    patched(api, new, {"content": "The tax office closes at noon"})
    refused = api.post(f"/api/semantic/conflicts/{answer['conflict']}/revert")
    assert refused.status_code == 409, refused.content
    assert refused.json()["errors"][0]["code"] == "changed_since"
    assert api.get(f"{MEMORIES}/{new['id']}").json()["content"] == "The tax office closes at noon"
    both = api.post(f"/api/semantic/conflicts/{answer['conflict']}/override", {"winner": "both"})
    assert both.status_code in {200, 201}, both.content
    assert {api.get(f"{MEMORIES}/{one['id']}").json()["status"] for one in (old, new)} == {"active"}


def test_what_lost_to_other_words_is_decided_again_after_they_changed(api: Api) -> None:
    day = {"occurred_at": "2026-01-05T10:00:00Z"}
    api.save("Ana lives in Lisbon.", **day)
    winner = api.post(MEMORIES, {"content": "Ana lives in Porto.", "occurred_at": "2026-02-05T10:00:00Z"}).json()
    assert winner["action"] == "superseded_existing"
    assert api.post(MEMORIES, {"content": "Ana lives in Lisbon.", **day}).json()["reason"] == "already_decided"
    patched(api, winner["memory"], {"content": "The tax office closes at noon"})
    assert api.post(MEMORIES, {"content": "Ana lives in Lisbon.", **day}).json()["action"] == "inserted"


def test_what_was_noticed_about_former_words_is_closed(api: Api) -> None:
    api.save("The retro may be on Friday at ten in the blue room")
    answer = saved(api, "The retro may be on Thursday at ten in the blue room")
    assert answer["conflict"] is not None
    receipts = f"{MEMORIES.removesuffix('/memories')}/conflicts"
    before = api.get(f"{receipts}/{answer['conflict']}").json()
    assert (before["outcome"], before["state"]) == ("noticed", "open")
    patched(api, answer["memory"], {"importance": 0.9})
    assert api.get(f"{receipts}/{answer['conflict']}").json()["state"] == "open"
    changed = patched(api, answer["memory"], {"content": "Ana rows on the lake"})
    assert changed["conflict"] is None
    after = api.get(f"{receipts}/{answer['conflict']}").json()
    assert (after["outcome"], after["state"]) == ("noticed", "outdated")
    assert api.get(f"{receipts}?state=open").json()["results"] == []
    assert api.get(f"{receipts}?state=outdated").json()["results"][0]["id"] == answer["conflict"]
    refused = api.post(f"{receipts}/{answer['conflict']}/accept", {})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "already_outdated")
