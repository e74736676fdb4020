"""Only what is relevant: asked for over REST, the default of tools and of the page Ask, and what it is judged by."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from apps.core.domain.scope import Access, Scope, system_access
from apps.llm.domain.protocol.parser import parse_output
from apps.llm.tools.requests import tool_registry
from apps.retrieval.domain.query import SearchQuery
from apps.retrieval.domain.relevance import MIN_RELEVANCE, Background
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import Absence, memories_missing, memory_save, memory_search
from apps.semantic.store.background import backgrounds_path, read_backgrounds, space_background
from apps.semantic.store.embedding_space import current_space
from tests.api import SEARCH, Api, api_for, contents
from tests.integration.webui.person import ANA, browser_of

pytestmark = pytest.mark.django_db

FACTS = ("Ana plays the cello", "The heating was broken for a week", "Bread is cheaper at the market")
QUESTION, FOREIGN = "Who plays the cello?", "Which dentist did we choose in Oslo?"


@pytest.fixture
def facts(api: Api) -> Api:
    for fact in FACTS:
        api.save(fact)
    return api


def test_auto_leaves_out_what_is_weak_and_says_how_much(facts: Api) -> None:
    everything = facts.search(QUESTION)
    assert everything["count"] == len(FACTS)
    assert [one["relevance"] for one in everything["results"]] == sorted(
        (one["relevance"] for one in everything["results"]), reverse=True
    )
    answer = facts.search(QUESTION, min_relevance="auto")
    assert contents(answer) == [FACTS[0]]
    assert answer["results"][0]["relevance"] == everything["results"][0]["relevance"] >= MIN_RELEVANCE
    diagnostics = answer["diagnostics"]
    assert diagnostics["filtered"] == {"min_relevance": 2}
    assert diagnostics["matched_count"] + diagnostics["filtered_count"] == diagnostics["considered_count"] == 3
    for mode in ("vector", "keyword"):
        assert contents(facts.search(QUESTION, min_relevance="auto", mode=mode)) == [FACTS[0]]
        assert facts.search(FOREIGN, min_relevance="auto", mode=mode)["count"] == 0


def test_cut_is_a_share_or_auto(facts: Api) -> None:
    assert facts.search(QUESTION, min_relevance=None)["count"] == facts.search(QUESTION, min_relevance=0)["count"] == 3
    assert facts.search(QUESTION, min_relevance=1)["count"] == 0
    for wrong in ("much", 1.1, -0.1, True, []):
        response = facts.post(SEARCH, {"query": QUESTION, "min_relevance": wrong})
        assert (response.status_code, response.json()["errors"][0]["attr"]) == (400, "min_relevance")


def test_what_another_user_has_changes_no_relevance(facts: Api) -> None:
    before = facts.search(QUESTION)["results"]
    other = api_for(Scope("ben"))
    for place in range(5):
        other.save(f"Ben plays the cello in orchestra {place}")
    assert [one["relevance"] for one in facts.search(QUESTION)["results"]] == [one["relevance"] for one in before]


def test_tools_leave_out_what_is_weak_unless_asked_for_it(facts: Api, ana: Access) -> None:
    def found(**parameters: object) -> int:
        said = f"[[ABP_TOOL:memory_search]]{json.dumps({'query': QUESTION, **parameters})}[[END_ABP_TOOL]]"
        [request] = parse_output(said).requests
        return len(tool_registry().execute(ana, request).value["results"])

    assert (found(), found(min_relevance=0), found(query=FOREIGN)) == (1, 3, 0)


def test_page_shows_what_is_relevant_and_the_rest_on_demand() -> None:
    for fact in FACTS:
        memory_save(access=system_access("test"), draft=MemoryDraft(fact, scope=Scope(ANA)))

    def ask(browser: Client, question: str, **more: str) -> str:
        return browser.post(reverse("webui:ask"), {"question": question, **more}).content.decode()

    browser = browser_of(ANA)
    page = ask(browser, QUESTION)
    assert "1 match" in page
    assert FACTS[0] in page
    assert FACTS[1] not in page
    assert "2 other memories fit only weakly." in page
    assert "Your assistants know nothing that answers this." in (nothing := ask(browser, FOREIGN))
    assert "3 other memories fit only weakly." in nothing
    everything = ask(browser, QUESTION, weak="on")
    assert all(fact in everything for fact in FACTS)
    assert "fit only weakly" not in everything


def test_what_was_too_weak_is_said_to_be(facts: Api) -> None:
    hub, query = system_access("test"), SearchQuery(query="Who plays at the market?", min_relevance=0.99)
    assert memory_search(hub, query).found == ()
    missing = memories_missing(hub, query, [], hub).found
    assert {(one.absence, one.filter) for one in missing} == {(Absence.FILTERED, "min_relevance")}


def test_background_is_measured_once_and_kept_for_others(settings: object, tmp_path: Path) -> None:
    settings.SEMANTIC_INDEX_DIR = tmp_path / "index"  # type: ignore[attr-defined]
    space = current_space()
    found = space_background(space)
    assert found is not None
    assert list(read_backgrounds(backgrounds_path()).values()) == [found]
    for broken in ("", "[]", '{"a": 1}', '{"a": [2, 0.1]}', '{"a": [0.1, 0]}', '{"a": [0.1, NaN]}'):
        backgrounds_path().write_text(broken)
        assert read_backgrounds(backgrounds_path()) == {}
    call_command("calibrate_relevance", dry_run=True)
    assert read_backgrounds(backgrounds_path()) == {}
    call_command("calibrate_relevance")
    assert list(read_backgrounds(backgrounds_path()).values()) == [found]
    assert isinstance(found, Background)
