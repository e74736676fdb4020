"""A bound account that makes up addresses, filters and forms: it learns and changes nothing of another household."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.core.serializers import serialize
from django.test import Client
from django.urls import get_resolver, reverse

from apps.accounts.services import account_create
from apps.core.domain.scope import Scope, system_access
from apps.episodic.models import TimelineEvent
from apps.episodic.services import event_record
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import BridgeAudit, Conflict, Ingestion, Memory
from apps.semantic.services import memory_save
from tests.emptying import rolled_back
from tests.integration.accounts.test_bounds import concrete, is_scoped, names_below
from tests.integration.episodic.timeline import draft

pytestmark = pytest.mark.django_db
SYSTEM = system_access("test")
# In contents of the other household, and in no identifier.
SECRET = "quincesecret"
SCOPED = (Memory, Conflict, TimelineEvent, Ingestion, BridgeAudit)
# What a stranger to the other household may know of it.
FOREIGN = {"user_id": "ulla", "household_id": "office", "persona_id": "", "user": "ulla", "household": "office"}


def fill(word: str, scope: Scope) -> None:
    """Put memories, a conflict and an event into the hub."""
    for text in ("lives in Lisbon.", "does not live in Lisbon.", "prefers tea."):
        memory_save(access=SYSTEM, draft=MemoryDraft(f"{word} {text}", scope=scope, context=word))
    event_record(access=SYSTEM, draft=draft(f"{word} came", scope=scope))


@pytest.fixture(scope="module")
def households(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Two households, which are filled once, in a transaction around those of the tests."""
    with django_db_blocker.unblock(), rolled_back():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(settings, "TIMELINE_DIR", tmp_path_factory.mktemp("households") / "timeline")
            fill("quinceown", Scope("olaf", "home"))
            fill(SECRET, Scope("ulla", "office"))
        assert Conflict.objects.filter(household_id="office").exists()
        yield


@pytest.fixture
def rita(households: None, timeline_dir: Path, notes_dir: Path) -> Client:
    """A browser of an owner who is bound to the household `home`."""
    client = Client(raise_request_exception=False)
    client.force_login(account_create(username="rita", role="Owner", scope=Scope(household_id="home")))
    return client


def body_of(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content.decode(errors="replace"))


def foreign_keys() -> dict[str, list[str]]:
    """Keys of rows of the other household, as addresses name them."""
    memory = Memory.objects.filter(household_id="office").earliest("pk")
    conflict = Conflict.objects.filter(household_id="office").earliest("pk")
    event = TimelineEvent.objects.filter(household_id="office").earliest("pk")
    return {
        "object_id": [str(one.pk) for one in (memory, conflict, event)],
        "pk": [str(memory.pk)],
        "key": [str(conflict.pk)],
        "uuid": [str(memory.uuid)],
    }


def addresses() -> list[str]:
    """Every address below /admin/, with the keys of the other household where it takes one."""
    found, keys = set(), foreign_keys()
    for path, _ in names_below(get_resolver().url_patterns):
        named = re.findall(r"<(?:\w+:)?(\w+)>", path)
        values = next((keys[name] for name in named if name in keys), ["1"])
        found |= {
            concrete(path, {"app_label": "semantic", "content_type_id": "1"} | dict.fromkeys(named, v)) for v in values
        }
    return sorted(found - {"/admin/logout/"})


def rows() -> str:
    """All that the other household has."""
    return "".join(
        serialize("json", model._default_manager.filter(household_id="office").order_by("pk")) for model in SCOPED
    )


QUERY = {
    **FOREIGN,
    "q": "Lisbon", "words": "Lisbon", "question": "Lisbon", "query": "Lisbon", "term": "Lisbon",
    "as": "scope", "range": "30d", "status": "all", "_facets": "True", "all": "", "o": "-1", "_popup": "1",
}  # fmt: skip


def test_a_refusal_shows_nothing_of_another_household(rita: Client) -> None:
    closed = reverse("admin:core_apikey_changelist")
    for answer in (rita.get(closed, QUERY), rita.post(closed, FOREIGN)):
        assert answer.status_code == 403
        assert 'id="nav-sidebar-inner"' in body_of(answer)
        assert SECRET not in body_of(answer)


def test_no_query_shows_what_is_of_another_household(rita: Client, plain_refusals: None) -> None:
    leaks, faults = [], []
    for address in addresses():
        answer = rita.get(address, QUERY)
        if SECRET in body_of(answer):
            leaks.append(address)
        if answer.status_code >= 500:
            faults.append(address)
    assert (leaks, faults) == ([], [])


def test_no_form_shows_or_changes_what_is_of_another_household(rita: Client, plain_refusals: None) -> None:
    before, keys = rows(), foreign_keys()
    memory, conflict = Memory.objects.get(pk=keys["pk"][0]), Conflict.objects.get(pk=keys["key"][0])
    sent = {
        **FOREIGN,
        "key": conflict.pk, "keys": [conflict.pk], "pk": memory.pk, "uuid": str(memory.uuid), "about": conflict.pk,
        "decision": "accept", "verdict": "accept", "act": "accept", "action": "accept", "step": "accept",
        "confirmed": "yes", "version": conflict.pk, "token": "x", "post": "yes", "question": "Where?",
        "query": "Lisbon", "as": "scope", "content": "changed", "reason": "changed", "name": "changed",
        "user_repeated": "ulla", "id": "ulla",
    }  # fmt: skip
    leaks, faults = [], []
    for address in addresses():
        answer = rita.post(address, sent)
        if SECRET in body_of(answer):
            leaks.append(address)
        if answer.status_code >= 500:
            faults.append(address)
    assert (leaks, faults) == ([], [])
    assert rows() == before


@pytest.mark.parametrize("model", [model for model in admin.site._registry if is_scoped(model)])
def test_no_action_of_a_list_reaches_another_household(rita: Client, model: Any) -> None:
    meta = model._meta
    page = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    chosen = [str(one.pk) for one in model._default_manager.exclude(household_id="home")[:3]] or ["1"]
    before, request = rows(), rita.get(page).wsgi_request
    for action in [*admin.site._registry[model].get_actions(request), "delete_selected"]:
        for more in ({}, {"select_across": "1"}):
            sent = {"action": action, "_selected_action": chosen, "confirmed": "yes", "post": "yes", **more}
            assert SECRET not in body_of(rita.post(f"{page}?household_id=office", sent)), action
    assert rows() == before


LOOKUPS = (
    "household_id__startswith",
    "user_id__gte",
    "content__startswith",
    "superseded_by__content__startswith",
    "winner__content__startswith",
    "memory__content__contains",
)


@pytest.mark.parametrize("model", [Memory, Conflict, TimelineEvent])
def test_no_lookup_is_an_oracle(rita: Client, model: Any) -> None:
    page = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for lookup in LOOKUPS:
        answers = [rita.get(page, {lookup: word}) for word in (SECRET, "zzz")]
        shown = [
            None if one.context is None or "cl" not in one.context else one.context["cl"].result_count
            for one in answers
        ]
        assert answers[0].status_code == answers[1].status_code
        assert shown[0] == shown[1], lookup
