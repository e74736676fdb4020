"""Pages of errors: in the frame of the admin for its viewers, plain for others, and never an error of their own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.services import person_create
from apps.core.pages import errors as error_pages
from apps.core.request_id import begin_request
from apps.semantic.models import Memory
from tests.integration.admin.frames import faults_of
from tests.integration.admin.pages import address, refused_parts

NAVIGATION = 'id="nav-sidebar-inner"'
failing = pytest.mark.urls("tests.integration.admin.exploding")


@pytest.fixture
def request_id() -> Iterator[str]:
    """The id of the request that is answered, as the web server chooses it."""
    yield begin_request([(b"x-request-id", b"asked-7")])
    begin_request([])


def words_of(answer: Any, status: int, title: str, *, has_frame: bool) -> str:
    """The page of an error, which must be well-formed, with or without the admin around it."""
    assert isinstance(answer, HttpResponse)
    text = answer.content.decode()
    assert (answer.status_code, f"<title>{title} | MemoryHub</title>" in text) == (status, True)
    assert refused_parts(text) == []
    assert (NAVIGATION in text) is has_frame
    assert has_frame is False or faults_of(text) == []
    assert "secret of ana" not in text
    return text


@pytest.mark.django_db
def test_a_missing_page_keeps_the_navigation(operator: Client, request_id: str) -> None:
    for path in ("/admin/no/such/page/", "/accounts/nothing/"):
        text = words_of(operator.get(path), 404, "There is nothing here", has_frame=True)
        assert request_id in text


@pytest.mark.django_db
def test_a_refused_page_keeps_the_navigation(staff: Callable[..., Client], request_id: str) -> None:
    client = staff("view_apikey")
    text = words_of(client.get(address(Memory, "changelist")), 403, "You cannot see this", has_frame=True)
    assert "Your account does not have this permission." in text
    assert f'href="{reverse("cockpit_access")}"' in text
    assert f'href="{reverse("admin:semantic_memory_changelist")}' not in text
    assert request_id in text


@pytest.mark.django_db
@failing
def test_a_view_that_fails_keeps_the_navigation(operator: Client, request_id: str) -> None:
    operator.raise_request_exception = False
    text = words_of(operator.get("/admin/explode/"), 500, "Something went wrong here", has_frame=True)
    assert request_id in text


@pytest.mark.django_db
@failing
def test_a_request_that_cannot_be_read_is_said(operator: Client) -> None:
    words_of(operator.get("/admin/distrust/"), 400, "This request cannot be read", has_frame=True)


@pytest.mark.django_db
def test_a_form_that_is_out_of_date_is_said() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("operator"))
    answer = client.post(reverse("account_logout"))
    words_of(answer, 403, "This form is out of date", has_frame=True)
    words_of(
        Client(enforce_csrf_checks=True).post("/accounts/login/"), 403, "This form is out of date", has_frame=False
    )


@pytest.mark.django_db
def test_a_form_that_is_too_large_is_said(operator: Client, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    answer = operator.post("/accounts/sessions/", "session=" + "x" * 20, "application/x-www-form-urlencoded")
    words_of(answer, 413, "That is too large", has_frame=True)


@pytest.mark.django_db
def test_visitors_and_people_get_a_plain_page(client: Client, request_id: str) -> None:
    assert request_id in words_of(client.get("/nothing/"), 404, "There is nothing here", has_frame=False)
    client.force_login(person_create(username="ana-signs-in", person_id="ana"))
    for path in ("/nothing/", "/memories/00000000-0000-4000-8000-000000000000/"):
        words_of(client.get(path), 404, "There is nothing here", has_frame=False)


@pytest.mark.django_db
def test_a_part_of_a_page_gets_no_navigation(operator: Client) -> None:
    answer = operator.get("/admin/no/such/part/", headers={"HX-Request": "true"})
    words_of(answer, 404, "There is nothing here", has_frame=False)


@pytest.mark.django_db
@failing
def test_without_a_database_no_page_asks_it(operator: Client, django_assert_max_num_queries: Any) -> None:
    operator.raise_request_exception = False
    text = words_of(operator.get("/admin/lose/"), 503, "The database cannot be reached", has_frame=False)
    assert "Nothing was changed" in text


@pytest.mark.django_db(transaction=True)
def test_a_dead_database_is_said(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.raise_request_exception = False
    connection.close()
    for name, value in (("HOST", "127.0.0.1"), ("PORT", "1")):
        monkeypatch.setitem(connection.settings_dict, name, value)
    try:
        answer = operator.get(reverse("admin:index"))
    finally:
        monkeypatch.undo()
        connection.close()
    words_of(answer, 503, "The database cannot be reached", has_frame=False)


@failing
def test_a_fault_without_any_database_is_a_page() -> None:
    client = Client(raise_request_exception=False, cookies={"sessionid": "none"})
    words_of(client.get("/admin/explode/"), 500, "Something went wrong here", has_frame=False)
    words_of(client.get("/explode/"), 500, "Something went wrong here", has_frame=False)


@failing
def test_a_fault_is_said_even_without_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> str:
        raise OSError("no such file")

    monkeypatch.setattr(error_pages, "render_to_string", fail)
    text = words_of(
        Client(raise_request_exception=False).get("/explode/"), 500, "Something went wrong here", has_frame=False
    )
    assert "<h1>Something went wrong here</h1>" in text
