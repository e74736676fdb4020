"""Invitations by link: made by who may, used once, for a while, and never kept as they are."""

import re
from collections.abc import Callable
from io import StringIO
from urllib.parse import urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Account, FailedSignIns, Invitation
from apps.accounts.services import account_create, invitation_create, invitation_path
from apps.audit.models import AuditEntry
from apps.core.db.memberships import is_member
from apps.core.domain.clock import DeterministicClock
from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope
from apps.core.models import DisplayName
from apps.core.personal.registry import personal_stores
from tests.integration.accounts.passkey import registration
from tests.integration.accounts.signing import PASSWORD, is_signed_in
from tests.integration.admin.conftest import remember as remember
from tests.integration.admin.pages import text_of

pytestmark = pytest.mark.django_db

LIST, PAGE = reverse("cockpit_invitations"), reverse("account_invitation")
DATA = {"user_id": "ana", "username": "ana-signs-in", "language": ""}
CHOSEN = {"password1": PASSWORD, "password2": PASSWORD}
GONE = "This link no longer works"


def browser_of(role: str, scope: Scope | None = None) -> Client:
    client = Client()
    client.force_login(account_create(username=f"{role}-1", role=role, scope=scope))
    return client


def link_by(client: Client, **data: str) -> str:
    """Invite in the admin, and return the path of the link."""
    page = client.post(LIST, DATA | data).content.decode()
    found = re.search(r'id="invitation-link"[^>]*value="([^"]+)"', page)
    assert found is not None, page
    return urlsplit(found[1]).path


def opened(link: str) -> Client:
    """A browser that follows a link."""
    client = Client()
    assert client.get(link).headers["Location"] == PAGE
    return client


def test_an_invitation_names_the_household(db: None) -> None:
    operator = browser_of("Operator")
    client = opened(link_by(operator, household_id="home"))
    assert "You will belong to the household home" in client.get(PAGE).content.decode()
    assert "household home" in text_of(operator, LIST)
    DisplayName.objects.create(household_id="home", name="Oak & Elm", named_by="x", named_at=timezone.now())
    assert "the household Oak &amp; Elm (home)" in client.get(PAGE).content.decode()
    assert "household Oak &amp; Elm (home)" in operator.get(LIST).content.decode()
    assert "household" not in opened(link_by(operator)).get(PAGE).content.decode()


def test_an_invited_person_chooses_a_password_and_is_in(db: None) -> None:
    operator = browser_of("Operator")
    link = link_by(operator, language="zh-hant")
    client = opened(link)
    page = client.get(PAGE).content.decode()
    assert "ana-signs-in" in page
    assert client.post(PAGE, CHOSEN | {"password2": "another long password"}).status_code == 200
    assert not User.objects.filter(username="ana-signs-in").exists()
    assert client.post(PAGE, CHOSEN).headers["Location"] == "/"
    assert is_signed_in(client)
    account = Account.objects.get(login__username="ana-signs-in")
    assert (account.person_id, account.scope, account.language) == ("ana", Scope("ana"), "zh-hant")
    assert not account.login.is_staff
    assert client.get("/").status_code == 200
    assert "Used at" in text_of(operator, LIST)


def test_a_link_works_once_and_is_stored_as_a_digest(db: None) -> None:
    link = link_by(browser_of("Operator"))
    token = link.rstrip("/").rpartition("/")[2]
    with connection.cursor() as cursor:
        cursor.execute("SELECT i::text FROM accounts_invitation i")
        assert token not in str(cursor.fetchall())
    client = opened(link)
    assert token not in str(dict(client.session))
    client.post(PAGE, CHOSEN)
    assert GONE in Client().get(link).content.decode()
    assert GONE in client.post(PAGE, CHOSEN).content.decode()
    assert token not in str(list(AuditEntry.objects.values()))


def test_a_link_that_expired_or_was_revoked_is_gone(db: None) -> None:
    clock = DeterministicClock(0)
    _, old = invitation_create(username="old", person_id="ana", invited_by="test", clock=clock)
    operator = browser_of("Operator")
    link = link_by(operator)
    client = opened(link)
    operator.post(reverse("cockpit_invitation_revoke", args=[Invitation.objects.get(username="ana-signs-in").uuid]))
    for path in (invitation_path(old), link):
        assert GONE in Client().get(path).content.decode()
    assert GONE in client.post(PAGE, CHOSEN).content.decode()  # also where it was opened before
    assert not User.objects.filter(username="ana-signs-in").exists()
    assert {"Expired", "Revoked"} <= set(re.findall(r"Expired|Revoked", text_of(operator, LIST)))


