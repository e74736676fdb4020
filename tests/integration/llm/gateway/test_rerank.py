"""The reranker under the guards: each format, each failure, the breaker, the budget."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.breaker import Phase
from apps.llm.gateway.rerank import Reranked, rerank
from apps.llm.guards.status import breaker_status
from apps.llm.models import CallOutcome, ModelCall
from tests.integration.llm.guards.rules import noon, rules
from tests.integration.llm.rerank_server import KEY, RerankServer, configured_server, running_rerank_server

pytestmark = pytest.mark.django_db
TEXTS = ("Rain fell.", "The red tea is in the tin.", "Tea.")
QUESTION = "Where is the red tea?"


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with running_rerank_server() as one:
        yield one


@pytest.fixture
def asked(server, settings) -> Iterator[Any]:
    """`asked(...)` puts the question to the server; what is given goes to `rerank`."""

    def ask(**options: Any) -> Reranked:
        answer = rerank(actor="a-test", question=QUESTION, texts=TEXTS, **options)
        assert answer is not None
        return answer

    with configured_server(settings, server):
        yield ask


def best(answer: Reranked) -> int:
    assert answer.scores is not None
    return max(range(len(answer.scores)), key=answer.scores.__getitem__)


def test_cohere_and_jina_and_local_servers(asked, server):
    answer = asked()
    assert (best(answer), answer.problem, answer.model) == (1, "", "a-reranker")
    [request] = server.requests
    assert request == {
        "path": "/v1/rerank",
        "query": QUESTION,
        "documents": list(TEXTS),
        "model": "a-reranker",
        "top_n": 3,
    }
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_text_embeddings_inference(server, settings):
    with configured_server(settings, server, format="texts", model="", api_key=None):
        answer = rerank(actor="a-test", question=QUESTION, texts=TEXTS)
    assert answer is not None
    assert best(answer) == 1
    assert server.requests == [{"path": "/v1/rerank", "query": QUESTION, "texts": list(TEXTS), "truncate": True}]
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize("listed", ["results", "data", None])
def test_each_shape_of_an_answer(asked, server, listed):
    scores = [{"index": 2, "score": 0.1}, {"index": 0, "relevance_score": -3}, {"index": 1, "score": 1e-9}]
    server.say({listed: scores} if listed else scores)
    assert asked().scores == (-3.0, 1e-9, 0.1)


def test_no_more_than_the_first_letters_are_sent(server, settings):
    with configured_server(settings, server, max_chars=50):
        rerank(actor="a-test", question=QUESTION, texts=["x" * 49 + "yz", "short"])
    assert server.requests[0]["documents"] == ["x" * 49 + "y", "short"]


def test_one_connection_serves_many_questions(asked, server):
    assert [best(asked()) for _ in range(3)] == [1, 1, 1]
    assert len(server.requests) == 3


GOOD = {"index": 0, "score": 1}


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"not json", b"[" * 100_000, {}, {"results": None}, {"results": {}}, "text", 3,
        [GOOD], [GOOD, GOOD, GOOD], [GOOD, {"index": 1, "score": 1}, {"index": 3, "score": 1}],
        [GOOD, {"index": 1, "score": 1}, {"index": -1, "score": 1}],
        [GOOD, {"index": 1, "score": 1}, {"index": 2, "score": 1}, {"index": 1, "score": 0}],
        [GOOD, {"index": "1", "score": 1}, {"index": 2, "score": 1}],
        [GOOD, {"index": True, "score": 1}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1, "score": "high"}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1, "score": None}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1, "score": float("nan")}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1, "score": float("inf")}, {"index": 2, "score": 1}],
        [GOOD, {"index": 1, "score": 10**400}, {"index": 2, "score": 1}],
        b'{"results": "' + b"x" * 3_000_000 + b'"}',
    ],
)  # fmt: skip
def test_answer_that_is_no_order_is_refused(asked, server, answer):
    server.say(answer)
    said = asked()
    assert (said.scores, said.problem) == (None, "bad_response")
    assert ModelCall.objects.get().outcome == CallOutcome.FAILED


@pytest.mark.parametrize(
    ("status", "problem"),
    [(400, "bad_request"), (404, "bad_request"), (302, "bad_request"), (401, "auth"), (402, "auth"),
     (429, "rate_limited"), (500, "overloaded"), (503, "overloaded")],
)  # fmt: skip
def test_status_of_an_error(asked, server, status, problem):
    server.say({"error": f"{KEY} {TEXTS[0]}"}, status=status)
    assert asked().problem == problem
    call = ModelCall.objects.get()
    assert (call.outcome, call.reason, call.purpose, call.attempts) == (CallOutcome.FAILED, problem, "rerank", 1)


def test_slow_server_costs_no_more_than_the_timeout(server, settings):
    server.delay = 5.0
    with configured_server(settings, server, timeout_seconds=0.2):
        began = time.monotonic()
        answer = rerank(actor="a-test", question=QUESTION, texts=TEXTS)
    assert answer is not None
    assert answer.problem == "timeout"
    assert 0.15 < time.monotonic() - began < 2


def test_server_that_is_not_there(server, settings):
    with configured_server(settings, server, url="http://127.0.0.1:1/rerank"):
        answer = rerank(actor="a-test", question=QUESTION, texts=TEXTS)
    assert answer is not None
    assert (answer.problem, answer.provider) == ("connection", "rerank@127.0.0.1:1")


def test_breaker_skips_a_server_that_fails_and_asks_it_again_later(asked, server):
    clock = noon()
    server.say({}, status=500)
    assert [asked(clock=clock).problem for _ in range(5)] == ["overloaded"] * 3 + ["open"] * 2
    assert len(server.requests) == 3
    assert ModelCall.objects.count() == 3
    server.respond = None
    clock.advance(60_000)
    assert best(asked(clock=clock)) == 1
    assert breaker_status(asked(clock=clock).provider, rules=rules(), clock=clock).phase is Phase.CLOSED


def test_being_asked_too_often_opens_no_breaker(asked, server):
    server.say({}, status=429)
    assert {asked().problem for _ in range(8)} == {"rate_limited"}


def test_budget_without_a_price_refuses(asked, server):
    answer = asked(rules=rules(10))
    assert (answer.scores, answer.problem) == (None, "price_unknown")
    assert (server.requests, ModelCall.objects.get().outcome) == ([], CallOutcome.REFUSED)


def test_record_says_who_and_what_and_no_text(asked):
    asked(user_id="ana", clock=DeterministicClock(1_700_000_000_000), rules=rules(0, keeps_content=True))
    call = ModelCall.objects.get()
    assert (call.actor, call.user_id, call.purpose, call.outcome) == ("a-test", "ana", "rerank", CallOutcome.SUCCEEDED)
    assert (call.is_estimated, call.prompt, call.answer) == (True, None, None)
    assert call.input_tokens > 10


@pytest.mark.django_db(transaction=True)
def test_nothing_is_asked_inside_a_transaction(server, settings):
    with configured_server(settings, server), transaction.atomic():
        assert rerank(actor="a-test", question=QUESTION, texts=TEXTS) is None
    assert server.requests == []


def test_without_a_reranker_nothing_is_asked():
    assert rerank(actor="a-test", question=QUESTION, texts=TEXTS) is None


def test_key_and_texts_are_in_no_log(asked, server, caplog):
    server.say(json.dumps({"results": KEY}).encode())
    with caplog.at_level("DEBUG"):
        asked()
    assert KEY not in caplog.text
    assert TEXTS[1] not in caplog.text
