"""The palette: pages, memories, people, decisions and keys, as far as the viewer may see them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import Permission, Scope, system_access
from apps.core.services import key_create
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_save
from tests.integration.cockpit.bounds import bound_client

pytestmark = pytest.mark.django_db

Remember = Callable[..., Memory]


def find(client: Client, text: str) -> str:
    response = client.post(reverse("cockpit_palette"), {"q": text})
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    return response.content.decode()


@pytest.fixture
def decided(remember: Remember) -> Conflict:
    remember("Ana lives in Lisbon.")
    remember("Ana does not live in Lisbon.")
    key_create(name="Lisbon kitchen", scope=Scope("ana"), permission=Permission.READ, actor="test")
    return Conflict.objects.get()


def test_palette_finds_every_kind(operator: Client, decided: Conflict) -> None:
    text = find(operator, "lisbon")
    for kind in ("Memories", "Decisions", "Keys"):
        assert f">{kind}</div>" in text
    assert "<s>" in text  # one of the two memories does not hold any more
    assert reverse("admin:semantic_conflict_change", args=[decided.pk]) in text
    assert reverse("cockpit_person") in find(operator, "AN")


def test_palette_finds_pages_by_words(operator: Client) -> None:
    text = find(operator, "ask")
    assert reverse("cockpit_ask") in text.split('role="option"')[1]
    assert reverse("cockpit_people") in find(operator, "forget")
    assert reverse("admin:core_apikey_changelist") in find(operator, "keys api")


def test_palette_finds_by_id(operator: Client, decided: Conflict) -> None:
    assert reverse("admin:semantic_conflict_change", args=[decided.pk]) in find(operator, str(decided.uuid))
    uuid = decided.candidate.uuid
    assert reverse("admin:semantic_memory_change", args=[decided.candidate_id]) in find(operator, str(uuid))
    assert "Nothing that you can see matches" in find(operator, "5f0c0000-0000-4000-8000-000000000000")


def test_bound_account_finds_nothing_of_others(decided: Conflict) -> None:
    memory_save(access=system_access("test"), draft=MemoryDraft("Ben loves Lisbon", scope=Scope("ben", "home")))
    client = bound_client(("view_memory", "view_conflict", "view_apikey"), household_id="home")
    text = find(client, "lisbon")
    assert "Ben loves Lisbon" in text
    assert "Ana" not in text
    assert "kitchen" not in text
    assert "ana" not in find(client, "an").split('role="group"')[-1]
    assert "Nothing" in find(client, str(decided.uuid))
    assert "Nothing" in find(client, str(decided.candidate.uuid))


def test_without_permissions_there_is_nothing(staff: Callable[..., Client], decided: Conflict) -> None:
    response = staff().post(reverse("cockpit_palette"), {"q": "lisbon"})
    assert response.status_code == 403
    assert "Lisbon" not in response.content.decode()


def test_hostile_contents_are_escaped(operator: Client, remember: Remember) -> None:
    remember('zebra"><script>alert(1)</script>', user='zebra"><b>')
    key_create(name="zebra <i>", scope=Scope("ana"), permission=Permission.READ, actor="test")
    text = find(operator, "zebra")
    assert "&lt;script&gt;" in text
    for tag in ("<script", "<b>", "<i>", '"><'):
        assert tag not in text.replace('"></', "")


def test_palette_takes_fixed_number_of_queries(
    operator: Client, remember: Remember, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        remember(f"Fact {number}")
    with django_assert_max_num_queries(8):
        find(operator, "fact")


def test_every_page_of_the_admin_has_the_palette(operator: Client) -> None:
    text = operator.get(reverse("admin:semantic_memory_changelist")).content.decode()
    assert 'id="mh-palette"' in text
    assert "data-palette" in text
    assert operator.get(reverse("cockpit_palette")).status_code == 405
