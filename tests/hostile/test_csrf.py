"""No page of the hub takes a form that another site made up: each needs the token of its own page."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts.services import account_set_person

pytestmark = pytest.mark.django_db

# What is for programs, which send a key and no cookie.
PROGRAMS = ("api/", "healthz", "readyz", "metrics", "live")
NIL = "00000000-0000-0000-0000-000000000000"


def routes_of(patterns: Any, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield every route of the hub with its pattern."""
    for one in patterns:
        path = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes_of(one.url_patterns, path)
        else:
            yield path, one


def address(route: str) -> str:
    """Return an address of a route."""
    filled = re.sub(r"<uuid:\w+>", NIL, route)
    filled = re.sub(r"<(?:\w+:)?\w+>|\(\?P<\w+>[^)]*\)", "1", filled)
    return "/" + re.sub(r"[\^$]|\\Z", "", filled)


def test_no_page_takes_a_form_without_its_token() -> None:
    login = User.objects.create_superuser("ana")
    account_set_person(login=login, person_id="ana")
    client = Client(enforce_csrf_checks=True)
    client.force_login(login)
    answers = {
        route: client.post(address(route)).status_code
        for route, _ in routes_of(get_resolver().url_patterns)
        if not route.startswith(PROGRAMS)
    }
    assert len(answers) > 150
    # The address of the last route of the admin, which matches anything, leads nowhere.
    assert {route: status for route, status in answers.items() if status not in {403, 404}} == {}
    assert sum(status == 403 for status in answers.values()) > 120
