"""API keys: made, stored, used and ended (issue 2, "core")."""

import hashlib
from datetime import timedelta
from itertools import product

import pytest
from django.db import IntegrityError, transaction

from apps.core.domain import keys
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import InvalidInputError, NotFoundError
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.selectors import key_get, key_list, key_verify, usable_keys
from apps.core.services import key_create, key_revoke, key_touch
from tests.api import MEMORIES, Api, api_for, error_attrs

pytestmark = pytest.mark.django_db

KEYS = "/api/keys"
NOWHERE = "00000000-0000-4000-8000-000000000000"
MINUTE = 60_000


def make(**options: object) -> tuple[ApiKey, str]:
    arguments = {"name": "app", "scope": Scope(), "permission": Permission.WRITE, "actor": "test", **options}
    return key_create(**arguments)  # type: ignore[arg-type]


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.OPERATOR)


def test_a_new_key_is_long_and_random() -> None:
    secrets = {keys.generate_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(keys.is_well_formed(secret) and secret.startswith("mh_") and len(secret) == 46 for secret in secrets)


def test_only_the_digest_of_a_key_is_stored() -> None:
    key, secret = make()
    stored = ApiKey.objects.filter(pk=key.pk).values().get()
    assert stored["digest"] == hashlib.sha256(secret.encode()).hexdigest()
    assert stored["shown"] == secret[:8]
    assert not any(secret in str(value) for value in stored.values())


@pytest.mark.parametrize("secret", ["x" * 31, "x" * 201, "x" * 40 + " ", "x" * 40 + "\n", "ü" * 40, "x" * 40 + "\x7f"])
def test_a_given_key_must_be_long_and_printable(secret: str) -> None:
    assert not keys.is_well_formed(secret)
    with pytest.raises(InvalidInputError) as refused:
        make(secret=secret)
    assert refused.value.attr == "key"
    assert secret not in refused.value.detail


@pytest.mark.parametrize("secret", ["x" * 32, "!~" * 100])
def test_given_key_of_32_to_200_characters_works(secret: str) -> None:
    make(secret=secret)
    assert Api(secret).get(MEMORIES).status_code == 200


def test_a_secret_is_used_once() -> None:
    make(secret="x" * 32)
    with pytest.raises(InvalidInputError, match="in use"):
        make(secret="x" * 32)


def test_a_key_is_found_by_its_secret_only() -> None:
    key, secret = make()
    now = utcnow(SYSTEM_CLOCK)
    assert key_verify(secret, now) == key
    for other in (secret[:-1], secret + "x", secret.upper(), key.digest, key.shown, str(key.uuid), ""):
        assert key_verify(other, now) is None


def test_a_key_ends_at_its_expiry() -> None:
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    end = utcnow(clock) + timedelta(minutes=1)
    _, secret = make(expires_at=end, clock=clock)
    clock.advance(MINUTE - 1)
    assert key_verify(secret, utcnow(clock)) is not None
    clock.advance(1)
    assert key_verify(secret, utcnow(clock)) is None


def test_keys_that_open_door_are_those_that_are_counted_as_usable() -> None:
    now = utcnow(SYSTEM_CLOCK)
    moments = (None, now - timedelta(seconds=1), now, now + timedelta(microseconds=1))
    secrets = {}
    for expires_at, revoked_at in product(moments, moments):
        key, secret = make()
        ApiKey.objects.filter(pk=key.pk).update(expires_at=expires_at, revoked_at=revoked_at)
        secrets[secret] = key
    opening = [key for secret, key in secrets.items() if key_verify(secret, now)]
    assert opening == list(usable_keys(now).order_by("pk"))
    assert len(opening) == 2


@pytest.mark.parametrize("seconds", [0, -1])
def test_an_expiry_lies_in_the_future(seconds: int) -> None:
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    with pytest.raises(InvalidInputError) as refused:
        make(expires_at=utcnow(clock) + timedelta(seconds=seconds), clock=clock)
    assert refused.value.attr == "expires_at"


def test_revoked_key_ends_at_once_and_stays_on_record() -> None:
    api = api_for(Scope())
    assert api.get(MEMORIES).status_code == 200
    key = ApiKey.objects.get()
    key_revoke(uuid=key.uuid)
    assert api.get(MEMORIES).status_code == 401
    assert key_get(key.uuid).revoked_at is not None


def test_a_key_is_revoked_once() -> None:
    key, _ = make()
    key_revoke(uuid=key.uuid)
    revoked_at = key_get(key.uuid).revoked_at
    with pytest.raises(NotFoundError):
        key_revoke(uuid=key.uuid)
    assert key_get(key.uuid).revoked_at == revoked_at


def test_the_last_use_is_noted_to_the_minute() -> None:
    key, _ = make()
    clock = DeterministicClock(SYSTEM_CLOCK.now())
    moments = []
    for pause in (0, MINUTE - 1, 1):
        clock.advance(pause)
        key.refresh_from_db()
        key_touch(key=key, clock=clock)
        moments.append(key_get(key.uuid).last_used_at)
    assert moments[0] == moments[1] == utcnow(clock) - timedelta(minutes=1)
    assert moments[2] == utcnow(clock)


def test_using_a_key_notes_when() -> None:
    api = api_for(Scope())
    before = utcnow(SYSTEM_CLOCK)
    api.get(MEMORIES)
    assert before <= ApiKey.objects.get().last_used_at <= utcnow(SYSTEM_CLOCK)  # type: ignore[operator]


def test_an_operator_key_is_bound_to_nothing() -> None:
    with pytest.raises(InvalidInputError) as refused:
        make(permission=Permission.OPERATOR, scope=Scope(persona_id="chef"))
    assert refused.value.attr == "permissions"
    key, _ = make(permission=Permission.OPERATOR)
    with pytest.raises(IntegrityError, match="operator_unbound"), transaction.atomic():
        ApiKey.objects.filter(pk=key.pk).update(user_id="ana")


def test_an_operator_makes_a_key_that_works(operator: Api) -> None:
    response = operator.post(KEYS, {"name": "chef", "user_id": "ana", "persona_id": "chef", "permissions": ["write"]})
    made = response.json()
    assert response.status_code == 201
    assert made["permissions"] == ["read", "write"]
    assert (made["user_id"], made["household_id"], made["persona_id"]) == ("ana", None, "chef")
    assert made["key"].startswith(made["shown"])
    saved = Api(made["key"]).save("tea")
    assert (saved["user_id"], saved["persona_id"]) == ("ana", "chef")


def test_the_secret_is_shown_once(operator: Api) -> None:
    made = operator.post(KEYS, {"name": "app", "unbound": True}).json()
    shown = operator.get(f"{KEYS}/{made['id']}").json()
    assert "key" not in shown
    assert shown == {name: value for name, value in made.items() if name != "key"}
    assert all("key" not in item for item in operator.get(KEYS).json()["results"])


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (None, ["read", "write"]),
        (["read"], ["read"]),
        (["write", "read"], ["read", "write"]),
        (["operator"], ["read", "write", "operator"]),
    ],
)
def test_the_highest_permission_named_counts(operator: Api, given: list[str] | None, level: list[str]) -> None:
    body = {"name": "app", "unbound": True} | ({} if given is None else {"permissions": given})
    assert operator.post(KEYS, body).json()["permissions"] == level


