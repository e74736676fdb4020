"""Searches with a reranker: what it orders, what stays as it was, and what the answer says of it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.core.domain.scope import Scope, system_access
from apps.llm.models import ModelCall
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.search.search import SearchResult, memory_search
from tests.integration.llm.rerank_server import RerankServer, configured_server, running_rerank_server

pytestmark = pytest.mark.django_db
Remember = Callable[..., Any]
ACCESS = system_access("a-test")
QUESTION = "Where is the red tea tin?"
TEXTS = [
    "The red tea tin is on the shelf.",
    "The red tin has biscuits.",
    "Tea tastes best from a tin.",
    "A red bicycle stands outside.",
]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with running_rerank_server() as one:
        yield one


@pytest.fixture
def reranker(server, settings) -> Iterator[RerankServer]:
    with configured_server(settings, server):
        yield server


@pytest.fixture
def memories(remember: Remember) -> None:
    for text in TEXTS:
        remember(text)


def search(**changes: Any) -> SearchResult:
    query = SearchQuery(scope=Scope(user_id="ana"), query=QUESTION, top_k=10, current_first=False)
    return memory_search(ACCESS, replace(query, **changes))


def contents(result: SearchResult) -> list[str]:
    return [one.memory.content for one in result.found]


def backwards(body: dict[str, Any]) -> tuple[int, bytes]:
    """Answer that the last text is the best."""
    scores = [{"index": place, "relevance_score": place / 10} for place in range(len(body["documents"]))]
    return 200, json.dumps({"results": scores}).encode()


@pytest.mark.usefixtures("memories")
def test_the_reranker_makes_the_order(server, settings):
    before = contents(search())
    server.respond = backwards
    with configured_server(settings, server):
        result = search()
    assert contents(result) == before[::-1]
    assert result.reranked is not None
    assert [one.hit.rerank for one in result.found] == [(0.3, 4), (0.2, 3), (0.1, 2), (0.0, 1)]
    assert server.requests[0]["documents"] == before
    assert ModelCall.objects.get().user_id == "ana"


@pytest.mark.usefixtures("memories")
def test_more_hits_are_read_than_are_asked_for(reranker):
    reranker.respond = backwards
    last = contents(search())[0]
    assert contents(search(top_k=1)) == [last]


@pytest.mark.usefixtures("memories")
def test_only_the_first_hits_are_sent(server, settings):
    before = contents(search())
    server.respond = backwards
    with configured_server(settings, server, count=2):
        assert contents(search()) == [before[1], before[0], *before[2:]]


@pytest.mark.usefixtures("memories")
@pytest.mark.parametrize("failure", ["status", "answer", "timeout"])
def test_without_its_answer_the_order_is_as_it_was(server, settings, failure):
    before = search(top_k=3)
    if failure == "status":
        server.say({}, status=500)
    elif failure == "answer":
        server.score([1, 2])
    else:
        server.delay = 3.0
    with configured_server(settings, server, timeout_seconds=0.2 if failure == "timeout" else 5.0):
        result = search(top_k=3)
    assert [one.hit for one in result.found] == [one.hit for one in before.found]
    assert result.ranking == before.ranking
    assert result.reranked is not None
    assert result.reranked.problem == {"status": "overloaded", "answer": "bad_response", "timeout": "timeout"}[failure]


@pytest.mark.usefixtures("memories")
@pytest.mark.parametrize("mode", [SearchMode.VECTOR, SearchMode.KEYWORD])
def test_other_modes_keep_their_order(reranker, mode):
    assert search(mode=mode).reranked is None
    assert reranker.requests == []


def test_nothing_is_asked_about_a_single_hit(reranker, remember):
    remember("The red tea tin is on the shelf.")
    assert search().reranked is None
    assert reranker.requests == []


@pytest.mark.usefixtures("memories")
def test_nobody_elses_memories_are_sent(reranker, remember):
    remember("The red tea tin of Ben is green.", scope=Scope(user_id="ben"))
    search()
    assert all("Ben" not in text for request in reranker.requests for text in request["documents"])


def test_the_current_fact_still_comes_first(reranker, remember):
    remember("I live in Ljubljana.", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
    remember("I live in Porto now.", occurred_at=datetime(2025, 1, 1, tzinfo=UTC))
    remember("A bicycle stands outside.")
    reranker.respond = lambda body: prefer(body, "Ljubljana")
    found = contents(search(query="Where do I live?", current_first=True))
    assert found[:2] == ["I live in Porto now.", "I live in Ljubljana."]


def prefer(body: dict[str, Any], word: str) -> tuple[int, bytes]:
    """Answer that the text with a word is the best."""
    scores = [{"index": place, "score": float(word in text)} for place, text in enumerate(body["documents"])]
    return 200, json.dumps(scores).encode()


def test_a_question_about_a_time_shows_the_days(reranker, remember):
    remember("We had tea in Porto.", occurred_at=datetime(2025, 5, 3, tzinfo=UTC))
    remember("We had tea at home.", occurred_at=datetime(2025, 7, 3, tzinfo=UTC))
    search(query="Where did we have tea in May 2025?")
    assert sorted(reranker.requests[0]["documents"]) == [
        "2025-05-03: We had tea in Porto.",
        "2025-07-03: We had tea at home.",
    ]


@pytest.mark.usefixtures("memories")
def test_same_answer_twice(reranker):
    first, second = search(), search()
    assert [one.hit for one in first.found] == [one.hit for one in second.found]


@pytest.mark.usefixtures("memories")
def test_answer_says_what_the_reranker_did(api, reranker):
    answer = api.search(QUESTION, explain=True)
    said = answer["diagnostics"]["rerank"]
    assert said.pop("took_ms") > 0
    assert said == {"provider": f"rerank@127.0.0.1:{port(reranker)}", "model": "a-reranker", "problem": None}
    assert {one["explain"]["rerank"]["place_before"] for one in answer["results"]} == {1, 2, 3, 4}


@pytest.mark.usefixtures("memories")
def test_answer_says_that_there_is_no_order(api, reranker):
    reranker.say({}, status=503)
    answer = api.search(QUESTION, explain=True)
    assert answer["diagnostics"]["rerank"]["problem"] == "overloaded"
    assert "rerank" not in answer["results"][0]["explain"]


@pytest.mark.usefixtures("memories")
def test_without_a_reranker_the_answer_does_not_speak_of_it(api):
    assert "rerank" not in api.search(QUESTION)["diagnostics"]


def port(server: RerankServer) -> str:
    return server.url.split(":")[2].split("/")[0]
