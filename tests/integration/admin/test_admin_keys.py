"""API keys in the admin: made, shown once, revoked."""

import html
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.audit.models import AuditEntry
from apps.core.admin.key_forms import NOT_CONFIRMED
from apps.core.domain.keys import MISSING_BOUND
from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.models import ApiKey, KeyDay
from apps.core.selectors import key_verify
from apps.core.services import key_create, key_revoke, key_stop, key_update
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.api import api_for
from tests.integration.admin.pages import address, run, text_of

pytestmark = pytest.mark.django_db

SECRET = re.compile(r'id="mh-secret"[^>]*value="([^"]+)"')


def add(client: Client, **fields: str | list[str]) -> Any:
    whose = {} if {"user_id", "household_id"} & fields.keys() else {"unbound": "on", "confirmed": "on"}
    return client.post(address(ApiKey, "add"), {"name": "kitchen", "permission": "write", **whose, **fields})


def secret_in(response: HttpResponse) -> str:
    found = SECRET.search(response.content.decode())
    assert found, response
    return found[1]


def a_key(name: str = "kitchen") -> ApiKey:
    return key_create(name=name, scope=Scope(), permission=Permission.READ, actor="test")[0]


def test_a_new_key_works_as_it_was_ordered(operator: Client) -> None:
    secret = secret_in(add(operator, user_id="ana", household_id="home"))
    key = key_verify(secret, timezone.now())
    assert key is not None
    assert (key.scope, key.permission) == (Scope("ana", "home"), "write")
    assert key.created_by == "admin:operator"


def test_origin_of_a_key_is_chosen_and_changed(operator: Client) -> None:
    secret_in(add(operator, user_id="ana", origin="person"))
    key = ApiKey.objects.get(user_id="ana")
    change = address(ApiKey, "change", key.pk)
    assert (key.origin, "Said by a person" in text_of(operator, change)) == ("person", True)
    operator.post(change, {"name": key.name, "origin": "document"})
    key.refresh_from_db()
    assert key.origin == "document"


def test_what_a_person_connected_stays_an_app(operator: Client) -> None:
    key = key_create(name="lamp", scope=Scope("ana"), permission=Permission.READ, actor="person:ana")[0]
    page = operator.post(address(ApiKey, "change", key.pk), {"name": "lamp", "origin": "person"})
    key.refresh_from_db()
    assert (page.status_code, key.origin) == (200, "app")
    assert "A key that a person connected is an app" in page.content.decode()


def test_what_a_key_may_read_besides_is_chosen_from_who_there_is_or_entered(operator: Client) -> None:
    api_for(Scope()).save("tea", user_id="team:kitchen")
    page = text_of(operator, address(ApiKey, "add"))
    assert page.count('name="reads"') == 3
    assert '<option value="team:kitchen"></option>' in page.partition('id="mh-known-owners"')[2]
    answer = add(operator, user_id="ana", reads=["team:kitchen", "", "ben", "ben"])
    secret_in(answer)
    assert "ben, team:kitchen" in answer.content.decode()
    key = ApiKey.objects.get(user_id="ana")
    assert key.reads == ["ben", "team:kitchen"]
    change = address(ApiKey, "change", key.pk)
    assert text_of(operator, change).count('name="reads"') == 5
    operator.post(change, {"name": "kitchen", "reads": ["team:kitchen"]})
    key.refresh_from_db()
    assert key.reads == ["team:kitchen"]
    assert "team:kitchen" in text_of(operator, address(ApiKey, "changelist"))


def test_a_page_that_was_open_brings_no_grant_back_and_ends_none(operator: Client) -> None:
    key, _ = key_create(
        name="kitchen", scope=Scope("ana"), permission=Permission.READ, actor="test", reads=["ben", "cem"]
    )
    change = address(ApiKey, "change", key.pk)
    field = re.search(r'<input[^>]*name="shown_reads"[^>]*>', text_of(operator, change))
    assert field
    shown = re.search(r'value="([^"]*)"', field[0])
    assert shown
    page = {"name": "kitchen", "shown_reads": html.unescape(shown[1])}

    key_update(uuid=key.uuid, changes={"reads": ["cem", "dora"]})
    operator.post(change, page | {"name": "pantry", "reads": ["ben", "cem"]})
    key.refresh_from_db()
    assert (key.name, key.reads) == ("pantry", ["cem", "dora"])

    operator.post(change, page | {"reads": ["ben", "emil"]})
    key.refresh_from_db()
    assert key.reads == ["dora", "emil"]

    answer = operator.post(change, page | {"shown_reads": "{}", "reads": []})
    assert "Reload the page." in answer.content.decode()


