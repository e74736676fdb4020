"""The gateway against a real server, in both wire formats, with the guards in the database."""

import json
import logging
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import cycle

import pytest
from django.db import connection, connections

from apps.events.models import Event
from apps.llm.domain.breaker import Phase
from apps.llm.domain.chat import ChatMessage, ChatRequest, MessageRole, Timeouts, Usage
from apps.llm.domain.outcome import ChatAnswer, StoppedBy
from apps.llm.domain.retry import CallRetryPolicy
from apps.llm.domain.stream_assembly import AssemblyConfig
from apps.llm.gateway.context import GatewayPolicy
from apps.llm.guards.breakers import breaker_state
from apps.llm.guards.budgets import budget_window
from apps.llm.models import BudgetDay, ModelCall, Price
from tests.integration.llm.chat_server import Reply
from tests.integration.llm.gateway.support import CLEAR, QUESTION, QUICK, Days, Weather, answer, failure, recorded
from tests.integration.llm.guards.rules import rules
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

OUT_OF_ORDER = Reply(status=500)
ONE_TRY = GatewayPolicy(retry=CallRetryPolicy(max_attempts=1))
HALVES = ('{"sky": "clear", ', '"degrees": 21.5}')
# Far below the time for which the server stalls, far above every timeout here.
SOON = 10.0


def test_an_answer_of_a_real_server(ask, connect, server, service):
    server.say(Reply(chunks=("Rain", "."), usage=(21, 9)))
    given = answer(ask(connect(server, service)))
    assert (given.text, given.model, given.effort.usage) == ("Rain.", "model-that-answered", Usage(21, 9))
    assert given.effort.cost_usd == Decimal("0.00003")


def test_half_of_calls_failing_opens_circuit_and_it_closes_by_itself(ask, connect, server, clock):
    provider = connect(server)
    replies = cycle([Reply(), OUT_OF_ORDER])
    server.choose = lambda number, received: next(replies)
    outcomes = Counter(type(ask(provider, policy=ONE_TRY)).__name__ for _ in range(20))
    assert outcomes == {"ChatAnswer": 10, "ChatFailure": 10}
    asked = len(server.received)
    refused = failure(ask(provider))
    assert (refused.stopped_by, refused.retry_after_ms, len(server.received)) == (StoppedBy.BREAKER, 30_000, asked)
    server.choose = None
    clock.advance(30_000)
    phases = []
    for _ in range(3):
        answer(ask(provider))
        phases.append(breaker_state(provider.name).phase)
    assert phases == [Phase.HALF_OPEN, Phase.HALF_OPEN, Phase.CLOSED]
    changes = Event.objects.filter(name="llm:breaker:changed").order_by("id").values_list("payload__phase", flat=True)
    assert list(changes) == ["open", "half_open", "closed"]


def test_probe_that_fails_opens_circuit_again(ask, connect, server, clock):
    provider = connect(server)
    server.say(OUT_OF_ORDER)
    for _ in range(4):
        ask(provider)
    clock.advance(30_000)
    assert failure(ask(provider, policy=ONE_TRY)).reason == "overloaded"
    refused = failure(ask(provider))
    assert (refused.stopped_by, refused.retry_after_ms) == (StoppedBy.BREAKER, 30_000)


@pytest.mark.parametrize("comments", [None, 0.01], ids=["silence", "comments"])
def test_a_stalled_stream_is_cut_at_its_timeout(ask, connect, server, service, comments):
    server.say(Reply(chunks=HALVES, stall_after=1, comments=comments))
    # Comments are a sign of life, so they are cut at the end of the whole time.
    timeouts = Timeouts(connect=2, idle=0.3, total=0.6 if comments else 20)
    provider = connect(server, service, timeouts=timeouts)
    began = time.monotonic()
    failed = failure(ask(provider, schema=Weather, policy=ONE_TRY))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.PROVIDER, "timeout", True)
    assert time.monotonic() - began < SOON
    assert len(breaker_state(provider.name).attempts) == 1


