"""What a key may read besides its bound: granted by operators, changed, ended (DESIGN D14)."""

import json
from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from apps.core.db.user_locks import lock_user, unlock_user
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import MAX_OWNERS, Permission, Scope
from apps.core.models import ApiKey
from apps.core.personal.stores import KeyStore
from apps.core.selectors import key_get
from apps.core.services import key_create, key_update
from tests.api import MEMORIES, Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

KEYS = "/api/keys"
TEAM = "team:platform"
EVENTS = "/api/episodic/events"
MOMENT = "2026-03-04T12:00:00Z"


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def granted(operator: Api, *reads: str, **fields: object) -> tuple[str, Api]:
    """Return the id of a new key of Ana's that may read besides, and a caller with it."""
    response = operator.post(KEYS, {"name": "app", "user_id": "ana", "reads": list(reads), **fields})
    assert response.status_code == 201, response.content
    assert response.json()["reads"] == sorted(set(reads))
    return response.json()["id"], Api(response.json()["key"])


def test_grant_is_made_shown_changed_and_ended(operator: Api) -> None:
    key, _ = granted(operator, TEAM, "ben", TEAM)
    assert operator.get(f"{KEYS}/{key}").json()["reads"] == ["ben", TEAM]
    assert operator.patch(f"{KEYS}/{key}", {"reads": ["cem"]}).json()["reads"] == ["cem"]
    assert operator.patch(f"{KEYS}/{key}", {"name": "other"}).json()["reads"] == ["cem"]
    rotated = operator.post(f"{KEYS}/{key}/rotate", {}).json()
    assert rotated["reads"] == ["cem"]
    assert operator.get(KEYS).json()["results"][0]["reads"] == ["cem"]
    assert operator.patch(f"{KEYS}/{key}", {"reads": []}).json()["reads"] == []


@pytest.mark.parametrize(
    ("reads", "status"),
    [
        (None, 400), ("ben", 400), ([1], 400), ([" "], 400), (["x" * 201], 400), ([["ben"]], 400),
        ([f"team:{n}" for n in range(MAX_OWNERS + 1)], 400), ([f"team:{n}" for n in range(MAX_OWNERS)], 201),
        (["x" * 200], 201), ([], 201),
    ],
)  # fmt: skip
def test_reads_are_at_most_fifty_ids(operator: Api, reads: object, status: int) -> None:
    body = {"name": "app", "user_id": "ana", "reads": reads}
    response = operator.post(KEYS, body)
    assert response.status_code == status
    key, _ = key_create(name="app", scope=Scope("ana"), permission=Permission.READ, actor="test")
    changed = operator.patch(f"{KEYS}/{key.uuid}", {"reads": reads})
    assert changed.status_code == (200 if status == 201 else status)
    if status == 400:
        assert error_attrs(response)[0].startswith("reads")
        assert error_attrs(changed)[0].startswith("reads")


@pytest.mark.parametrize("body", [{"unbound": True}, {"permissions": "operator"}])
def test_key_without_bound_is_granted_nothing_because_it_reads_everything(operator: Api, body: dict[str, str]) -> None:
    response = operator.post(KEYS, {"name": "app", "reads": [TEAM], **body})
    assert (response.status_code, error_attrs(response)) == (400, ["reads"])
    made = operator.post(KEYS, {"name": "app", "reads": [], **body}).json()
    response = operator.patch(f"{KEYS}/{made['id']}", {"reads": [TEAM]})
    assert (response.status_code, error_attrs(response)) == (400, ["reads"])
    with pytest.raises(IntegrityError, match="reads_of_bound_key"), transaction.atomic():
        ApiKey.objects.filter(uuid=made["id"]).update(reads=[TEAM])


def test_only_operators_grant(operator: Api) -> None:
    key, api = granted(operator, TEAM)
    for caller in (api, api_for(Scope())):
        assert caller.patch(f"{KEYS}/{key}", {"reads": ["ben"]}).status_code == 403
        assert caller.post(KEYS, {"name": "x", "user_id": "ana", "reads": ["ben"]}).status_code == 403


@pytest.mark.parametrize("bound", [Scope("ana"), Scope(household_id="home"), Scope("ana", "home", "chef")])
def test_granted_memory_and_event_are_read_by_id_and_only_while_they_are_granted(operator: Api, bound: Scope) -> None:
    everybody = api_for(Scope())
    memory = everybody.save("Deploy on Tuesdays", user_id=TEAM, persona_id="x")
    foreign = everybody.save("A secret", user_id="ben")
    event = everybody.post(
        EVENTS, {"user_id": TEAM, "timestamp": MOMENT, "event_type": "message", "content": "Deployed"}
    ).json()["event"]
    paths = [f"{MEMORIES}/{memory['id']}", f"{EVENTS}/{event['id']}"]
    key, _ = granted(operator, **bound.named())
    api = Api(operator.post(f"{KEYS}/{key}/rotate", {}).json()["key"])
    assert [api.get(path).status_code for path in paths] == [404, 404]
    operator.patch(f"{KEYS}/{key}", {"reads": [TEAM]})
    assert [api.get(path).json()["user_id"] for path in paths] == [TEAM, TEAM]
    assert api.get(f"{MEMORIES}/{foreign['id']}").status_code == 404
    operator.patch(f"{KEYS}/{key}", {"reads": ["ben"]})
    assert [api.get(path).status_code for path in paths] == [404, 404]


