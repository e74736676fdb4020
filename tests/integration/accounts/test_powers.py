"""What accounts may do to each other, and when their sessions end."""

from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, Permission, User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.roles import is_last_manager
from apps.accounts.services import account_create, sessions_end
from tests.integration.accounts.signing import PASSWORD, code_of, is_signed_in, set_up_app, sign_in, signed_in

pytestmark = pytest.mark.django_db
# What the form of an account sends by itself.
SENT = ("username", "is_active", "role", "user_id", "household_id", "persona_id")
NEW = "another long enough password"


@pytest.fixture(autouse=True)
def tolerant(settings: Any) -> None:
    """A code stays valid while the clock steps into its next half minute."""
    settings.MFA_TOTP_TOLERANCE = 1


def page_of(login: User) -> str:
    return reverse("admin:auth_user_change", args=[login.pk])


def saved(client: Client, login: User, **changes: Any) -> Any:
    """Send the form of an account with some changes."""
    form = client.get(page_of(login)).context["adminform"].form
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items() if name in SENT}
    sent = {name: value for name, value in (data | changes).items() if value not in (None, False, "")}
    return client.post(page_of(login), sent)


@pytest.fixture
def helper() -> Client:
    """A browser of an account that may change accounts and groups, and nothing else."""
    login = User.objects.create_user("helper", password=PASSWORD, is_staff=True)
    wanted = ("view_user", "add_user", "change_user", "delete_user", "view_group", "change_group", "add_group")
    login.user_permissions.set(Permission.objects.filter(codename__in=wanted, content_type__app_label="auth"))
    client = Client()
    client.force_login(login)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


# --- powers -------------------------------------------------------------------------------------------


def test_an_account_gives_itself_no_more_than_it_has(helper: Client) -> None:
    login = User.objects.get(username="helper")
    assert saved(helper, login, role="Owner").status_code == 403
    assert saved(helper, login, role="Viewer").status_code == 403
    assert not login.groups.exists()
    strong = Group.objects.create(name="strong")
    strong.permissions.add(Permission.objects.get(codename="add_apikey"))
    assert saved(helper, login, groups=[strong.pk]).status_code == 403
    assert not login.groups.exists()


def test_an_account_makes_no_other_that_may_more(helper: Client) -> None:
    words = {"username": "ben", "usable_password": "true", "password1": NEW, "password2": NEW}
    assert helper.post(reverse("admin:auth_user_add"), {**words, "role": "Owner"}).status_code == 403
    assert not User.objects.filter(username="ben").exists()
    assert helper.post(reverse("admin:auth_user_add"), words).status_code == 302


@pytest.mark.parametrize("is_active", [True, False])
def test_an_account_takes_over_none_that_may_more(helper: Client, is_active: bool) -> None:
    owner = account_create(username="owner", role="Owner")
    User.objects.filter(pk=owner.pk).update(is_active=is_active)
    changelist, key = reverse("admin:auth_user_changelist"), [owner.pk]
    for name in ("password_link", "reset_second_factor", "sign_out_everywhere", "password_change", "delete"):
        address = reverse(f"admin:auth_user_{name}", args=key)
        words = {"password1": NEW, "password2": NEW, "usable_password": "true", "post": "yes"}
        assert helper.post(address, words).status_code == 403, name
    assert helper.post(page_of(owner), {"username": "owner", "is_active": "on"}).status_code == 403
    helper.post(changelist, {"action": "delete_selected", "_selected_action": key, "post": "yes"})
    assert not User.objects.get(pk=owner.pk).has_usable_password()


def test_a_group_gets_no_more_than_the_viewer_has(helper: Client) -> None:
    group, permission = Group.objects.create(name="own"), Permission.objects.get(codename="add_apikey")
    address = reverse("admin:auth_group_change", args=[group.pk])
    assert helper.post(address, {"name": "own", "permissions": [permission.pk]}).status_code == 403
    assert not group.permissions.exists()
    assert (
        helper.post(reverse("admin:auth_group_add"), {"name": "x", "permissions": [permission.pk]}).status_code == 403
    )
    group.permissions.add(permission)
    assert helper.post(address, {"name": "other"}).status_code == 403
    for role in ("Viewer", "Owner"):
        page = reverse("admin:auth_group_change", args=[Group.objects.get(name=role).pk])
        assert helper.post(page, {"name": role}).status_code == 403


def test_the_roles_that_are_shipped_lead_to_no_higher_one() -> None:
    for role in ("Viewer", "Reviewer", "Operator"):
        login, client = account_create(username=role, role=role), Client()
        client.force_login(login)
        for path in ("admin:auth_user_changelist", "admin:auth_user_add", "admin:auth_group_changelist"):
            assert client.get(reverse(path)).status_code == 403, (role, path)
        assert client.post(page_of(login), {"username": role, "role": "Owner"}).status_code == 403


