"""A person stops a key: nothing of theirs is read or written with it, until they let it in again (decision 61)."""

from typing import Any
from uuid import UUID

import pytest

from apps.core.domain.errors import ConflictError, NotFoundError
from apps.core.domain.scope import AccessStoppedError, Permission, Scope
from apps.core.models import ApiKey
from apps.core.personal.registry import personal_stores
from apps.core.selectors import key_get, require_let_in
from apps.core.services import key_create, key_let_in, key_revoke, key_rotate, key_stop, key_update
from apps.notes.models import ExtractedFact
from apps.notes.services import runs_continue
from apps.semantic.models import Memory
from tests.api import MEMORIES, SEARCH, Api

pytestmark = pytest.mark.django_db

ANA, BEN = "ana", "ben"
SESSION = "/api/auto-memory/sessions/chat"


def made(scope: Scope | None = None, **options: Any) -> tuple[ApiKey, Api]:
    """Make a key, of everything unless a scope is given, with a caller who has it."""
    fields = {"name": "kitchen", "permission": Permission.WRITE, "actor": "test", **options}
    key, secret = key_create(scope=scope or Scope(), **fields)
    return key, Api(secret)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


def test_a_stop_holds_from_the_next_request_and_ends_with_it() -> None:
    key, api = made()
    ana, ben = (api.save(f"{user} likes tea", user_id=user) for user in (ANA, BEN))
    key_stop(uuid=key.uuid, user_id=ANA)
    assert code(api.post(SEARCH, {"query": "tea", "user_id": ANA})) == (403, "access_stopped")
    assert code(api.post(MEMORIES, {"content": "Ana likes milk", "user_id": ANA})) == (403, "access_stopped")
    assert api.get(f"{MEMORIES}/{ana['id']}").status_code == 404
    assert [item["memory"]["id"] for item in api.search("tea")["results"]] == [ben["id"]]
    key_let_in(uuid=key.uuid, user_id=ANA)
    assert api.get(f"{MEMORIES}/{ana['id']}").status_code == 200
    assert api.search("tea")["count"] == 2


def test_a_stop_outlives_a_rotation_and_other_changes() -> None:
    key, _ = made()
    key_stop(uuid=key.uuid, user_id=ANA)
    key_update(uuid=key.uuid, changes={"name": "garden", "expires_at": None})
    _, secret = key_rotate(uuid=key.uuid)
    assert code(Api(secret).get(f"{MEMORIES}?user_id={ANA}")) == (403, "access_stopped")


def test_stopping_twice_is_stopping_once() -> None:
    key, _ = made()
    for user in (BEN, ANA, ANA):
        key_stop(uuid=key.uuid, user_id=user)
    assert key_get(key.uuid).stopped_by == [ANA, BEN]
    for _ in range(2):
        key_let_in(uuid=key.uuid, user_id=ANA)
    assert key_get(key.uuid).stopped_by == [BEN]


def test_a_key_that_ended_is_not_stopped() -> None:
    key, _ = made()
    key_revoke(uuid=key.uuid)
    with pytest.raises(ConflictError):
        key_stop(uuid=key.uuid, user_id=ANA)
    with pytest.raises(NotFoundError):
        key_stop(uuid=UUID(int=0), user_id=ANA)


def test_a_household_goes_on_without_who_stopped_its_key() -> None:
    key, api = made(Scope(household_id="home"))
    for user in (ANA, BEN):
        api.save(f"{user} likes tea", user_id=user)
    key_stop(uuid=key.uuid, user_id=ANA)
    assert [item["memory"]["user_id"] for item in api.search("tea")["results"]] == [BEN]
    assert code(api.get(f"{MEMORIES}?user_id={ANA}")) == (403, "access_stopped")
    assert api.post(MEMORIES, {"content": "Ben likes milk", "user_id": BEN}).status_code == 201


def test_facts_of_a_conversation_are_dropped_once_its_key_is_stopped() -> None:
    key, api = made()
    said = {"user_id": ANA, "messages": [{"role": "user", "content": "I really like green tea."}]}
    assert api.post(f"{SESSION}/messages", said).status_code == 201
    assert api.post(f"{SESSION}/events", {"user_id": ANA, "type": "session.end"}).status_code in {200, 202}
    key_stop(uuid=key.uuid, user_id=ANA)
    key_update(uuid=key.uuid, changes={"name": "garden"})
    assert runs_continue() == 1
    assert [(fact.state, fact.reason) for fact in ExtractedFact.objects.all()] == [("dropped", "access_stopped")]
    assert not Memory.objects.exists()


def test_what_others_do_later_is_not_stopped() -> None:
    key, _ = made()
    made(name="garden")
    key_stop(uuid=key.uuid, user_id=ANA)
    for actor, user in (("key:kitchen", BEN), ("key:garden", ANA), ("person:kitchen", ANA)):
        require_let_in(actor, user)
    with pytest.raises(AccessStoppedError):
        require_let_in("key:kitchen", ANA)


def test_a_name_that_a_key_had_is_kept() -> None:
    key, _ = made()
    for name in ("garden", "kitchen", "garden"):
        key_update(uuid=key.uuid, changes={"name": name})
    assert key_get(key.uuid).former_names == ["kitchen", "garden"]


def test_a_stop_goes_with_the_person_who_is_forgotten() -> None:
    key, _ = made()
    for user in (ANA, BEN):
        key_stop(uuid=key.uuid, user_id=user)
    store = next(store for store in personal_stores() if store.name == "keys")
    assert (store.count(ANA), list(store.forget(ANA)), list(store.find(ANA))) == (1, [1], [])
    assert key_get(key.uuid).stopped_by == [BEN]
