"""Every change by an operator leaves one entry of the audit, whatever becomes of the operator."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_q.models import Schedule

from apps.accounts.services import password_link
from apps.audit.models import AuditEntry
from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.services import key_create
from tests.api import MEMORIES, api_for
from tests.integration.accounts.signing import set_up_app, sign_in, signed_in

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough password"


@pytest.fixture
def browser() -> Client:
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(User.objects.create_superuser("rita", password=PASSWORD))
    return client


def newest() -> AuditEntry:
    return AuditEntry.objects.latest("pk")


def said(entry: AuditEntry) -> tuple[str, str, str, str]:
    return entry.actor_kind, entry.actor, entry.action, entry.outcome


def test_a_change_of_a_role_says_what_changed_and_outlives_the_account(browser: Client) -> None:
    group = Group.objects.create(name="reviewers")
    answer = browser.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "readers", "permissions": []})
    assert answer.status_code == 302
    entry = newest()
    assert said(entry) == ("person", "rita", "group.change", "done")
    assert (entry.object_type, entry.object_id, entry.address) == ("auth.group", str(group.pk), "192.0.2.7")
    assert entry.detail["changes"] == {"name": ["reviewers", "readers"]}
    User.objects.get(username="rita").delete()
    assert AuditEntry.objects.get(pk=entry.pk).actor == "rita"


def test_a_refused_form_is_an_entry_and_a_question_is_none(browser: Client) -> None:
    group, page = Group.objects.create(name="reviewers"), reverse("admin:auth_group_changelist")
    browser.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": ""})
    assert said(newest()) == ("person", "rita", "group.change", "refused")
    count = AuditEntry.objects.count()
    chosen = {"action": "delete_selected", "_selected_action": [group.pk]}
    assert browser.post(page, chosen).status_code == 200
    assert AuditEntry.objects.count() == count
    browser.post(page, {**chosen, "post": "yes"})
    assert said(newest()) == ("person", "rita", "group.delete_selected", "done")
    assert newest().detail["changes"]["name"] == ["reviewers", None]


def test_no_password_and_no_digest_is_kept(browser: Client) -> None:
    given = {"username": "ben", "usable_password": "true"}
    words = {**given, "password1": "a long enough one", "password2": "a long enough one"}
    assert browser.post(reverse("admin:auth_user_add"), words).status_code == 302
    made = newest()
    assert said(made) == ("person", "rita", "user.add", "done")
    assert made.detail["changes"]["password"] == [None, "(hidden)"]
    ben = User.objects.get(username="ben")
    browser.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    words |= {"password1": "another long one", "password2": "another long one"}
    browser.post(reverse("admin:auth_user_password_change", args=[ben.pk]), words)
    assert newest().detail["changes"] == {"password": ["(hidden)", "(hidden)"]}
    kept = str(list(AuditEntry.objects.values_list("detail", flat=True)))
    assert "long" not in kept
    assert "pbkdf2" not in kept


def test_who_gains_a_role_is_said(browser: Client) -> None:
    group, ben = Group.objects.create(name="reviewers"), User.objects.create_user("ben")
    form = {"username": "ben", "groups": [group.pk], "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert browser.post(reverse("admin:auth_user_change", args=[ben.pk]), form).status_code == 302
    assert newest().detail["changes"]["groups gained"] == [None, "reviewers"]


def test_sign_in_sign_out_and_failures(client: Client) -> None:
    User.objects.create_superuser("rita", password=PASSWORD)
    page = reverse("account_login")
    for name, secret, actor, outcome in (
        ("rita", "wrong", "rita", "refused"),
        ("hunter2 in the wrong field", "x", "an unknown account", "refused"),
        ("rita", PASSWORD, "rita", "done"),
    ):
        client.post(page, {"username": name, "password": secret})
        assert said(newest()) == ("person", actor, "session.sign_in", outcome)
    client.post(reverse("account_logout"))
    assert said(newest()) == ("person", "rita", "session.sign_out", "done")
    assert AuditEntry.objects.count() == 4


def test_a_password_that_was_chosen_by_a_link_is_said(client: Client) -> None:
    rita = User.objects.create_user("rita")
    form = client.get(password_link(login=rita)).headers["Location"]
    client.post(form, {"password1": PASSWORD, "password2": PASSWORD}, REMOTE_ADDR="192.0.2.7")
    entry = newest()
    assert said(entry) == ("person", "rita", "account_reset_password_from_key.create", "done")
    assert (entry.object_type, entry.object_id, entry.address) == ("auth.user", str(rita.pk), "192.0.2.7")
    assert entry.detail["changes"] == {"password": ["(hidden)", "(hidden)"]}
    count = AuditEntry.objects.count()
    client.post(form, {"password1": "another long one", "password2": "another long one"})
    assert AuditEntry.objects.count() == count


def test_a_wrong_code_of_a_second_factor_is_said(client: Client) -> None:
    set_up_app(signed_in("rita"))
    sign_in(client, "RITA", "wrong")
    assert said(newest()) == ("person", "rita", "session.sign_in", "refused")
    sign_in(client, "rita")
    client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert said(newest()) == ("person", "rita", "session.second_factor", "refused")
    assert newest().object_id == str(User.objects.get().pk)


def test_a_revoked_key_says_when_it_was_revoked(browser: Client) -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    for by in ("key", "person"):
        key, _ = key_create(name=by, scope=Scope("ana"), permission=Permission.READ, actor="test")
        if by == "key":
            operator.delete(f"/api/keys/{key.uuid}")
        else:
            chosen = {"action": "revoke", "_selected_action": [key.pk], "confirmed": "yes"}
            browser.post(reverse("admin:core_apikey_changelist"), chosen)
        entry = newest()
        assert (entry.actor_kind, entry.object_type, entry.object_id) == (by, "core.apikey", str(key.pk))
        before, after = entry.detail["changes"]["revoked_at"]
        assert before is None
        assert after.startswith("20")


def test_calls_by_operator_keys_are_recorded_and_others_are_not() -> None:
    operator, app = api_for(Scope(), Permission.OPERATOR), api_for(Scope("ana"))
    count = AuditEntry.objects.count()
    app.save("I like tea.")
    app.search("tea")
    operator.search("tea")
    operator.get("/api/keys")
    assert AuditEntry.objects.count() == count
    saved = operator.save("I like coffee very much.", user_id="ana")
    entry = newest()
    assert (entry.actor_kind, entry.action) == ("key", "memories.create")
    assert (entry.object_id, entry.user_id) == (saved["id"], "ana")
    assert "coffee" not in str(AuditEntry.objects.filter(pk=entry.pk).values())
    operator.delete(f"{MEMORIES}/{saved['id']}")
    assert (newest().action, newest().object_id) == ("memory.delete", saved["id"])
    assert app.post("/api/keys", {"name": "more", "user_id": "ana"}).status_code == 403
    assert (newest().action, newest().outcome) == ("keys.create", "refused")


def test_a_key_made_by_a_key_is_said_without_its_secret() -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    made = operator.post("/api/keys", {"name": "kitchen", "user_id": "ana"}).json()
    entry = newest()
    key = ApiKey.objects.get(uuid=made["id"])
    assert (entry.action, entry.object_type, entry.object_id) == ("keys.create", "core.apikey", str(key.pk))
    assert (entry.user_id, entry.detail["name"]) == ("ana", "kitchen")
    assert entry.detail["changes"]["digest"] == [None, "(hidden)"]
    assert made["key"] not in str(entry.detail)
    operator.post(f"/api/keys/{made['id']}/rotate", {})
    assert newest().action == "key.rotate"
    assert set(newest().detail["changes"]) >= {"digest", "previous_digest"}


def test_a_download_of_what_is_known_of_a_person_is_recorded() -> None:
    api_for(Scope(), Permission.OPERATOR).get("/api/export?user_id=ana")
    entry = newest()
    assert (entry.action, entry.user_id, entry.outcome) == ("export.open", "ana", "done")


def test_a_request_costs_one_statement_more_at_most() -> None:
    operator = api_for(Scope(), Permission.OPERATOR)
    operator.save("The tap drips.", user_id="ana")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        operator.save("Oskar plays chess on Mondays.", user_id="ana")
    about = [query["sql"] for query in queries if "audit_auditentry" in query["sql"]]
    assert len(about) == 1
    assert about[0].startswith("INSERT")
    with CaptureQueriesContext(connection) as queries:
        operator.search("chess", user_id="ana")
    assert not [query for query in queries if "audit" in query["sql"]]


def test_an_entry_that_cannot_be_written_fails_no_request(monkeypatch: Any, browser: Client, caplog: Any) -> None:
    def refuse(*_: Any) -> None:
        raise DatabaseError("Group names and other contents")

    monkeypatch.setattr("apps.audit.recording.middleware.write_entries", refuse)
    answer = browser.post(reverse("admin:auth_group_add"), {"name": "reviewers"})
    assert answer.status_code == 302
    assert Group.objects.filter(name="reviewers").exists()
    assert "could not be written" in caplog.text
    assert "contents" not in caplog.text


def test_every_page_of_the_admin_is_audited() -> None:
    from django.contrib import admin

    from apps.audit.admin.audited import AuditedAdmin

    assert admin.site._registry
    assert all(isinstance(one, AuditedAdmin) for one in admin.site._registry.values())


def test_a_schedule_that_an_operator_changes_is_said(browser: Client) -> None:
    schedule = Schedule.objects.create(name="events: trim", func="apps.events.tasks.trim", schedule_type=Schedule.DAILY)
    page = reverse("admin:django_q_schedule_change", args=[schedule.pk])
    form = {"schedule_type": "I", "minutes": "7", "next_run_0": "2030-01-01", "next_run_1": "00:00:00"}
    assert browser.post(page, form).status_code == 302
    assert newest().detail["changes"]["minutes"] == [None, 7]
    assert newest().detail["name"] == "events: trim"


def test_history_leads_to_the_audit(browser: Client) -> None:
    group = Group.objects.create(name="reviewers")
    answer = browser.get(reverse("admin:auth_group_history", args=[group.pk]))
    assert answer.headers["Location"] == f"/admin/audit/?object_type=auth.group&object_id={group.pk}"