def test_superseded_memory_is_read_like_ones_own_and_a_deleted_one_is_not(operator: Api) -> None:
    everybody = api_for(Scope())
    memory = everybody.save("Deploy on Tuesdays", user_id=TEAM)
    _, api = granted(operator, TEAM)
    everybody.delete(f"{MEMORIES}/{memory['id']}")
    assert api.get(f"{MEMORIES}/{memory['id']}").status_code == 404


WRITES: list[Callable[[Api, str, str], int]] = [
    lambda api, memory, event: api.patch(f"{MEMORIES}/{memory}", {"content": "Mine"}).status_code,
    lambda api, memory, event: api.delete(f"{MEMORIES}/{memory}").status_code,
    lambda api, memory, event: api.post(f"{MEMORIES}/{memory}/reinforce").status_code,
    lambda api, memory, event: api.post(f"{MEMORIES}/{memory}/restore").status_code,
    lambda api, memory, event: api.get(f"{MEMORIES}/{memory}/history").status_code,
    lambda api, memory, event: api.delete(f"{EVENTS}/{event}").status_code,
    lambda api, memory, event: api.get(f"/api/users/{TEAM}").status_code,
]


def test_granted_is_read_only(operator: Api) -> None:
    everybody = api_for(Scope())
    memory = everybody.save("Deploy on Tuesdays", user_id=TEAM)
    event = {"user_id": TEAM, "timestamp": MOMENT, "event_type": "message", "content": "Deployed"}
    event_id = everybody.post(EVENTS, event).json()["event"]["id"]
    _, api = granted(operator, TEAM)
    assert [write(api, memory["id"], event_id) for write in WRITES] == [404] * len(WRITES)
    assert api.post(MEMORIES, {"content": "Mine", "user_id": TEAM}).status_code == 403
    assert api.post(EVENTS, event).status_code == 403
    assert api.call("PUT", "/api/memory/main", {"text": "Mine", "user_id": TEAM}).status_code == 403
    assert api.get(f"/api/memory/main?user_id={TEAM}").status_code == 404
    chosen = {"ids": [memory["id"]]}
    assert api.post(f"{MEMORIES}/delete", chosen).json() == {
        "matched": 0,
        "deleted": 0,
        "managed": 0,
        "protected": 0,
        "dry_run": False,
    }
    assert api.get("/api/users").json()["results"] == []
    assert api.get("/api/semantic/status").json()["count"] == 0
    lines = [json.loads(line) for line in api.get("/api/export").content.splitlines()]
    assert {line["kind"] for line in lines} <= {"header", "audit_entry", "end"}
    assert {line["user_id"] for line in lines if line["kind"] == "audit_entry"} == {"ana"}
    assert everybody.get(f"{MEMORIES}/{memory['id']}").json() == memory


# --- an owner who is forgotten ------------------------------------------------------------------------


def test_grant_of_one_who_is_being_forgotten_is_refused(operator: Api) -> None:
    key, _ = granted(operator, "ben")
    with transaction.atomic():
        lock_user(TEAM, utcnow(SYSTEM_CLOCK))
    response = operator.post(KEYS, {"name": "app", "user_id": "ana", "reads": [TEAM]})
    assert (response.status_code, response.json()["errors"][0]["code"]) == (409, "being_forgotten")
    assert operator.patch(f"{KEYS}/{key}", {"reads": [TEAM]}).status_code == 409
    assert operator.patch(f"{KEYS}/{key}", {"reads": []}).status_code == 200
    with transaction.atomic():
        unlock_user(TEAM)
    assert operator.patch(f"{KEYS}/{key}", {"reads": [TEAM]}).status_code == 200


def test_grants_of_one_who_is_forgotten_end_and_the_keys_go_on(operator: Api) -> None:
    store = KeyStore()
    key, api = granted(operator, TEAM, "ben")
    granted(operator, "ben")
    assert (store.count(TEAM), store.count("ben"), store.count("team")) == (1, 2, 0)
    assert list(store.find(TEAM)) == ["core_apikey"]
    assert list(store.forget(TEAM)) == [1]
    assert key_get(key).reads == ["ben"]  # type: ignore[arg-type]
    assert (store.count(TEAM), list(store.find(TEAM)), list(store.forget(TEAM))) == (0, [], [])
    memory = api_for(Scope()).save("Another owner has the id now", user_id=TEAM)
    assert api.get(f"{MEMORIES}/{memory['id']}").status_code == 404


def test_service_refuses_too_many_owners() -> None:
    key, _ = key_create(name="app", scope=Scope("ana"), permission=Permission.READ, actor="test")
    with pytest.raises(InvalidInputError) as refused:
        key_update(uuid=key.uuid, changes={"reads": [f"team:{n}" for n in range(MAX_OWNERS + 1)]})
    assert (refused.value.attr, refused.value.code) == ("reads", "max_length")
