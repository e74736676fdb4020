"""Who is let in: keys that are missing, malformed, ended or too weak, and the doors that ask for none (D1)."""

import logging

import pytest
from django.contrib import admin
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from tests.api import MEMORIES, Api, api_for
from tests.hostile.support import assert_refused, in_case, same, stored
from tests.hostile.world import NOWHERE, OPERATIONS, PUBLIC, SCOPES, Operation, World, refused_callers, sentinel
from tests.integration.webui.person import taken_back

pytestmark = pytest.mark.django_db

KEYS = "/api/keys"
ABOUT_KEYS = [operation for operation in OPERATIONS if operation.is_about_keys]
# What is refused changes nothing, so that the operations of a part of the API are called one after the other.
PARTS = {
    part: [operation for operation in OPERATIONS if operation.part == part]
    for part in sorted({operation.part for operation in OPERATIONS})
}
EACH_PART = pytest.mark.parametrize("part", PARTS)


# --- without a valid key ------------------------------------------------------------------------------


@EACH_PART
def test_without_valid_key_nothing_is_told_or_changed(world: World, part: str) -> None:
    callers = refused_callers()
    target = world.kept()[0].uuid
    before = stored()
    for operation in PARTS[part]:
        answers = {name: operation.call(api, target) for name, api in callers.items()}
        for name, answer in answers.items():
            with in_case(f"{operation}, {name}"):
                assert_refused(answer, 401, None)
                assert same(answer, answers["unknown"])
                assert answer["WWW-Authenticate"].startswith("Bearer")
        with in_case(operation):
            assert stored() == before
    assert not ApiKey.objects.filter(name__in=["revoked", "rotated"]).exclude(last_used_at=None).exists()


@EACH_PART
def test_without_any_key_every_method_is_refused_alike(world: World, part: str) -> None:
    before = stored()
    for operation in PARTS[part]:
        with in_case(operation):
            for method in (None, "OPTIONS", "HEAD", "PUT", "TRACE"):
                one = operation.call(Api(), world.kept()[0].uuid, method)
                assert one.status_code == 401
                assert same(one, operation.call(Api(), NOWHERE, method))
            assert stored() == before


MALFORMED = [
    "{key}", "Bearer", "Bearer ", "Basic {key}", "Token {key}", "Bearer {key} {key}", "Bearer, {key}", "Bearer:{key}",
    'Bearer "{key}"', "Bearer {key};", "Bearer\u00a0{key}", "bearer=({key})",
]  # fmt: skip


@EACH_PART
def test_a_malformed_header_opens_nothing(part: str) -> None:
    key = api_for(Scope(), Permission.OPERATOR).key
    before = stored()
    for operation in PARTS[part]:
        with in_case(operation):
            for template in MALFORMED:
                api = Api()
                api.client.defaults["HTTP_AUTHORIZATION"] = template.format(key=key)
                assert_refused(operation.call(api), 401, None)
            assert stored() == before


def test_key_in_address_or_in_cookie_opens_nothing() -> None:
    key = api_for(Scope()).key
    api = Api()
    api.client.cookies["Authorization"] = f"Bearer {key}"
    assert api.get(f"{MEMORIES}?key={key}&authorization={key}").status_code == 401


# --- what a key may do --------------------------------------------------------------------------------


@EACH_PART
def test_a_key_that_reads_writes_nothing(world: World, part: str) -> None:
    reader = api_for(Scope(), Permission.READ)
    key = ApiKey.objects.all()[0].uuid
    before = stored()
    for operation in [operation for operation in PARTS[part] if operation.is_write]:
        with in_case(operation):
            for target in [key] if operation.is_about_keys else [m.uuid for m in world.memories[:2]]:
                assert_refused(operation.call(reader, target), 403, None)
                assert same(operation.call(reader, target), operation.call(reader, NOWHERE))
            assert stored() == before


@pytest.mark.parametrize("operation", ABOUT_KEYS, ids=str)
@pytest.mark.parametrize("permission", [Permission.READ, Permission.WRITE])
def test_only_an_operator_touches_keys(operation: Operation, permission: Permission) -> None:
    other = api_for(Scope(), Permission.OPERATOR)
    caller = api_for(Scope(), permission)
    before = stored()
    answers = [operation.call(caller, key.uuid) for key in ApiKey.objects.all()]
    for answer in answers:
        assert_refused(answer, 403, None)
        assert same(answer, operation.call(caller, NOWHERE))
        assert str(other.key)[:8] not in answer.content.decode()
    assert stored() == before


def test_a_writer_cannot_make_itself_an_operator() -> None:
    writer = api_for(Scope(user_id="ana"))
    assert writer.post(KEYS, {"name": "mine", "permissions": ["operator"]}).status_code == 403
    assert ApiKey.objects.count() == 1


def test_the_list_of_keys_never_shows_a_secret() -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    made = operator.post(KEYS, {"name": "new", "user_id": "ana"}).json()
    for answer in (operator.get(KEYS), operator.get(f"{KEYS}/{made['id']}")):
        assert made["key"] not in answer.content.decode()
        assert ApiKey.objects.get(uuid=made["id"]).digest not in answer.content.decode()


# --- other doors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(PUBLIC - {"api/docs"}))
def test_public_addresses_speak_of_no_memory(world: World, path: str) -> None:
    api_for(Scope("ana", "home", "chef")).search("secret")
    body = Api().get(f"/{path}").content.decode()
    for memory in world.memories:
        assert sentinel(memory.scope) not in body
        assert str(memory.uuid) not in body
    # The examples of the documentation have people of the same names.
    assert path == "api/schema" or all(name not in body for name in ('"ana"', '"home"', '"chef"', "mh_"))


def test_an_api_key_does_not_open_the_admin() -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses = [reverse(f"{name}_{page}") for page in ("changelist", "add")]
        addresses += [reverse(f"{name}_{page}", args=[1]) for page in ("change", "delete", "history")]
        for address in addresses:
            for method in ("GET", "POST"):
                response = operator.call(method, address)
                assert response.status_code == 302, address
                assert response["Location"].startswith(reverse("admin:login"))


@EACH_PART
def test_logs_hold_no_content_and_no_key(world: World, part: str, caplog: pytest.LogCaptureFixture) -> None:
    api = api_for(Scope(), Permission.OPERATOR)
    for name in (None, "apps", "memoryhub"):
        caplog.set_level(logging.DEBUG, name)
    for operation in PARTS[part]:
        caplog.clear()
        with taken_back(operation):
            for memory in world.memories[:2]:
                operation.call(api, memory.uuid)
            operation.call(Api("mh_unknown" + "x" * 40))
            assert str(api.key) not in caplog.text
            assert "mh_unknown" not in caplog.text
            assert all(sentinel(scope) not in caplog.text for scope in SCOPES)