def test_a_key_is_found_by_what_it_was_granted(operator: Client) -> None:
    for name, reads in (("kitchen", ["team:küche"]), ("cellar", ["ben"])):
        key_create(name=name, scope=Scope("ana"), permission=Permission.READ, actor="test", reads=reads)
    page = text_of(operator, address(ApiKey, "changelist") + "?q=team:küche")
    assert "kitchen" in page
    assert "cellar" not in page


def test_grants_that_are_none_are_refused_with_the_reason(operator: Client) -> None:
    for reads, problem in ((["x" * 201], "at most 200"), ([str(n) for n in range(51)], "At most 50")):
        assert problem in add(operator, user_id="ana", reads=reads).content.decode()
    assert "reads everything already" in add(operator, reads=["ben"]).content.decode()
    assert not ApiKey.objects.exists()


def test_answer_with_secret_is_kept_by_nobody(operator: Client) -> None:
    response = add(operator)
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    assert response.content.decode().count(secret_in(response)) == 4, "the field, and three examples"


def test_the_secret_is_nowhere_else_afterwards(operator: Client) -> None:
    secret = secret_in(add(operator))
    key = ApiKey.objects.get()
    for url in (address(ApiKey, "changelist"), address(ApiKey, "change", key.pk), reverse("admin:index")):
        assert secret not in text_of(operator, url)
    entry = AuditEntry.objects.latest("pk")
    assert entry.object_id == str(key.pk)
    assert secret not in json.dumps(entry.detail)
    assert all(secret not in str(session.get_decoded()) for session in Session.objects.all())
    assert all(secret not in cookie.value for cookie in operator.cookies.values())


def test_operator_key_with_bound_is_refused_with_reason(operator: Client) -> None:
    response = add(operator, permission="operator", user_id="ana")
    assert "An operator key is bound to nothing." in response.content.decode()
    assert not ApiKey.objects.exists()


def test_expiry_in_past_is_refused_with_reason(operator: Client) -> None:
    response = add(operator, expires_at_0="2020-01-01", expires_at_1="00:00:00")
    assert "The expiry must be in the future." in response.content.decode()
    assert not ApiKey.objects.exists()


def test_who_may_only_look_cannot_make_a_key(staff: Callable[..., Client]) -> None:
    assert add(staff("view_apikey")).status_code == 403
    assert not ApiKey.objects.exists()


def test_who_may_only_make_keys_gets_secret_and_goes_on_to_overview(staff: Callable[..., Client]) -> None:
    response = add(staff("add_apikey"))
    assert key_verify(secret_in(response), timezone.now())
    assert response.context["list_url"] == reverse("admin:index")


def test_revoking_asks_first(operator: Client) -> None:
    key = a_key()
    text = run(operator, "revoke", [key]).content.decode()
    assert "Revoke these keys?" in text
    assert str(key) in text
    key.refresh_from_db()
    assert key.revoked_at is None


def test_the_answer_yes_revokes_and_is_logged(operator: Client) -> None:
    chosen, other = a_key(), a_key("other")
    response = run(operator, "revoke", [chosen], confirmed="yes")
    assert "1 key revoked." in response.content.decode()
    for key in (chosen, other):
        key.refresh_from_db()
    assert chosen.revoked_at is not None
    assert other.revoked_at is None
    assert AuditEntry.objects.latest("pk").detail["said"] == "Revoked."


def test_revoking_twice_says_that_it_was_done_before(operator: Client) -> None:
    key = a_key()
    run(operator, "revoke", [key], confirmed="yes")
    assert "already revoked" in run(operator, "revoke", [key], confirmed="yes").content.decode()


def test_who_may_only_look_cannot_revoke(staff: Callable[..., Client]) -> None:
    key = a_key()
    run(staff("view_apikey"), "revoke", [key], confirmed="yes")
    key.refresh_from_db()
    assert key.revoked_at is None


def test_who_may_change_keys_can_revoke(staff: Callable[..., Client]) -> None:
    key = a_key()
    run(staff("view_apikey", "change_apikey"), "revoke", [key], confirmed="yes")
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_key_without_bound_must_be_asked_for(operator: Client) -> None:
    fields = {"name": "kitchen", "permission": "write"}
    response = operator.post(address(ApiKey, "add"), fields)
    assert MISSING_BOUND in html.unescape(response.content.decode())
    assert "Keep one of the two." in add(operator, user_id="ana", unbound="on").content.decode()
    assert not ApiKey.objects.exists()
    assert key_verify(
        secret_in(operator.post(address(ApiKey, "add"), fields | {"permission": "operator", "confirmed": "on"})),
        timezone.now(),
    )