def test_a_newer_link_replaces_the_one_before(db: None) -> None:
    operator = browser_of("Operator")
    first, second = link_by(operator), link_by(operator, username="ANA-signs-in")
    assert GONE in Client().get(first).content.decode()
    opened(second)


def test_a_passkey_is_chosen_instead_and_ends_the_link(db: None) -> None:
    link = link_by(browser_of("Operator"))
    client = Client(HTTP_HOST="localhost")
    client.get(link)
    assert "Use a passkey instead" in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"passkey": ""}).headers["Location"] == reverse("mfa_add_webauthn")
    assert client.get(reverse("mfa_add_webauthn")).status_code == 200
    login = User.objects.get(username="ana-signs-in")
    assert not login.has_usable_password()
    opened(link)  # whoever did not get as far as that comes back
    from allauth.mfa import signals

    data = {"name": "Key", "credential": registration()}
    added = Authenticator.objects.create(user=login, type=Authenticator.Type.WEBAUTHN, data=data)
    signals.authenticator_added.send(sender=Authenticator, request=None, user=login, authenticator=added)
    assert GONE in Client().get(link).content.decode()


def test_only_who_sees_the_hub_and_may_invite_does(db: None) -> None:
    for client in (
        browser_of("Viewer"),
        browser_of("Reviewer"),
        browser_of("Operator", Scope("ana")),
    ):
        assert client.get(LIST).status_code == 403
        assert client.post(LIST, DATA).status_code == 403
    assert not Invitation.objects.exists()
    assert browser_of("Owner").get(LIST).status_code == 200


def test_a_name_that_is_taken_is_refused(db: None) -> None:
    account_create(username="Ana-Signs-In", role="")
    page = browser_of("Operator").post(LIST, DATA).content.decode()
    assert "An account with this name already exists" in page
    _, token = invitation_create(username="eve", person_id="eve", invited_by="test")
    account_create(username="eve", role="Viewer")  # since then
    client = opened(invitation_path(token))
    assert "eve" in client.post(PAGE, CHOSEN).content.decode()
    assert not User.objects.get(username="eve").has_usable_password()
    with pytest.raises(ConflictError):
        invitation_create(username="EVE", person_id="eve", invited_by="test")


def test_guessing_is_limited_and_noticed(db: None) -> None:
    cache.clear()
    answers = [Client().get(invitation_path(f"guess-{number}")).status_code for number in range(22)]
    assert answers[-1] == 429
    assert answers.count(200) == 20
    assert FailedSignIns.objects.get().count >= 20
    cache.clear()


def test_an_invitation_is_audited(db: None) -> None:
    link_by(browser_of("Operator"))
    entry = AuditEntry.objects.filter(object_type="accounts.invitation").get()
    assert entry.actor == "Operator-1"


def test_the_command_makes_the_same_link(db: None) -> None:
    out = StringIO()
    call_command("account", "person", "ana-signs-in", "ana", "--language", "zh-hant", stdout=out)
    client = opened(urlsplit(out.getvalue().strip().splitlines()[-1]).path)
    client.post(PAGE, CHOSEN)
    assert Account.objects.get(login__username="ana-signs-in").person_id == "ana"
    for words in (("ana-signs-in", "ana"), ("ben", "ben", "--language", "klingon")):
        with pytest.raises(CommandError):
            call_command("account", "person", *words)


def test_an_invitation_makes_a_member_once_it_is_taken(db: None) -> None:
    link = link_by(browser_of("Operator"), household_id="home")
    assert not is_member(Scope("ana", "home"))
    opened(link).post(PAGE, CHOSEN)
    assert is_member(Scope("ana", "home"))


def test_a_forgotten_person_is_invited_no_more(db: None) -> None:
    link = link_by(browser_of("Operator"))
    store = next(store for store in personal_stores() if store.name == "accounts")
    assert (store.count("ana"), list(store.find("ana"))) == (1, ["accounts_invitation"])
    assert list(store.forget("ana")) == [1]
    assert store.count("ana") == 0
    assert GONE in Client().get(link).content.decode()


def test_the_page_of_a_person_leads_to_an_invitation(remember: Callable[..., object]) -> None:
    remember("Ana prefers tea")
    operator = browser_of("Operator")
    page = text_of(operator, reverse("cockpit_person"), user_id="ana")
    assert f"{LIST}?user_id=ana" in page
    assert 'value="ana"' in text_of(operator, LIST, user_id="ana")