def test_an_owner_makes_owners_and_no_superuser() -> None:
    login, client = account_create(username="owner", role="Owner"), Client()
    client.force_login(login)
    ben = account_create(username="ben", role="Viewer")
    assert saved(client, ben, role="Owner", is_superuser="on").status_code == 302
    ben = User.objects.get(pk=ben.pk)
    assert ([group.name for group in ben.groups.all()], ben.is_superuser) == (["Owner"], False)
    boss = User.objects.create_superuser("boss", password=PASSWORD)
    assert client.post(page_of(boss), {"username": "boss"}).status_code == 403


@pytest.mark.parametrize("change", [{"role": ""}, {"role": "Viewer"}, {"is_active": ""}, {"household_id": "home"}])
def test_the_last_account_that_manages_accounts_stays_one(change: dict[str, str]) -> None:
    login, client = account_create(username="owner", role="Owner"), Client()
    account_create(username="bound", role="Owner")
    User.objects.filter(username="bound").update(is_active=False)
    client.force_login(login)
    answer = saved(client, login, **change)
    assert "No other account could manage accounts" in answer.content.decode()
    assert is_last_manager(login)
    account_create(username="second", role="Owner")
    assert saved(client, login, **change).status_code == 302
    assert is_last_manager(User.objects.get(username="second"))


def test_the_last_superuser_stays_one_unless_there_is_an_owner() -> None:
    client = signed_in("boss", is_superuser=True)
    boss = User.objects.get()
    assert saved(client, boss, is_superuser="").status_code == 200
    account_create(username="owner", role="Owner")
    assert saved(client, boss, is_superuser="").status_code == 302


# --- sessions -----------------------------------------------------------------------------------------


def test_setting_a_password_needs_ones_own_again_and_keeps_nothing_typed() -> None:
    client, ben = Client(), account_create(username="ben", role="Viewer")
    client.force_login(User.objects.create_superuser("boss", password=PASSWORD))
    page = reverse("admin:auth_user_password_change", args=[ben.pk])
    assert client.get(page).headers["Location"].startswith(reverse("account_reauthenticate"))
    words = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    assert client.post(page, words).headers["Location"] == page
    assert NEW not in str([one.get_decoded() for one in Session.objects.all()])
    assert not User.objects.get(username="ben").has_usable_password()


def test_a_browser_with_a_new_password_is_listed_and_signed_out() -> None:
    client = signed_in("ana", is_superuser=True)
    ana = User.objects.get()
    page = reverse("admin:auth_user_password_change", args=[ana.pk])
    client.post(page, {"password1": NEW, "password2": NEW, "usable_password": "true"})
    assert client.get("/admin/").status_code == 200
    assert UserSession.objects.get().session_key == client.session.session_key
    UserSession.objects.all().delete()  # also one that is not listed
    assert sessions_end(login=ana) == 1
    assert client.get("/admin/").status_code == 302


def test_signing_out_all_others_keeps_this_one_and_those_of_others() -> None:
    here, other = signed_in("ana", is_superuser=True), signed_in("ben", is_superuser=True)
    there = Client()
    sign_in(there)
    UserSession.objects.filter(session_key=there.session.session_key).delete()
    page = here.post(reverse("usersessions_list"), {}, follow=True)
    assert "1 session was signed out" in page.content.decode()
    assert [one.get("/admin/").status_code for one in (here, other, there)] == [200, 200, 302]


def test_an_account_that_is_switched_on_again_signs_in_again() -> None:
    client, boss = signed_in("ana"), signed_in("boss", is_superuser=True)
    ana = User.objects.get(username="ana")
    saved(boss, ana, is_active="")
    assert not User.objects.get(username="ana").is_active
    saved(boss, ana, is_active="on")
    assert client.get(reverse("mfa_index")).status_code == 302


@pytest.mark.parametrize("step", ["password", "switched off", "signed out everywhere"])
def test_a_sign_in_that_waits_for_its_second_factor_ends_too(step: str, settings: Settings) -> None:
    settings.MFA_TOTP_TOLERANCE = 1
    secret, client = set_up_app(signed_in("ana", is_superuser=True)), Client()
    sign_in(client)
    ana = User.objects.get()
    if step == "password":
        ana.set_password(NEW)
        ana.save()
    elif step == "switched off":
        User.objects.update(is_active=False)
    else:
        sessions_end(login=ana)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret, 1)})
    assert not is_signed_in(client)


def test_a_sign_in_begins_a_new_session() -> None:
    User.objects.create_superuser("ana", password=PASSWORD)
    client = Client()
    client.cookies["sessionid"] = "0123456789abcdef0123456789abcdef"
    sign_in(client)
    assert client.session.session_key != "0123456789abcdef0123456789abcdef"
    half_way = Client()
    set_up_app(signed_in("ben", is_superuser=True))
    sign_in(half_way, "ben")
    assert half_way.cookies["sessionid"].value
    for path in ("/admin/", "/admin/live-nothing", reverse("mfa_index"), reverse("usersessions_list"), "/ask/"):
        assert half_way.get(path).status_code in {302, 404}, path
