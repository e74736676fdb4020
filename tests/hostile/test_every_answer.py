"""Every address of the hub, asked once at a host that no setting names: who may keep the answer, and what it names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from apps.accounts.services import account_set_person
from apps.core.domain.scope import Permission, Scope
from tests.api import api_for
from tests.emptying import rolled_back
from tests.hostile.routes import address, all_routes
from tests.hostile.test_addresses import EVIL
from tests.hostile.test_no_store import KEPT, is_kept
from tests.integration.admin.refusals import leave_out_navigation

# The answers are asked for in a transaction around those of the tests.
pytestmark = pytest.mark.django_db

# A passkey is made for the host of the page, which the browser compares: it is no address.
PASSKEY = "accounts/2fa/webauthn/add/"


@dataclass(frozen=True)
class Answer:
    """What a route answers to whom it is for: an app with an operator key, or an owner who has own pages."""

    route: str
    is_kept: bool
    names_host: bool

    @property
    def is_of_api(self) -> bool:
        return self.route.startswith("api/")

    @property
    def ends_session(self) -> bool:
        return "logout" in self.route


def asked_answers() -> list[Answer]:
    """Return what every route answers, those that sign the owner out last."""
    login = User.objects.create_superuser("ana")
    account_set_person(login=login, person_id="ana")
    owner, app = Client(), api_for(Scope(), Permission.OPERATOR)
    owner.force_login(login)
    for client in (owner, app.client):
        client.defaults["HTTP_HOST"] = EVIL
    found = []
    for route in sorted((route for route, _ in all_routes()), key=lambda route: "logout" in route):
        answer: Any = app.get(address(route)) if route.startswith("api/") else owner.get(address(route))
        said = f"{answer.headers} {b'' if answer.streaming else answer.content!r}"
        found.append(Answer(route, is_kept(answer), EVIL in said))
    return found


@pytest.fixture(scope="module")
def answers(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[Answer]]:
    """The answers of a hub whose settings let any host in."""
    with django_db_blocker.unblock(), rolled_back(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "ALLOWED_HOSTS", ["localhost", "127.0.0.1", "testserver", "*"])
        leave_out_navigation(patch)
        yield asked_answers()


def test_no_answer_to_a_person_is_kept(answers: list[Answer]) -> None:
    pages = [one for one in answers if not one.is_of_api and not one.ends_session]
    assert len({one.route for one in pages}) > 170
    assert {one.route for one in pages if one.is_kept} == KEPT


def test_no_answer_to_a_key_is_kept(answers: list[Answer]) -> None:
    of_api = [one for one in answers if one.is_of_api]
    assert len(of_api) > 80
    assert [one.route for one in of_api if one.is_kept] == []


def test_unnamed_host_is_on_no_page(answers: list[Answer]) -> None:
    assert {one.route for one in answers if one.names_host} <= {PASSKEY}