def test_a_stalled_try_is_followed_by_another_one(ask, connect, server, service):
    server.say(Reply(chunks=HALVES, stall_after=1), Reply(chunks=HALVES))
    given = answer(ask(connect(server, service, timeouts=QUICK), schema=Weather))
    assert (given.value.sky, given.effort.attempts) == ("clear", 2)


@pytest.mark.parametrize("trouble", [{"cut_after": 1}, {"cut_after": 1, "reset": True}], ids=["end", "reset"])
def test_a_cut_stream_is_asked_for_again(ask, connect, server, service, trouble):
    server.say(Reply(chunks=HALVES, **trouble), Reply(chunks=HALVES))
    given = answer(ask(connect(server, service), schema=Weather))
    assert (given.value.sky, given.is_cut, given.effort.attempts) == ("clear", False, 2)


def test_stream_that_is_cut_each_time_is_refused_unless_caller_takes_part(ask, connect, server, service):
    server.say(Reply(chunks=('{"days": [17, 21, 2', "3]}"), cut_after=1))
    provider = connect(server, service)
    assert failure(ask(provider, schema=Days)).reason == "cut_off"
    given = answer(ask(provider, schema=Days, partial_ok=True))
    assert (given.value.days, given.is_cut, given.was_repaired) == ([17, 21], True, True)


@pytest.mark.parametrize("trouble", ["cut_after", "stall_after"])
def test_document_of_which_only_end_is_missing_is_used(ask, connect, server, service, trouble):
    server.say(Reply(chunks=HALVES, **{trouble: 2}))
    soon = GatewayPolicy(assembly=AssemblyConfig(close_timeout_ms=300))
    began = time.monotonic()
    given = answer(ask(connect(server, service), schema=Weather, policy=soon))
    assert (given.value.sky, given.is_cut, given.effort.attempts) == ("clear", False, 1)
    assert time.monotonic() - began < SOON
    assert breaker_state(given.provider).attempts == ()


@pytest.mark.parametrize(
    "trouble",
    [
        OUT_OF_ORDER,
        Reply(status=401),
        Reply(status=429, headers={"Retry-After": "5"}),
        Reply(cut_after=1),
        Reply(stall_after=1),
        Reply(body=b"<html>gone</html>", content_type="text/html"),
    ],
    ids=["500", "401", "429", "cut", "stall", "page"],
)
def test_outage_of_first_provider_is_invisible_when_there_is_fallback(ask, connect, server, second_server, trouble):
    server.say(trouble)
    first, second = connect(server, "openai", timeouts=QUICK), connect(second_server, "anthropic")
    second_server.say(Reply(chunks=(CLEAR,)))
    given = answer(ask(first, second, schema=Weather))
    assert (given.value.sky, given.provider) == ("clear", second.name)
    assert recorded().outcome == "succeeded"


def test_first_provider_that_is_gone_is_left_alone_after_while(ask, connect, server, second_server):
    first, second = connect(server, timeouts=QUICK), connect(second_server)
    server.say(OUT_OF_ORDER)
    for _ in range(4):
        assert answer(ask(first, second)).provider == second.name
    asked = len(server.received)
    assert answer(ask(first, second)).provider == second.name
    assert (asked, len(server.received)) == (10, 10)


@pytest.mark.parametrize("header", [{"Retry-After": "3"}, {"retry-after-ms": "3000"}], ids=["seconds", "ms"])
def test_the_pause_that_a_server_asks_for_is_kept(ask, connect, server, service, slept, header):
    server.say(Reply(status=429, headers=header), Reply())
    given = answer(ask(connect(server, service)))
    assert (given.effort.attempts, slept) == (2, [3.0])
    assert breaker_state(given.provider).attempts == ()


def test_question_that_was_corrected_reaches_server(ask, connect, server, service):
    server.say(Reply(chunks=("Sunny!",)), Reply(chunks=(CLEAR,)))
    assert answer(ask(connect(server, service), schema=Weather)).value.sky == "clear"
    roles = [message["role"] for message in server.received[1].body["messages"] if message["role"] != "system"]
    assert roles == ["user", "assistant", "user"]