def test_key_that_sees_everything_must_be_confirmed(operator: Client) -> None:
    for fields in ({"permission": "write", "unbound": "on"}, {"permission": "operator"}):
        answer = operator.post(address(ApiKey, "add"), {"name": "kitchen", **fields})
        assert str(NOT_CONFIRMED) in html.unescape(answer.content.decode())
    assert not ApiKey.objects.exists()


def test_scope_is_chosen_from_what_there_is_with_counts(operator: Client, remember: Callable[..., Memory]) -> None:
    for user, content in (("ana", "tea"), ("ana", "milk"), ("ben", "rum")):
        draft = MemoryDraft(content, scope=Scope(user, "home"))
        memory_save(access=system_access("test"), draft=draft)
    page = text_of(operator, address(ApiKey, "add"))
    assert '<option value="home">2 people, 3 memories</option>' in page
    assert '<option value="ana">2 memories</option>' in page


def test_new_key_is_proposed_to_live_90_days(operator: Client) -> None:
    shown = text_of(operator, address(ApiKey, "add"))
    assert f"{timezone.now() + timedelta(days=90):%Y-%m-%d}" in shown


def test_key_is_revoked_on_its_page(operator: Client) -> None:
    key = a_key()
    page = address(ApiKey, "revoke_this", key.pk)
    assert page in text_of(operator, address(ApiKey, "change", key.pk))
    operator.post(page, {"_form_submitted": "True"})
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert page not in text_of(operator, address(ApiKey, "change", key.pk))


def test_examples_of_a_new_key_work_as_they_are(operator: Client) -> None:
    for fields, path in (
        ({"user_id": "ana"}, "/api/semantic/memories"),
        ({"permission": "read"}, "/api/semantic/search"),
    ):
        answer = add(operator, **fields)
        secret = secret_in(answer)
        curl, _, mcp = answer.context["snippets"]
        body = json.loads(re.findall(r"-d '(.*)'", curl.text)[0])
        assert path in curl.text
        assert json.loads(mcp.text)["mcpServers"]["memoryhub"]["env"]["MEMORYHUB_API_KEY"] == secret
        headers = {"Authorization": f"Bearer {secret}"}
        called = operator.post(path, body, content_type="application/json", headers=headers)
        assert called.status_code in {200, 201}, called.content


def test_first_call_of_a_new_key_is_seen(operator: Client) -> None:
    answer = add(operator, user_id="ana")
    key = ApiKey.objects.get()
    waiting = reverse("admin:core_apikey_first_call", args=[key.pk])
    assert waiting in answer.content.decode()
    assert "Waiting for its first call" in text_of(operator, waiting)
    operator.get("/api/semantic/memories", headers={"Authorization": f"Bearer {secret_in(answer)}"})
    done = text_of(operator, waiting)
    assert "its first call came at" in done
    assert "hx-get" not in done


def test_who_may_not_see_keys_learns_nothing_of_their_use(staff: Callable[..., Client]) -> None:
    key = a_key()
    assert staff("add_apikey").get(reverse("admin:core_apikey_first_call", args=[key.pk])).status_code == 403


def test_list_shows_use_and_refusals_of_each_day(operator: Client) -> None:
    key = a_key()
    today = timezone.now().date()
    KeyDay.objects.create(key=key, day=today, used=40, refused=2)
    KeyDay.objects.create(key=key, day=today - timedelta(days=3), used=2)
    KeyDay.objects.create(key=key, day=today - timedelta(days=20), used=1_000)
    for url in (address(ApiKey, "changelist"), address(ApiKey, "change", key.pk)):
        text = text_of(operator, url)
        assert "Used 42 times in 14 days, refused 2 times" in text
        assert f"{today}: 40 uses, 2 refused" in text


