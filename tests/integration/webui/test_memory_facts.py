"""The page of a memory says where it came from, who used it and who can see it, and changes the latter."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from apps.core.domain.errors import ForbiddenError
from apps.core.domain.scope import Access, Permission, Scope, system_access
from apps.core.models import ApiKey, DisplayName
from apps.core.services import key_create
from apps.episodic.domain.event import EventDraft as TimelineDraft
from apps.episodic.services import event_record
from apps.given.recording import given_answers
from apps.notes.conversations.events import EventDraft
from apps.notes.conversations.messages import MessageDraft
from apps.notes.domain.conversation import EventType
from apps.notes.models import ExtractedFact
from apps.notes.services import event_add, messages_add
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Conflict, Ingestion, Memory, MemoryRevision
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save, memory_set_household
from tests.api import MEMORIES, Api
from tests.integration.personal.hubs import NOW
from tests.integration.webui.person import ANA, BEN, browser_of, remember

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("timeline_dir")]
HOME = Scope(ANA, "home")


def api_of(name: str, scope: Scope) -> Api:
    return Api(key_create(name=name, scope=scope, permission=Permission.WRITE, actor="test")[1])


def page_of(browser: Client, memory: Any) -> str:
    return browser.get(reverse("webui:memory", args=[getattr(memory, "uuid", memory)])).content.decode()


def keep_for(browser: Client, memory: Memory, household: str) -> str:
    url = reverse("webui:memory_keep_for", args=[memory.uuid])
    return browser.post(url, {"household": household}, follow=True).content.decode()


@pytest.fixture(autouse=True)
def nothing_waits() -> None:
    given_answers().drop()


def test_which_apps_got_it_as_an_answer_when_and_in_which_runs(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    other = remember(ANA, "The tap in the kitchen drips")
    assert "No app has received it as an answer in the last 90 days" in page_of(ana, memory)
    kitchen, phone = api_of("kitchen", Scope()), api_of("phone", Scope(ANA))
    for api in (kitchen, kitchen, phone):
        assert api.search("which instrument does Ana play?", user_id=ANA, top_k=1)["count"] == 1
    ana.post(reverse("webui:ask"), {"question": "which instrument does Ana play?"})
    memory_search(system_access("admin:olga"), SearchQuery(scope=Scope(ANA), query="cello"))
    assert given_answers().flush() == 3
    asked = {"message": "which instrument does Ana play?", "user_id": ANA, "run_id": "breakfast-7"}
    assert kitchen.post("/api/context", asked).json()["count"] == 1
    given_answers().flush()
    page = page_of(ana, memory)
    assert "got it as an answer 3 times" in page
    assert "got it as an answer once" in page
    assert "breakfast-7" in page
    assert "No app has received it" in page_of(ana, other)


def test_where_it_came_from_app_conversation_and_event(ana: Client) -> None:
    saved = api_of("kitchen", Scope()).save("Ana plays the cello", user_id=ANA, session_id="breakfast")
    page = page_of(ana, saved["id"])
    assert "The app kitchen saved it." in page
    assert "From the conversation “breakfast”" in page
    access = Access(Scope(ANA), Permission.WRITE, "key:phone")
    said = [MessageDraft("user", "I have a dog named Rex.")]
    messages_add(access=access, user_id=None, session_id="chat", drafts=said)
    [run] = event_add(access=access, user_id=None, session_id="chat", event=EventDraft(EventType.END)).runs
    memory = remember(ANA, "Ana has a dog named Rex")
    ExtractedFact.objects.create(
        user_id=ANA, run=run, number=1, content="x", category="Facts", confidence=0.5, pattern="p", memory=memory.uuid,
        message=run.messages.first() if hasattr(run, "messages") else None,
    )  # fmt: skip
    event = event_record(access=system_access("test"), draft=TimelineDraft(NOW, "visit", "The vet came.", Scope(ANA)))
    Ingestion.objects.create(
        user_id=ANA, event_id=event.record.uuid, created_at=NOW, next_try_at=NOW, status="linked", memory=memory
    )
    page = page_of(ana, memory)
    assert "From the conversation “chat”" in page
    assert "The vet came." in page
    link = reverse("webui:days_event", args=[event.record.uuid])
    assert link in page
    assert ana.get(link).status_code == 200


def test_it_becomes_private_and_shared_again(ana: Client) -> None:
    kitchen = api_of("kitchen", Scope(household_id="home"))
    memory = memory_save(
        access=system_access("x", makes_ties=True), draft=MemoryDraft("Ana plays the cello", scope=HOME)
    ).memory
    remember(ANA, "The tap drips")
    assert kitchen.search("cello")["count"] == 1
    page = page_of(ana, memory)
    assert "the household <bdi>home</bdi>" in page
    assert "<bdi>kitchen</bdi>" in page
    page = keep_for(ana, memory, "")
    assert "yours alone now" in page
    assert "No app can read it." in page
    assert kitchen.search("cello")["count"] == 0
    assert kitchen.get(f"{MEMORIES}/{memory.uuid}").status_code == 404
    assert ana.post(reverse("webui:ask"), {"question": "cello"}).content.decode().count("plays the cello") >= 1
    step = MemoryRevision.objects.filter(memory=memory).latest("pk")
    assert (step.actor, step.changes, step.reason) == ("person:ana", {"household_id": ["home", ""]}, "made_private")
    memory_save(access=system_access("x", makes_ties=True), draft=MemoryDraft("Ana likes the kitchen", scope=HOME))
    assert "Shared with the household" in keep_for(ana, memory, "home")
    assert "plays the cello" in kitchen.search("cello")["results"][0]["memory"]["content"]


def test_pages_call_a_household_by_its_name_with_the_id_beside_it(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    memory_save(access=system_access("x", makes_ties=True), draft=MemoryDraft("Ana likes oaks", scope=HOME))
    assert "Share it with <bdi>home</bdi>" in page_of(ana, memory)
    name = "<b>The oak house</b>"
    DisplayName.objects.create(household_id="home", name=name, named_by="admin:x", named_at=NOW)
    called = f"{escape(name)} (home)"
    assert f"Share it with <bdi>{called}</bdi>" in page_of(ana, memory)
    page = keep_for(ana, memory, "home")
    assert f"in the household <bdi>{called}</bdi>" in page
    assert f"You shared it with {called}." in page
    household = ana.get(reverse("webui:household")).content.decode()
    assert household.count(called) == 3  # what is shared, the households, who may see what
    assert name not in page + household


def test_a_household_of_others_is_refused(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    memory_save(access=system_access("x"), draft=MemoryDraft("Ana was here", scope=HOME))
    assert "not one of your households" in keep_for(ana, memory, "home")
    with pytest.raises(ForbiddenError):
        memory_set_household(access=Access(Scope(ANA), Permission.WRITE, "t"), uuid=memory.uuid, household_id="home")


def test_decisions_about_a_private_memory_are_not_in_the_household(ana: Client) -> None:
    for words in ("Ana spent $12 on postcards.", "Ana spent $15 on postcards."):
        memory = memory_save(access=system_access("x"), draft=MemoryDraft(words, scope=HOME)).memory
    kitchen = api_of("kitchen", Scope(household_id="home"))
    assert len(kitchen.get("/api/semantic/conflicts").json()["results"]) == 1
    keep_for(ana, memory, "")
    assert kitchen.get("/api/semantic/conflicts").json()["results"] == []
    assert Conflict.objects.get().state == "outdated"


@pytest.mark.parametrize("household", ["elsewhere", "x" * 300])
def test_it_is_shared_with_no_household_of_others(household: str, ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    memory_save(access=system_access("x"), draft=MemoryDraft("Ben is here", scope=Scope(BEN, "elsewhere")))
    assert "not one of your households" in keep_for(ana, memory, household)
    memory.refresh_from_db()
    assert memory.household_id == ""
    url = reverse("webui:memory_keep_for", args=[memory.uuid])
    assert browser_of(BEN).post(url, {"household": "elsewhere"}).status_code == 404


def test_the_same_words_there_already_are_said(ana: Client) -> None:
    memory = remember(ANA, "Ana plays the cello")
    memory_save(access=system_access("x", makes_ties=True), draft=MemoryDraft("Ana plays the cello", scope=HOME))
    assert "already known there" in keep_for(ana, memory, "home")


def test_an_app_that_was_stopped_is_not_among_those_who_read(ana: Client) -> None:
    api_of("kitchen", Scope())
    memory = remember(ANA, "Ana plays the cello")
    assert "<bdi>kitchen</bdi>" in page_of(ana, memory)
    ApiKey.objects.update(stopped_by=[ANA])
    assert "<bdi>kitchen</bdi>" not in page_of(ana, memory)
