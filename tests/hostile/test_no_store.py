"""What shows a secret, and everything else that is made for one person, is kept by no browser and no proxy."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.accounts.services import account_set_person
from apps.core.domain.scope import Permission, Scope
from tests.api import Api, api_for
from tests.hostile.routes import address, all_routes
from tests.integration.accounts.signing import code_of, sign_in, signed_in

pytestmark = pytest.mark.django_db

# Files of the hub that are the same for everyone.
KEPT = {"manifest.webmanifest", "service-worker.js", "offline/"}


def is_kept(answer: HttpResponse) -> bool:
    """Whether a browser may keep an answer."""
    return "no-store" not in answer.headers.get("Cache-Control", "")


@pytest.fixture
def owner() -> Client:
    """A browser of an owner with own pages, who has proved a moment ago who they are."""
    client = signed_in("ana", is_superuser=True)
    account_set_person(login=User.objects.get(), person_id="ana")
    return client


# What a person gets is asked for in test_every_answer.py.
def test_no_answer_to_what_a_person_sends_is_kept(owner: Client, plain_refusals: None) -> None:
    paths = {
        route: address(route) for route, _ in all_routes() if not route.startswith("api/") and "logout" not in route
    }
    assert len(paths) > 170
    assert [route for route, path in paths.items() if is_kept(owner.post(path))] == []


def test_no_answer_to_a_stranger_is_kept() -> None:
    kept = {route for route, _ in all_routes() if is_kept(Client().get(address(route)))}
    assert kept == KEPT


def first_match(pattern: str, answer: HttpResponse) -> str:
    """Return what a pattern finds on a page."""
    found = re.search(pattern, answer.content.decode())
    assert found is not None, answer.content.decode()[:2_000]
    return found[1]


def authenticator_pages(owner: Client) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each page of a second factor, with the secret that it shows."""
    page = reverse("mfa_activate_totp")
    asked = owner.get(page)
    yield first_match(r'id="authenticator_secret"[^>]*value="([A-Z2-7]+)"', asked), asked
    wrong = owner.post(page, {"code": "000000"})
    secret = first_match(r'id="authenticator_secret"[^>]*value="([A-Z2-7]+)"', wrong)
    yield secret, wrong
    assert owner.post(page, {"code": code_of(secret)}).status_code == 302
    for name in ("mfa_view_recovery_codes", "mfa_download_recovery_codes"):
        answer = owner.get(reverse(name))
        yield first_match(r"\b(\d{8})\b", answer), answer


def key_pages(owner: Client) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each page and answer that shows a new key."""
    form = {"name": "lamp", "permission": "write", "user_id": "ana", "reads": ""}
    for path, data in ((reverse("admin:core_apikey_add"), form), (reverse("cockpit_first_key"), {"user_id": "ana"})):
        answer = owner.post(path, data)
        yield first_match(r"(mh_[\w-]{40,})", answer), answer
    operator = api_for(Scope(), Permission.OPERATOR)
    made = operator.post("/api/keys", {"name": "new", "user_id": "ana"})
    yield made.json()["key"], made
    rotated = operator.post(f"/api/keys/{made.json()['id']}/rotate", {})
    yield rotated.json()["key"], rotated


def link_pages(owner: Client) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each page that shows a link by which a password is chosen, and those that the links lead to."""
    other = User.objects.create_user("ben")
    shown = owner.post(reverse("admin:auth_user_password_link", args=[other.pk]))
    link = first_match(r'value="(http[^"]+/accounts/password/reset/key/[^"]+)"', shown)
    yield link, shown
    invited = owner.post(reverse("cockpit_invitations"), {"user_id": "eve", "username": "eve", "language": ""})
    invitation = first_match(r'id="invitation-link"[^>]*value="([^"]+)"', invited)
    yield invitation, invited
    for address_of_link in (link, invitation):
        stranger = Client()
        led = stranger.get(urlsplit(address_of_link).path)
        yield "", led
        yield "password1", stranger.get(led.headers["Location"])
        short = {"password1": "short-one", "password2": "short-one"}
        yield "password1", stranger.post(led.headers["Location"], short)


def sign_in_pages(owner: Client) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each page on which a person proves who they are."""
    yield 'name="password"', Client().get(reverse("account_login"))
    yield 'name="password"', sign_in(Client(), "ana", "a wrong password")
    yield 'name="password"', owner.get(reverse("account_reauthenticate"))
    yield "password1", owner.get(reverse("account_change_password"))
    key = {"secret": "JBSWY3DPEHPK3PXP"}
    Authenticator.objects.create(user=User.objects.get(username="ana"), type=Authenticator.Type.TOTP, data=key)
    half_way = Client()
    sign_in(half_way, "ana")
    yield 'name="code"', half_way.get(reverse("mfa_authenticate"))
    yield 'name="code"', half_way.post(reverse("mfa_authenticate"), {"code": "000000"})


def connect_pages(owner: Client) -> Iterator[tuple[str, HttpResponse]]:
    """Yield each answer with the code of an app that asks for a key."""
    asked = Api().post("/api/connect", {"name": "lamp"})
    code = asked.json()["user_code"]
    yield code, asked
    yield "lamp", owner.post(reverse("webui:connect"), {"code": code})


@pytest.mark.parametrize("pages", [authenticator_pages, key_pages, link_pages, sign_in_pages, connect_pages])
def test_no_page_with_a_secret_is_kept(
    owner: Client, pages: Callable[[Client], Iterator[tuple[str, HttpResponse]]]
) -> None:
    shown = list(pages(owner))
    for secret, answer in shown:
        assert secret in answer.content.decode()
        assert not is_kept(answer), answer.headers
    assert len(shown) > 1
