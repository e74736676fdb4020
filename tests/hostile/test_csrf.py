"""No page of the hub takes a form that another site made up: each needs the token of its own page."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from pytest_django import Settings

from apps.accounts.services import account_set_person
from tests.hostile.routes import address, all_routes

pytestmark = pytest.mark.django_db

# What is for programs, which send a key and no cookie.
PROGRAMS = ("api/", "mcp", "oauth/", ".well-known/", "healthz", "readyz", "metrics", "live")


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse a form in a word. The page that says so is in the tests of the pages of errors of the admin."""
    return HttpResponse("refused", status=403)


def test_no_page_takes_a_form_without_its_token(settings: Settings) -> None:
    settings.CSRF_FAILURE_VIEW = f"{__name__}.{refused.__name__}"
    login = User.objects.create_superuser("ana")
    account_set_person(login=login, person_id="ana")
    client = Client(enforce_csrf_checks=True)
    client.force_login(login)
    answers = {
        route: client.post(address(route)).status_code for route, _ in all_routes() if not route.startswith(PROGRAMS)
    }
    assert len(answers) > 150
    # The address of the last route of the admin, which matches anything, leads nowhere.
    assert {route: status for route, status in answers.items() if status not in {403, 404}} == {}
    assert sum(status == 403 for status in answers.values()) > 120
