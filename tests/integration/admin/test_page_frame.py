"""Every page of the admin and of one's account has the same frame: a name, a main part, and a link that leads to it.

One test walks over all addresses, so that a new page cannot forget it. It is also the one that opens the list and an
object of every model, and that finds what browsers would refuse on a page.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.models import Invitation
from apps.accounts.services import invitation_create, password_link
from apps.events.services import failure_groups
from apps.llm.models import Breaker
from apps.people.models import Erasure
from apps.people.services import erasure_request
from apps.semantic.models import Conflict
from tests.integration.accounts.signing import set_up_app, sign_in, signed_in
from tests.integration.admin.frames import faults_of
from tests.integration.admin.knowledge import folder as folder
from tests.integration.admin.pages import address, refused_parts
from tests.integration.admin.test_admin_pages import MODELS
from tests.integration.admin.test_admin_pages import full as full

pytestmark = pytest.mark.django_db

PAGES = ("admin/", "accounts/")
# What needs more than an address: links that are sent, keys of other kinds, choices for a field.
ELSEWHERE = ("password/reset/key/", "webauthn/keys/", "webauthn/reauthenticate/", "autocomplete/")
# Django's own ways to other pages.
REDIRECTS = ("/history/", "<path:object_id>/", "(?P<url>.*)$")
QUERIES = {
    "cockpit_person": {"user_id": "ana"},
    "cockpit_person_forget": {"user_id": "ana"},
    "cockpit_person_look": {"user_id": "ana"},
    "llm_breaker_reset": {"provider": "openai"},
    "notes_noteversion_person": {"user_id": "ana"},
}


def routes(patterns: Any = None, before: str = "") -> Iterator[tuple[str, str]]:
    """Route and name of every address below /admin/ and /accounts/."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        elif route.startswith(PAGES):
            yield route, one.name or ""