def test_an_expiry_is_shown_in_utc(operator: Api) -> None:
    made = operator.post(KEYS, {"name": "app", "user_id": "ana", "expires_at": "2099-05-08T15:56:00+02:00"}).json()
    assert made["expires_at"] == "2099-05-08T13:56:00Z"


def test_a_key_is_revoked_over_rest(operator: Api) -> None:
    made = operator.post(KEYS, {"name": "app", "unbound": True}).json()
    assert operator.delete(f"{KEYS}/{made['id']}").status_code == 204
    assert Api(made["key"]).get(MEMORIES).status_code == 401
    assert operator.delete(f"{KEYS}/{made['id']}").status_code == 404
    assert operator.get(f"{KEYS}/{made['id']}").json()["revoked_at"] is not None


def test_an_operator_may_revoke_the_key_it_uses(operator: Api) -> None:
    assert operator.delete(f"{KEYS}/{ApiKey.objects.get().uuid}").status_code == 204
    assert operator.get(KEYS).status_code == 401


def test_a_key_that_does_not_exist_is_not_found(operator: Api) -> None:
    assert operator.get(f"{KEYS}/{NOWHERE}").status_code == 404
    assert operator.delete(f"{KEYS}/{NOWHERE}").status_code == 404


def test_keys_are_listed_newest_first_with_their_makers(operator: Api) -> None:
    for name in ("one", "two"):
        operator.post(KEYS, {"name": name, "user_id": "ana"})
    answer = operator.get(KEYS).json()
    assert [item["name"] for item in answer["results"]] == ["two", "one", "test"] == [k.name for k in key_list()]
    assert answer["count"] == 3
    assert [item["created_by"] for item in answer["results"]] == ["key:test", "key:test", "test"]


def test_a_refused_key_is_not_made(operator: Api) -> None:
    response = operator.post(KEYS, {"name": "x", "household_id": " ", "permissions": ["root"], "colour": "red"})
    assert response.status_code == 400
    assert error_attrs(response) == ["colour"]
    assert ApiKey.objects.count() == 1