def test_16_callers_at_once_spend_exactly_budget_and_not_one_cent_more(ask, connect, server):
    provider = connect(server)
    # The question has 5 tokens and the answer at most 5, which cost a cent together.
    Price.objects.filter(provider=provider.name).update(input_per_million=1_000, output_per_million=1_000)
    request = replace(QUESTION, max_tokens=5)
    server.say(Reply(chunks=("Rain.",), usage=(5, 5), delay=0.05))

    def spend() -> int:
        results = [ask(provider, request=request, rules=rules("0.30")) for _ in range(4)]
        refusals = [result for result in results if not isinstance(result, ChatAnswer)]
        assert {(refusal.stopped_by, refusal.reason) for refusal in refusals} <= {(StoppedBy.BUDGET, "budget_exceeded")}
        return len(results) - len(refusals)

    assert sum(at_once(*[spend] * 16)) == 30
    assert BudgetDay.objects.get().spent_usd == Decimal("0.30")
    assert len(server.received) == 30
    assert Counter(ModelCall.objects.values_list("outcome", flat=True)) == {"succeeded": 30, "refused": 34}


def test_callers_at_once_keep_to_tokens_of_minute(ask, connect, server):
    provider = connect(server)
    server.say(Reply(chunks=("Rain.",), usage=(5, 45), delay=0.05))
    tight = rules(10, tokens_per_minute={provider.name: 550})
    impatient = GatewayPolicy(retry=CallRetryPolicy(max_retry_after_ms=0))
    results = at_once(*[lambda: ask(provider, rules=tight, policy=impatient)] * 16)
    answered = [result for result in results if isinstance(result, ChatAnswer)]
    assert 1 <= len(server.received) == len(answered) <= 11
    assert {result.stopped_by for result in results if result not in answered} <= {StoppedBy.RATE}


@contextmanager
def _watched():
    """The state of this thread's database connection, looked at from another one, every now and then."""
    connection.ensure_connection()
    pid, seen, over = connection.connection.info.backend_pid, [], threading.Event()

    def watch() -> None:
        other = connections.create_connection("default")
        with other.cursor() as cursor:
            while not over.wait(0.02):
                cursor.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [pid])
                seen.append(cursor.fetchone()[0])
        other.close()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def test_no_transaction_is_open_while_model_is_at_work(ask, connect, server, service):
    provider = connect(server, service)
    states: list[list[str]] = []
    server.say(Reply(chunks=("Rain", "."), delay=0.3))
    with _watched() as seen:
        ask(provider, on_piece=lambda piece: states.append(list(seen)))
    during = states[-1]
    assert len(during) > 3
    assert set(during) <= {"idle", "active"}
    assert during.count("idle") > len(during) / 2


def test_database_connection_that_was_lost_during_call_is_made_anew(ask, connect, server):
    server.say(Reply(chunks=("Rain", "."), usage=(21, 9)))

    def lose(piece: object) -> None:
        other = connections.create_connection("default")
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        other.close()

    given = answer(ask(connect(server), on_piece=lose))
    assert given.text == "Rain."
    assert recorded().outcome == "succeeded"


def test_what_model_is_asked_and_answers_is_neither_logged_nor_stored(ask, connect, server, service, caplog):
    caplog.set_level(logging.DEBUG)
    server.say(Reply(chunks=('{"secret": 1}',)), Reply(status=500), Reply(chunks=('{"secret": 2}',)))
    question = ChatRequest((ChatMessage(MessageRole.USER, "my secret"),), max_tokens=50)
    ask(connect(server, service), request=question, schema=Weather)
    assert "secret" not in caplog.text
    assert "secret" not in json.dumps(list(ModelCall.objects.values()), default=str)


def test_a_call_that_is_abandoned_hangs_up(ask, connect, server, service, clock):
    server.say(Reply(stall_after=1, comments=0.01))

    def enough(piece: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(connect(server, service), on_piece=enough)
    until = time.monotonic() + SOON
    while not server.hung_up and time.monotonic() < until:
        time.sleep(0.01)
    assert server.hung_up == 1
    assert budget_window(clock=clock).spent > 0
