"""An app without a key is connected by a code, as in RFC 8628: once, for minutes, and guessed by nobody."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse

from apps.audit.models import AuditEntry
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import InvalidInputError, NotFoundError, ThrottledError
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.personal.registry import personal_stores
from apps.core.services import key_create
from apps.people.connecting import (
    LETTERS,
    LIFETIME,
    MAX_PER_CLIENT,
    Codes,
    digest_of,
    new_user_code,
    read_user_code,
    show_user_code,
)
from apps.people.models import ConnectionRequest
from apps.people.services import (
    connection_answer,
    connection_fetch,
    connection_find,
    connection_request,
    connections_trim,
)
from tests.api import MEMORIES, Api, api_for

pytestmark = pytest.mark.django_db

CONNECT, TOKEN = "/api/connect", "/api/connect/token"
SECOND = 1_000


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(SYSTEM_CLOCK.now())


def asked(clock: Any = SYSTEM_CLOCK, **fields: Any) -> Codes:
    options = {"name": "Reading lamp", "permission": Permission.WRITE, "address": "192.0.2.7", **fields}
    return connection_request(**options, clock=clock)


def confirm(codes: Codes, permission: Permission | None = Permission.WRITE, clock: Any = SYSTEM_CLOCK) -> None:
    connection_answer(uuid=codes.request.uuid, user_id="ana", permission=permission, clock=clock)


def refused(codes: Codes, clock: Any) -> str:
    """The word with which the app is refused its key."""
    with pytest.raises(InvalidInputError) as error:
        connection_fetch(device_code=codes.device_code, clock=clock)
    return error.value.code


def code_of(answer: HttpResponse) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]  # type: ignore[attr-defined]


def test_an_app_without_a_key_gets_one_over_rest(caplog: pytest.LogCaptureFixture) -> None:
    app = Api()
    answer = app.post(CONNECT, {"name": "Reading lamp", "permission": "write"})
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    codes = answer.json()
    assert codes["verification_uri"] == "http://testserver/apps/connect/"
    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert code_of(app.post(TOKEN, {"device_code": codes["device_code"]})) == (400, "authorization_pending")
    waiting = connection_find(codes["user_code"].lower().replace("-", " "))
    connection_answer(uuid=waiting.uuid, user_id="ana", permission=Permission.WRITE)
    ConnectionRequest.objects.update(asked_at=None)
    with caplog.at_level(logging.DEBUG):
        given = app.post(TOKEN, {"device_code": codes["device_code"]})
    assert (given.status_code, given["Cache-Control"]) == (200, "no-store")
    body = given.json()
    assert (body["user_id"], body["permission"], body["name"]) == ("ana", "write", "Reading lamp")
    assert Api(body["key"]).save("Ana likes tea")["user_id"] == "ana"
    assert Api(body["key"]).post(MEMORIES, {"content": "x", "user_id": "ben"}).status_code == 403
    assert code_of(app.post(TOKEN, {"device_code": codes["device_code"]})) == (400, "expired_token")
    secrets = (body["key"], codes["device_code"], codes["user_code"], codes["user_code"].replace("-", ""))
    kept = [str(row) for model in (ConnectionRequest, ApiKey, AuditEntry) for row in model.objects.values()]
    assert not any(secret in text for secret in secrets for text in [caplog.text, *kept])


def test_a_key_is_bound_to_who_confirmed_and_may_no_more_than_that() -> None:
    codes = asked()
    confirm(codes, Permission.READ)
    key, secret = connection_fetch(device_code=codes.device_code)
    assert (key.scope, key.permission, key.created_by) == (Scope("ana"), "read", "person:ana")
    assert key.origin == "app"
    assert Api(secret).post(MEMORIES, {"content": "Ana likes tea"}).status_code == 403
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action, entry.user_id) == ("person:ana", "app.connected", "ana")
    codes = asked(permission=Permission.READ)
    with pytest.raises(InvalidInputError):
        confirm(codes, Permission.WRITE)


def test_what_a_person_connected_stays_an_app() -> None:
    codes = asked()
    confirm(codes)
    key, _ = connection_fetch(device_code=codes.device_code)
    operator = api_for(Scope(), Permission.OPERATOR)
    refused = operator.patch(f"/api/keys/{key.uuid}", {"origin": "person"})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "origin")
    assert operator.patch(f"/api/keys/{key.uuid}", {"origin": "derived"}).json()["origin"] == "derived"


def test_an_app_waits_until_the_person_answers(clock: DeterministicClock) -> None:
    codes = asked(clock)
    assert refused(codes, clock) == "authorization_pending"
    clock.advance(4 * SECOND)
    assert refused(codes, clock) == "slow_down"
    clock.advance(9 * SECOND)
    assert refused(codes, clock) == "slow_down"
    clock.advance(15 * SECOND)
    assert refused(codes, clock) == "authorization_pending"
    confirm(codes, clock=clock)
    clock.advance(15 * SECOND)
    connection_fetch(device_code=codes.device_code, clock=clock)
    assert refused(codes, clock) == "expired_token"
    assert ApiKey.objects.count() == 1


def test_who_refuses_gives_no_key(clock: DeterministicClock) -> None:
    codes = asked(clock)
    confirm(codes, None, clock)
    assert refused(codes, clock) == "access_denied"
    with pytest.raises(NotFoundError):
        confirm(codes, Permission.READ, clock)
    assert not ApiKey.objects.exists()


def test_a_code_ends_after_ten_minutes(clock: DeterministicClock) -> None:
    codes, late = asked(clock), asked(clock)
    confirm(late, clock=clock)
    clock.advance(int(LIFETIME.total_seconds()) * SECOND)
    assert refused(codes, clock) == refused(late, clock) == "expired_token"
    for call in (lambda: connection_find(codes.user_code, clock=clock), lambda: confirm(codes, clock=clock)):
        with pytest.raises(NotFoundError):
            call()
    asked(clock)
    assert connections_trim(clock=clock) == 2
    assert ConnectionRequest.objects.count() == 1


def test_a_code_is_typed_in_any_way_and_is_no_other_one() -> None:
    codes = asked()
    shown = show_user_code(codes.user_code)
    assert shown[4] == "-"
    for typed in (shown, codes.user_code, shown.lower(), f" {shown} "):
        assert connection_find(typed) == codes.request
    for typed in ("", "AAAA-AAAA", shown[:-1], shown + "B", "*" * 8, codes.request.user_digest):
        with pytest.raises(NotFoundError):
            connection_find(typed)
    assert not set("AEIOUY01") & set(LETTERS)
    assert len({new_user_code() for _ in range(100)}) == 100
    assert read_user_code("ABCD-EFGH") is None


def test_one_address_asks_only_so_often(clock: DeterministicClock) -> None:
    for _ in range(MAX_PER_CLIENT):
        asked(clock)
    with pytest.raises(ThrottledError):
        asked(clock)
    asked(clock, address="192.0.2.8")
    clock.advance(int(LIFETIME.total_seconds()) * SECOND)
    asked(clock)
    assert all(row.address_digest == digest_of("address", "192.0.2.7") for row in ConnectionRequest.objects.all()[:2])


def test_too_many_over_rest_are_told_to_wait() -> None:
    app = Api()
    answers = [app.post(CONNECT, {"name": "lamp"}) for _ in range(MAX_PER_CLIENT + 1)]
    assert [answer.status_code for answer in answers] == [200] * MAX_PER_CLIENT + [429]
    assert int(answers[-1]["Retry-After"]) > 0


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 101}, {"name": "lamp", "permission": "operator"}, {"name": "a\0b"}]
)
def test_a_request_that_cannot_be_shown_or_granted_is_refused(body: dict[str, str]) -> None:
    assert Api().post(CONNECT, body).status_code == 400
    assert not ConnectionRequest.objects.exists()


def test_an_app_is_told_apart_from_others_of_its_name() -> None:
    key_create(name="Reading lamp", scope=Scope(), permission=Permission.READ, actor="test")
    for expected in ("Reading lamp (2)", "Reading lamp (3)"):
        codes = asked()
        confirm(codes)
        assert connection_fetch(device_code=codes.device_code)[0].name == expected


def test_a_person_who_is_forgotten_is_named_by_no_request() -> None:
    codes = asked()
    confirm(codes)
    store = next(store for store in personal_stores() if store.name == "apps")
    assert (store.count("ana"), list(store.forget("ana")), list(store.find("ana"))) == (1, [1], [])
    assert refused(codes, SYSTEM_CLOCK) == "expired_token"


def test_requests_end_on_their_own() -> None:
    codes = asked()
    ConnectionRequest.objects.update(expires_at=utcnow(SYSTEM_CLOCK) - timedelta(seconds=1))
    assert refused(codes, SYSTEM_CLOCK) == "expired_token"