def test_list_of_keys_takes_as_many_queries_with_many(operator: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            text_of(operator, address(ApiKey, "changelist"))
        return len(made)

    a_key()
    queries()
    few = queries()
    for number in range(5):
        KeyDay.objects.create(key=a_key(f"key {number}"), day=timezone.now().date(), used=1)
    assert queries() <= few


def test_existing_identifiers_are_suggested_and_others_accepted(
    operator: Client, remember: Callable[..., Memory]
) -> None:
    for user in ("zoe", "ana", '"<b>'):
        remember("tea", user=user)
    key_create(name="app", scope=Scope("cem", "home", "chef"), permission=Permission.READ, actor="test")
    text = text_of(operator, address(ApiKey, "add"))
    for name, known in {
        "user_id": ['"<b>', "ana", "cem", "zoe"],
        "household_id": ["home"],
        "persona_id": ["chef"],
    }.items():
        [options] = re.findall(rf'<datalist id="mh-known-{name}">(.*?)</datalist>', text)
        assert [html.unescape(one) for one in re.findall(r'value="([^"]*)"', options)] == known
        assert f'list="mh-known-{name}"' in text
    assert key_verify(secret_in(add(operator, user_id="somebody new")), timezone.now())


def test_only_name_and_expiry_are_changed_and_nothing_is_deleted(operator: Client) -> None:
    key = a_key()
    changes = {"name": "pantry", "permission": "operator", "user_id": "ana", "expires_at_0": "2099-01-01"}
    operator.post(address(ApiKey, "change", key.pk), {**changes, "expires_at_1": "00:00:00"})
    assert operator.post(address(ApiKey, "delete", key.pk), {"post": "yes"}).status_code == 403
    key.refresh_from_db()
    assert (key.name, key.permission, key.scope) == ("pantry", "read", Scope())
    assert key.expires_at is not None
    assert key.expires_at.year == 2099
    assert AuditEntry.objects.filter(object_id=str(key.pk), detail__name="pantry").exists()


def test_expired_key_is_renamed_without_a_new_expiry(operator: Client) -> None:
    key = a_key()
    ApiKey.objects.update(expires_at="2020-01-01T00:00:00Z")
    fields = {"name": "pantry", "expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}
    operator.post(address(ApiKey, "change", key.pk), fields)
    key.refresh_from_db()
    assert key.name == "pantry"


def test_revoked_key_is_not_changed(operator: Client) -> None:
    key = a_key()
    key_revoke(uuid=key.uuid)
    assert operator.post(address(ApiKey, "change", key.pk), {"name": "pantry"}).status_code == 403
    assert operator.post(address(ApiKey, "rotate", key.pk), {"overlap": "0"}).status_code == 403
    assert "/rotate" not in text_of(operator, address(ApiKey, "change", key.pk))


def test_rotation_asks_and_shows_the_new_secret_once(operator: Client) -> None:
    key, old = key_create(name="kitchen", scope=Scope(), permission=Permission.READ, actor="test")
    page = address(ApiKey, "rotate", key.pk)
    assert page in text_of(operator, address(ApiKey, "change", key.pk))
    assert "Rotate the key kitchen?" in text_of(operator, page)
    assert key_verify(old, timezone.now()), "asking changes nothing"
    response = operator.post(page, {"overlap": "86400"})
    new = secret_in(response)
    assert "no-store" in response.headers["Cache-Control"]
    assert key_verify(old, timezone.now()) == key_verify(new, timezone.now()) == key
    assert new not in text_of(operator, address(ApiKey, "change", key.pk))
    assert AuditEntry.objects.latest("pk").detail["said"] == "Rotated."


def test_rotation_in_the_admin_may_end_the_old_secret_at_once(operator: Client) -> None:
    key, old = key_create(name="kitchen", scope=Scope(), permission=Permission.READ, actor="test")
    assert operator.post(address(ApiKey, "rotate", key.pk), {"overlap": "12345"}).status_code == 200
    assert key_verify(old, timezone.now()), "no overlap that was offered"
    assert "no longer" in operator.post(address(ApiKey, "rotate", key.pk), {"overlap": "0"}).content.decode()
    assert key_verify(old, timezone.now()) is None


def test_who_may_only_look_cannot_rotate(staff: Callable[..., Client]) -> None:
    key = a_key()
    assert staff("view_apikey").post(address(ApiKey, "rotate", key.pk), {"overlap": "0"}).status_code == 403
    key.refresh_from_db()
    assert key.rotated_at is None


def test_the_page_of_a_key_says_who_stopped_it(operator: Client) -> None:
    key = a_key()
    assert "marigold" not in text_of(operator, address(ApiKey, "change", key.pk))
    key_stop(uuid=key.uuid, user_id="marigold")
    page = text_of(operator, address(ApiKey, "change", key.pk))
    assert "Stopped by" in page
    assert "marigold" in page
