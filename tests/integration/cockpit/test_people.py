"""People: the list, the page of one, export, and forgetting."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create
from apps.people.models import Erasure
from apps.people.tasks import erase
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory
from apps.semantic.services import memory_save
from tests.integration.cockpit.bounds import bound_client

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]
LIST = "cockpit_people"


def save(content: str, scope: Scope) -> Memory:
    return memory_save(access=system_access("test"), draft=MemoryDraft(content, scope=scope)).memory


def page(client: Client, name: str, status: int = 200, **query: str) -> str:
    response = client.get(reverse(name), query)
    assert response.status_code == status
    return response.content.decode()


def test_list_says_what_there_is_of_each(operator: Client, remember: Remember) -> None:
    save("Ana drinks tea", Scope("ana", "home"))
    remember("Ben lives in Lisbon.", user="ben")
    remember("Ben does not live in Lisbon.", user="ben")
    key_create(name="kitchen", scope=Scope(household_id="home"), permission=Permission.READ, actor="test")
    response = operator.get(reverse(LIST))
    ana, ben = response.context["people"]
    assert (ana["figures"].name, ana["figures"].active, ben["figures"].inactive) == ("ana", 1, 1)
    assert ana["details"].facts.households == ("home",)
    assert [key.name for key in ana["details"].keys] == ["kitchen"]
    assert ben["details"].keys == ()
    assert ben["details"].facts.open_decisions == 1
    assert ana["details"].last_seen_at is not None


def test_list_is_searched_and_paged_in_bounded_queries(operator: Client, remember: Remember) -> None:
    for number in range(30):
        remember("tea", user=f"person-{number:02}")
    first = operator.get(reverse(LIST))
    assert [one["figures"].name for one in first.context["people"]][-1] == "person-24"
    with CaptureQueriesContext(connection) as of_five:
        second = operator.get(reverse(LIST) + first.context["next"])
    with CaptureQueriesContext(connection) as of_all:
        operator.get(reverse(LIST))
    assert len(of_all) <= len(of_five)
    assert second.context["people"][0]["figures"].name == "person-25"
    assert "person-07" in page(operator, LIST, q="SON-07")
    assert "Nobody matches" in page(operator, LIST, q="nobody")
    page(operator, LIST, 404, cursor="nonsense")


def test_page_of_person(operator: Client, remember: Remember) -> None:
    odd = 'a/../b?"><script>'
    remember("tea", user=odd)
    text = page(operator, "cockpit_person", user_id=odd)
    assert "Memories saved in 12 weeks" in text
    assert '<script>"' not in text
    assert '"><script>' not in text
    assert "admin/notes/noteversion/?user_id=a%2F..%2Fb" in text
    page(operator, "cockpit_person", 404, user_id="nobody")
    page(operator, "cockpit_person", 404)


def test_bound_account_sees_its_people_only(remember: Remember) -> None:
    save("Ana drinks tea", Scope("ana", "home"))
    save("Ana works late", Scope("ana", "work"))
    save("Zoe drinks tea", Scope("zoe", "work"))
    client = bound_client(
        ("view_memory", "view_timelineevent", "view_noteversion", "view_apikey", "add_erasure"), household_id="home"
    )
    text = page(client, LIST)
    assert "ana" in text
    assert "zoe" not in text
    page(client, "cockpit_person", 404, user_id="zoe")
    text = page(client, "cockpit_person", user_id="ana")
    assert "Keys that can read" not in text
    assert "Forget…" not in text
    # An export has notes, which have no household, so a bound account may not take one.
    assert client.post(reverse("cockpit_person_export"), {"user_id": "ana"}).status_code == 403
    assert client.get(reverse("cockpit_person_forget"), {"user_id": "ana"}).status_code == 403
    assert client.post(reverse("cockpit_person_forget"), {"user_id": "ana", "typed": "ana"}).status_code == 403
    assert not Erasure.objects.exists()


def test_export_is_that_of_the_api(operator: Client, remember: Remember) -> None:
    remember("Ana drinks tea")
    remember("Ben drinks coffee", user="ben")
    response = operator.post(reverse("cockpit_person_export"), {"user_id": "ana"})
    lines = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
    assert (lines[0]["kind"], lines[-1]["kind"]) == ("header", "end")
    assert [line["content"] for line in lines if line["kind"] == "memory"] == ["Ana drinks tea"]
    assert operator.get(reverse("cockpit_person_export")).status_code == 405


@pytest.mark.django_db(transaction=True)
def test_forgetting_asks_for_the_id_and_ends_with_what_was_removed(
    operator: Client, remember: Remember, settings: Any, tmp_path: Path, timeline_dir: Path, notes_dir: Path
) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    remember("Ana drinks tea")
    address = reverse("cockpit_person_forget")
    assert "<dt>memories</dt>" in page(operator, "cockpit_person_forget", user_id="ana")
    text = operator.post(address, {"user_id": "ana", "typed": "an"}).content.decode()
    assert "Nothing was removed" in text
    begun = operator.post(address, {"user_id": "ana", "typed": "ana"})
    assert begun.status_code == 302
    assert "Waiting for a worker" in operator.get(begun.url).content.decode()
    erase()
    text = operator.get(begun.url, headers={"HX-Request": "true"}).content.decode()
    assert "Everything was removed" in text
    assert "hx-trigger" not in text
    assert not Memory.objects.exists()
    page(operator, "cockpit_person", 404, user_id="ana")