def filled(route: str) -> list[str]:
    """The addresses of a route, its parts filled with rows that are there."""
    if "(?P<app_label>" in route:
        labels = re.search(r"<app_label>([^)]*)\)", route)
        assert labels is not None
        return [f"/admin/{label}/" for label in labels[1].split("|")]
    model = re.match(r"admin/(\w+)/(\w+)/.*<(?:path:object_id|int:pk|id)>", route)
    values: dict[str, Any] = {"key": Conflict.objects.earliest("pk").pk, "run": uuid4(), "content_type_id": 0}
    if "failures/<slug:key>" in route:
        values["key"] = failure_groups(are_set_aside=False)[0].key
    if "invitations/" in route:
        values["uuid"] = Invitation.objects.get().uuid
    if "erasures/" in route:
        values["uuid"] = Erasure.objects.get().uuid
    if model is not None and (model[1], model[2]) != ("work", "schedules"):
        row = apps.get_model(model[1], model[2])._default_manager.earliest("pk").pk
        values |= {"object_id": row, "pk": row, "id": row}
    return ["/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda part: str(values.get(part[1], 1)), route)]


def answers(client: Client) -> Iterator[tuple[str, str, Any]]:
    """What every address answers: its name, itself and the answer."""
    for route, name in routes():
        if route.endswith(REDIRECTS) or any(part in route for part in ELSEWHERE):
            continue
        for url in filled(route):
            query = urlencode(QUERIES.get(name, {}))
            yield name, url, client.get(f"{url}?{query}")


def is_page(answer: HttpResponse) -> bool:
    """Whether an answer is a whole page, and no part of one."""
    return not answer.streaming and "<html" in answer.content.decode(errors="replace")


@pytest.fixture
def owner(full: None, timeline_dir: Path, remember: Callable[..., Any]) -> Client:
    """A browser in which an owner has signed in with a second factor, in a hub that has something of everything."""
    Breaker.objects.get_or_create(pk="openai", defaults={"changed_at": timezone.now()})
    remember("Carl likes chess", user="carl")
    invitation_create(username="dora-signs-in", person_id="dora", invited_by="test")
    erasure_request(user_id="carl", actor="test", enqueue=False)
    client = signed_in("rita", is_superuser=True)
    set_up_app(client)
    return client


def test_every_page_has_the_frame_and_lists_and_objects_are_there(owner: Client, timeline_dir: Path) -> None:
    faults: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    statuses: dict[tuple[str, str], int] = {}
    count = 0
    for name, url, answer in answers(owner):
        statuses[name, url] = answer.status_code
        if is_page(answer):
            count += answer.status_code == 200
            text = answer.content.decode()
            faults |= {url: found} if (found := faults_of(text)) else {}
            refused |= {url: found} if (found := refused_parts(text)) else {}
    assert faults == {}
    assert refused == {}
    assert [one for one, status in statuses.items() if status not in {200, 302, 403, 405}] == []
    assert count > 90
    for model in MODELS:
        row = model._default_manager.order_by("pk").first()
        assert row is not None
        for page, of_object in (("changelist", []), ("change", [row.pk])):
            name = f"{model._meta.app_label}_{model._meta.model_name}_{page}"
            assert statuses[name, address(model, page, *of_object)] == 200, name


def test_pages_to_sign_in_have_the_frame(client: Client) -> None:
    ana = User.objects.create_user("ana", password="a long enough password", is_staff=True)
    link = password_link(login=ana)
    pages = ["account_login", "account_reset_password", "account_reset_password_from_key_done", "account_inactive"]
    found = {name: faults_of(client.get(reverse(name)).content.decode()) for name in pages}
    found["choose"] = faults_of(client.get(link, follow=True).content.decode())
    found["too late"] = faults_of(client.get("/accounts/password/reset/key/1-none/").content.decode())
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_pages_of_second_factors_have_the_frame() -> None:
    client = signed_in("ana", is_superuser=True)
    set_up_app(client)
    other = Client()
    sign_in(other)
    found = {"authenticate": faults_of(other.get(reverse("mfa_authenticate")).content.decode())}
    data = {"name": "phone", "credential": {}}
    user = User.objects.get(username="ana")
    key = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)
    for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
        found[name] = faults_of(client.get(reverse(name, args=[key.pk])).content.decode())
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        ('<main id="mh-main"><h1>A</h1></main><main></main>', "main"),
        ('<main id="mh-main"><h2>A</h2></main>', "headings"),
        ('<main id="mh-main"><h1>B</h1></main>', "titles"),
        ('<h1>A</h1><main id="mh-main"></main>', "headings"),
        ('<main id="mh-main"><h1>A</h1></main><nav></nav>', "navigation"),
    ],
)
def test_a_missing_part_of_the_frame_is_found(broken: str, fault: str) -> None:
    page = '<html lang="en"><head><title>A | MemoryHub</title></head><body><a href="#mh-main">Skip</a>{}</body></html>'
    assert faults_of(page.format('<main id="mh-main"><h1>A</h1></main>')) == []
    assert any(one.startswith(fault) for one in faults_of(page.format(broken)))


def test_page_of_an_object_is_called_by_its_words(operator: Client, remember: Callable[..., Any]) -> None:
    memory = remember("Ana prefers <b>tea</b> & honey")
    text = operator.get(address(type(memory), "change", memory.pk)).content.decode()
    assert "<title>Ana prefers &lt;b&gt;tea&lt;/b&gt; &amp; honey | MemoryHub</title>" in text


def test_a_decision_is_called_by_no_words_that_may_not_be_read(
    staff: Callable[..., Client], remember: Callable[..., Any]
) -> None:
    remember("Ana lives in Lisbon.", user="ben")
    remember("Ana does not live in Lisbon.", user="ben")
    receipt = Conflict.objects.get()
    text = staff("view_conflict").get(address(Conflict, "change", receipt.pk)).content.decode()
    assert "Lisbon" not in text
    assert "memories of ben" in text
