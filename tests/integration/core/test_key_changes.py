"""API keys: renamed, with another expiry, rotated, and without a bound only where that is asked for."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from apps.core.db.distinct import distinct_values
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import ConflictError, InvalidInputError
from apps.core.domain.keys import DEFAULT_OVERLAP, MAX_OVERLAP
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.selectors import key_get, key_verify
from apps.core.services import key_create, key_revoke, key_rotate, key_update
from tests.api import MEMORIES, Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

KEYS = "/api/keys"
NOWHERE = "00000000-0000-4000-8000-000000000000"


def make(**options: object) -> tuple[ApiKey, str]:
    arguments = {"name": "app", "scope": Scope("ana"), "permission": Permission.WRITE, "actor": "test", **options}
    return key_create(**arguments)  # type: ignore[arg-type]


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


# --- without a bound ----------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [{}, {"user_id": None}, {"unbound": False}, {"permissions": "read"}])
def test_key_without_bound_must_be_asked_for(operator: Api, body: dict[str, object]) -> None:
    response = operator.post(KEYS, {"name": "app", **body})
    assert (response.status_code, error_attrs(response)) == (400, ["unbound"])
    assert "everyone's memories" in response.json()["errors"][0]["detail"]
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize("body", [{"unbound": True}, {"permissions": "operator"}, {"household_id": "home"}])
def test_key_is_made_with_a_bound_or_where_none_is_asked_for(operator: Api, body: dict[str, object]) -> None:
    response = operator.post(KEYS, {"name": "app", **body})
    assert response.status_code == 201
    assert Api(response.json()["key"]).get(MEMORIES).status_code == 200


def test_key_is_not_both_bound_and_unbound(operator: Api) -> None:
    response = operator.post(KEYS, {"name": "app", "unbound": True, "persona_id": "chef"})
    assert (response.status_code, error_attrs(response)) == (422, ["unbound"])


# --- origin -------------------------------------------------------------------------------------------


def test_key_is_an_app_unless_said_otherwise(operator: Api) -> None:
    made = operator.post(KEYS, {"name": "app", "user_id": "ana"}).json()
    assert made["origin"] == "app"
    said = operator.post(KEYS, {"name": "person", "user_id": "ana", "origin": "person"}).json()
    assert said["origin"] == "person"
    assert Api(said["key"]).save("Ana likes tea")["origin"] == "person"


def test_origin_of_a_key_changes_from_then_on(operator: Api) -> None:
    made = operator.post(KEYS, {"name": "app", "user_id": "ana"}).json()
    before = Api(made["key"]).save("Ana likes tea")
    assert operator.patch(f"{KEYS}/{made['id']}", {"origin": "document"}).json()["origin"] == "document"
    assert Api(made["key"]).save("Ana plays chess")["origin"] == "document"
    assert operator.get(f"{MEMORIES}/{before['id']}").json()["origin"] == "app"


def test_unknown_origin_of_a_key_is_refused(operator: Api) -> None:
    answer = operator.post(KEYS, {"name": "app", "user_id": "ana", "origin": "oracle"})
    assert (answer.status_code, error_attrs(answer)) == (400, ["origin"])


# --- name and expiry ----------------------------------------------------------------------------------


def test_key_is_renamed_and_nothing_else(operator: Api) -> None:
    key, secret = make()
    before = operator.get(f"{KEYS}/{key.uuid}").json()
    answer = operator.patch(f"{KEYS}/{key.uuid}", {"name": "kitchen"})
    assert (answer.status_code, answer.json()) == (200, before | {"name": "kitchen"})
    assert operator.get(f"{KEYS}/{key.uuid}").json() == answer.json()
    assert Api(secret).get(MEMORIES).status_code == 200


def test_expiry_is_set_moved_and_removed(operator: Api) -> None:
    key, secret = make()
    for expiry in ("2099-05-08T13:56:00Z", "2098-01-01T00:00:00Z", None):
        assert operator.patch(f"{KEYS}/{key.uuid}", {"expires_at": expiry}).json()["expires_at"] == expiry
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    key_update(uuid=key.uuid, changes={"expires_at": utcnow(clock) + timedelta(minutes=1)}, clock=clock)
    assert key_verify(secret, utcnow(clock)) == key
    clock.advance(60_000)
    assert key_verify(secret, utcnow(clock)) is None
    key_update(uuid=key.uuid, changes={"expires_at": None}, clock=clock)
    assert key_verify(secret, utcnow(clock)) == key


@pytest.mark.parametrize(
    ("changes", "attr"),
    [
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"user_id": "ben"}, "user_id"),
        ({"permissions": "operator"}, "permissions"),
        ({"unbound": True}, "unbound"),
    ],
)
def test_permission_and_bound_stay_and_bad_values_are_refused(
    operator: Api, changes: dict[str, object], attr: str
) -> None:
    key, _ = make()
    before = ApiKey.objects.filter(pk=key.pk).values().get()
    response = operator.patch(f"{KEYS}/{key.uuid}", {"name": "kitchen", **changes})
    assert (response.status_code, error_attrs(response)) == (400, [attr])
    assert ApiKey.objects.filter(pk=key.pk).values().get() == before


# --- rotation -----------------------------------------------------------------------------------------


def test_both_secrets_work_until_the_overlap_ends(operator: Api) -> None:
    key, old = make()
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    rotated, new = key_rotate(uuid=key.uuid, overlap=timedelta(minutes=1), clock=clock)
    assert rotated.shown == new[:8]
    assert new != old
    clock.advance(60_000 - 1)
    assert key_verify(old, utcnow(clock)) == key_verify(new, utcnow(clock)) == key
    clock.advance(1)
    assert key_verify(old, utcnow(clock)) is None
    assert key_verify(new, utcnow(clock)) == key


def test_a_rotation_over_rest_shows_the_new_secret_once(operator: Api) -> None:
    key, old = make()
    answer = operator.post(f"{KEYS}/{key.uuid}/rotate")
    rotated = answer.json()
    assert answer.status_code == 200
    assert [Api(secret).get(MEMORIES).status_code for secret in (old, rotated["key"])] == [200, 200]
    stored = key_get(key.uuid)
    assert stored.previous_until - stored.rotated_at == DEFAULT_OVERLAP  # type: ignore[operator]
    shown = operator.get(f"{KEYS}/{key.uuid}").json()
    assert {**shown, "key": rotated["key"], "last_used_at": None} == {**rotated, "last_used_at": None}
    row = ApiKey.objects.filter(pk=key.pk).values().get()
    assert not any(secret in str(value) for value in row.values() for secret in (old, rotated["key"]))


def test_without_overlap_the_old_secret_stops_at_once(operator: Api) -> None:
    key, old = make()
    rotated = operator.post(f"{KEYS}/{key.uuid}/rotate", {"overlap_seconds": 0}).json()
    assert rotated["previous_until"] is None
    assert [Api(secret).get(MEMORIES).status_code for secret in (old, rotated["key"])] == [401, 200]


def test_rotating_again_ends_the_oldest_secret() -> None:
    key, first = make()
    _, second = key_rotate(uuid=key.uuid)
    _, third = key_rotate(uuid=key.uuid)
    now = utcnow(SYSTEM_CLOCK)
    assert [key_verify(secret, now) is not None for secret in (first, second, third)] == [False, True, True]


def test_revoking_ends_both_secrets_at_once(operator: Api) -> None:
    key, old = make()
    _, new = key_rotate(uuid=key.uuid)
    callers = Api(old), Api(new)
    assert [api.get(MEMORIES).status_code for api in callers] == [200, 200]
    assert operator.delete(f"{KEYS}/{key.uuid}").status_code == 204
    assert [api.get(MEMORIES).status_code for api in callers] == [401, 401]


def test_no_secret_outlives_the_expiry_of_its_key() -> None:
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    key, old = make(expires_at=utcnow(clock) + timedelta(minutes=1), clock=clock)
    _, new = key_rotate(uuid=key.uuid, clock=clock)
    clock.advance(60_000)
    assert [key_verify(secret, utcnow(clock)) for secret in (old, new)] == [None, None]
    with pytest.raises(ConflictError) as refused:
        key_rotate(uuid=key.uuid, clock=clock)
    assert refused.value.code == "expired"


def test_a_replaced_secret_opens_no_other_key() -> None:
    key, old = make()
    key_rotate(uuid=key.uuid)
    with pytest.raises(InvalidInputError, match="in use"):
        make(secret=old)


def test_revoked_key_is_neither_changed_nor_rotated(operator: Api) -> None:
    key, _ = make()
    key_revoke(uuid=key.uuid)
    answers = [operator.patch(f"{KEYS}/{key.uuid}", {"name": "x"}), operator.post(f"{KEYS}/{key.uuid}/rotate")]
    assert [(one.status_code, one.json()["errors"][0]["code"]) for one in answers] == [(409, "revoked")] * 2
    assert key_get(key.uuid).name == "app"


def test_key_that_does_not_exist_is_not_found(operator: Api) -> None:
    assert operator.patch(f"{KEYS}/{NOWHERE}", {"name": "x"}).status_code == 404
    assert operator.post(f"{KEYS}/{NOWHERE}/rotate").status_code == 404


@pytest.mark.parametrize("overlap", [timedelta(seconds=-1), MAX_OVERLAP + timedelta(seconds=1)])
def test_an_overlap_has_bounds(overlap: timedelta) -> None:
    with pytest.raises(InvalidInputError):
        key_rotate(uuid=make()[0].uuid, overlap=overlap)


def test_an_operator_may_rotate_the_key_it_uses(operator: Api) -> None:
    rotated = operator.post(f"{KEYS}/{ApiKey.objects.get().uuid}/rotate", {"overlap_seconds": 0}).json()
    assert operator.get(KEYS).status_code == 401
    assert Api(rotated["key"]).get(KEYS).status_code == 200


def test_the_database_keeps_no_secret_that_never_ends() -> None:
    key, _ = make()
    with pytest.raises(IntegrityError, match="previous_secret_ends"), transaction.atomic():
        ApiKey.objects.filter(pk=key.pk).update(previous_digest="0" * 64)


# --- identifiers --------------------------------------------------------------------------------------


def test_different_values_are_those_that_the_rows_have() -> None:
    for user in ("zoe", "ana", "ana", "ben", "Ana", "ünal"):
        make(scope=Scope(user_id=user))
    make(scope=Scope(household_id="home"))
    known = distinct_values(ApiKey, "user_id", 10)
    assert sorted(known) == sorted({"zoe", "ana", "ben", "Ana", "ünal"})
    assert distinct_values(ApiKey, "user_id", 2) == known[:2]
    assert distinct_values(ApiKey, "household_id", 10) == ["home"]
    assert distinct_values(ApiKey, "persona_id", 10) == []
