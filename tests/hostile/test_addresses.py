"""No address that the hub makes comes from a Host header that no setting names."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope
from tests.api import MEMORIES, Api, api_for
from tests.integration.accounts.signing import signed_in

pytestmark = pytest.mark.django_db

EVIL, PUBLIC = "evil.example", "http://hub.example.org:8443"


@pytest.fixture
def any_host(settings: Any) -> None:
    """Have a hub whose settings let any host in."""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver", "*"]


@pytest.fixture
def public(settings: Any) -> None:
    """Have a hub with a public address."""
    settings.MEMORYHUB = replace(settings.MEMORYHUB, public_url=PUBLIC)


def app_at(host: str) -> Api:
    """Return an app with an operator key that asks at a host."""
    app = api_for(Scope(), Permission.OPERATOR)
    app.client.defaults["HTTP_HOST"] = host
    return app


def links(host: str) -> dict[str, str]:
    """Return an address of each kind that the hub makes, asked at a host."""
    app, owner = app_at(host), signed_in("ana", is_superuser=True)
    at = {"headers": {"Host": host}}
    ben = User.objects.create_user("ben")

    def shown(pattern: str, answer: HttpResponse) -> str:
        found = re.search(pattern, answer.content.decode())
        assert found is not None, answer.content.decode()[:3_000]
        return found[1]

    password = owner.post(reverse("admin:auth_user_password_link", args=[ben.pk]), **at)
    invited = {"user_id": "eve", "username": "eve", "language": ""}
    invitation = owner.post(reverse("cockpit_invitations"), invited, **at)
    key = owner.post(reverse("cockpit_first_key"), {"user_id": "ana"}, **at)
    return {
        "verification": app.post("/api/connect", {"name": "lamp"}).json()["verification_uri"],
        "index": app.get("/api/").json()["addresses"][0]["url"],
        "documentation": app.get("/api/").json()["documentation"],
        "developers": shown(r"curl -s (http\S+?)/api/keys", app.get("/api/docs")),
        "password": shown(r'value="(http[^"]+/accounts/password/reset/key/[^"]+)"', password),
        "invitation": shown(r'id="invitation-link"[^>]*value="([^"]+)"', invitation),
        "snippet": shown(r"curl -s (http\S+?)/api/semantic", key),
    }


def origins(found: dict[str, str]) -> set[str]:
    """Return the scheme and host of addresses."""
    return {"{0.scheme}://{0.netloc}".format(urlsplit(one)) for one in found.values()}


@pytest.mark.parametrize("host", [EVIL, f"{EVIL}:8000", "localhost.evil.example"])
def test_unknown_host_is_refused(host: str) -> None:
    owner = signed_in("ana", is_superuser=True)
    assert owner.get("/accounts/login/", headers={"Host": host}).status_code == 400
    assert app_at(host).post("/api/connect", {"name": "lamp"}).status_code == 400
    forwarded = Api().client.post(
        "/api/connect", {"name": "lamp"}, content_type="application/json", headers={"X-Forwarded-Host": host}
    )
    assert forwarded.json()["verification_uri"] == "http://testserver/apps/connect/"


def test_links_have_the_host_that_was_asked() -> None:
    assert origins(links("localhost:8123")) == {"http://localhost:8123"}


def test_links_have_the_public_address(public: None) -> None:
    assert origins(links("localhost:8123")) == {PUBLIC}


def test_host_that_any_setting_admits_is_in_no_link(any_host: None) -> None:
    assert origins(links(EVIL)) == {"http://localhost:8000"}


def test_host_that_any_setting_admits_gives_way(any_host: None, public: None) -> None:
    assert origins(links(EVIL)) == {PUBLIC}


def test_pages_of_a_list_stay_at_a_host_that_is_named(any_host: None, public: None) -> None:
    for host, expected in (("localhost:8123", "http://localhost:8123"), (EVIL, PUBLIC)):
        app = app_at(host)
        for text in ("Tea is green", "Coffee is black", "Milk is white"):
            app.post(MEMORIES, {"user_id": "ana", "content": text})
        following = app.get(f"{MEMORIES}?user_id=ana&limit=1").json()["next"]
        assert following.startswith(f"{expected}{MEMORIES}?")
