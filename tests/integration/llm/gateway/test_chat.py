"""The path of a call, with providers that keep to a script."""

import json
import logging
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction

from apps.llm import metrics
from apps.llm.domain.chat import (
    ChatAuthError,
    ChatBadRequestError,
    ChatCutOffError,
    ChatOverloadedError,
    ChatRateLimitedError,
    ChatTimeoutError,
    EndChunk,
    FinishReason,
    TimeoutPhase,
    Timeouts,
    Usage,
)
from apps.llm.domain.outcome import AnswerPiece, ChatFailure, Stop, StoppedBy
from apps.llm.gateway import call as gateway_call
from apps.llm.gateway.chat import OpenTransactionError, chat
from apps.llm.gateway.context import GatewayPolicy
from apps.llm.gateway.queue import call_queue
from apps.llm.guards.breakers import breaker_state
from apps.llm.guards.budgets import budget_window
from apps.llm.guards.rates import TokenRequest
from apps.llm.models import BudgetReservation, ModelCall, TokenUse
from apps.llm.providers.scripted import ScriptedChat, Silence, Turn
from tests.integration.llm.gateway.support import CLEAR, QUESTION, Days, Weather, answer, failure, recorded
from tests.integration.llm.guards.rules import rules
from tests.integration.llm.single_guards import tokens_release, tokens_reserve

pytestmark = pytest.mark.django_db

BUSY = (ChatOverloadedError("busy", status=503),)


def script(*turns: Turn, name: str = "scripted", **options) -> ScriptedChat:
    return ScriptedChat(turns, name=name, model="m", **options)


def test_without_model_answer_says_so_and_nothing_is_written_down():
    result = chat(actor="key:app", purpose="test", request=QUESTION)
    assert result == ChatFailure((Stop(StoppedBy.CONFIGURATION, "no_model"),))
    assert (result.retryable, result.detail) == (False, "No chat model is configured.")
    assert not ModelCall.objects.exists()


def test_an_answer_comes_with_what_it_took(ask):
    end = EndChunk(Usage(20, 10), FinishReason.STOP, "m-2026")
    given = answer(ask(script(("Rain", ".", end))))
    assert (given.text, given.value, given.provider, given.model) == ("Rain.", None, "scripted", "m-2026")
    assert (given.is_cut, given.was_repaired) == (False, False)
    assert (given.effort.attempts, given.effort.usage) == (1, Usage(20, 10))
    assert given.effort.cost_usd == Decimal("0.00003")
    assert given.effort.latency_ms > 0


def test_call_is_written_down_without_what_was_said(ask):
    ask(script(("A secret.", EndChunk(Usage(20, 10), FinishReason.STOP, "m-2026"))))
    call = recorded()
    assert (call.actor, call.purpose, call.provider, call.model) == ("key:app", "test", "scripted", "m")
    assert (call.outcome, call.guard, call.reason, call.attempts) == ("succeeded", "", "", 1)
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (20, 10, Decimal("0.00003"))
    assert (call.prompt, call.answer) == (None, None)


def test_what_was_said_is_written_down_where_operator_wants_it(ask, ours):
    ask(script("A secret."), rules=replace(ours, keeps_content=True))
    call = recorded()
    assert json.loads(call.prompt)["messages"] == [{"role": "user", "content": "How is the weather?"}]
    assert call.answer == "A secret."


def test_nothing_that_was_said_is_logged(ask, caplog):
    caplog.set_level(logging.DEBUG)
    secret = replace(QUESTION, messages=(replace(QUESTION.messages[0], content="my secret"),))
    ask(script((*BUSY,), '{"secret": 1}', '{"secret": 2}'), request=secret, schema=Weather)
    assert "wrong_shape" in caplog.text
    assert "secret" not in caplog.text


def test_failure_is_tried_again_after_pauses_of_spec(ask, slept):
    given = answer(ask(script(BUSY, BUSY, "Rain.")))
    assert given.effort.attempts == 3
    assert slept == [0.5, 1.0]
    assert [attempt.failed for attempt in breaker_state("scripted").attempts] == [True, True, False]


def test_after_three_tries_a_provider_has_failed(ask, slept):
    failed = failure(ask(script(BUSY, BUSY, BUSY, "never")))
    assert failed.stops == (Stop(StoppedBy.PROVIDER, "overloaded", "scripted", retryable=True),)
    assert (failed.effort.attempts, slept) == (3, [0.5, 1.0])
    call = recorded()
    assert (call.outcome, call.guard, call.reason, call.attempts) == ("failed", "", "overloaded", 3)


def test_the_number_of_tries_is_a_setting(ask):
    policy = GatewayPolicy(retry=replace(GatewayPolicy().retry, max_attempts=1))
    assert failure(ask(script(BUSY, "never"), policy=policy)).effort.attempts == 1


@pytest.mark.parametrize(
    ("error", "retryable"), [(ChatAuthError("no key"), False), (ChatBadRequestError("too long"), False)]
)
def test_what_nobody_waits_away_is_not_tried_again(ask, slept, error, retryable):
    failed = failure(ask(script((error,), "never")))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.PROVIDER, error.kind, retryable)
    assert slept == []


def test_what_a_failed_try_has_used_is_paid_for(ask, clock):
    given = answer(ask(script(("Ra", ChatCutOffError("cut", usage=Usage(100, 50))), "Rain.")))
    assert given.effort.usage == Usage(105, 52, estimated=True)
    assert budget_window(clock=clock).spent == given.effort.cost_usd


def test_pause_that_provider_asks_for_is_kept(ask, slept):
    limited = (ChatRateLimitedError("slowly", status=429, retry_after_ms=7_000),)
    assert answer(ask(script(limited, "Rain."))).text == "Rain."
    assert slept == [7.0]
    assert breaker_state("scripted").attempts == ()


def test_provider_that_asks_for_too_long_pause_is_not_waited_for(ask, slept):
    limited = (ChatRateLimitedError("later", status=429, retry_after_ms=120_000),)
    failed = failure(ask(script(limited, "never")))
    assert (failed.reason, failed.retryable, failed.retry_after) == ("rate_limited", True, 120)
    assert slept == []


def test_fallback_answers_when_first_provider_fails(ask, slept):
    given = answer(ask(script(BUSY, BUSY, BUSY), script("Rain.", name="second")))
    assert (given.text, given.provider, given.effort.attempts) == ("Rain.", "second", 4)
    assert recorded().provider == "second"


@pytest.mark.parametrize("error", [ChatAuthError("no key"), ChatBadRequestError("too long")])
def test_fallback_answers_at_once_where_trying_again_is_of_no_use(ask, slept, error):
    assert answer(ask(script((error,)), script("Rain.", name="second"))).provider == "second"
    assert slept == []


def test_fallback_is_asked_rather_than_long_pause_kept(ask, slept):
    limited = (ChatRateLimitedError("slowly", status=429, retry_after_ms=7_000),)
    assert answer(ask(script(limited), script("Rain.", name="second"))).provider == "second"
    assert slept == []


def test_the_fallback_is_asked_for_its_own_model(ask):
    first, second = script((ChatAuthError("no key"),)), script("Rain.", name="second")
    ask(first, second, request=replace(QUESTION, model="particular"))
    assert [first.requests[0].model, second.requests[0].model] == ["particular", None]
    assert recorded().model == "m"


def test_when_both_fail_all_reasons_are_told(ask):
    failed = failure(ask(script((ChatAuthError("no key"),)), script(BUSY, BUSY, BUSY, name="second")))
    assert [(stop.provider, stop.reason) for stop in failed.stops] == [("scripted", "auth"), ("second", "overloaded")]
    assert (failed.reason, failed.retryable) == ("overloaded", True)


def test_open_circuit_is_not_asked_and_says_when(ask, clock):
    for _ in range(4):
        ask(script(BUSY, BUSY, BUSY))
    provider = script("never")
    failed = failure(ask(provider))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.BREAKER, "open", True)
    assert 0 < failed.retry_after_ms <= 30_000
    assert provider.requests == []
    call = ModelCall.objects.order_by("-id")[0]
    assert (call.outcome, call.guard, call.reason, call.attempts) == ("refused", "breaker", "open", 0)


def test_fallback_answers_while_circuit_of_first_is_open(ask):
    for _ in range(4):
        ask(script(BUSY, BUSY, BUSY))
    assert answer(ask(script("never"), script("Rain.", name="second"))).provider == "second"


def test_call_that_budget_has_no_room_for_is_refused_until_next_day(ask):
    provider = script("never")
    failed = failure(ask(provider, rules=rules("0.00005")))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.BUDGET, "budget_exceeded", False)
    assert provider.requests == []
    assert (recorded().outcome, recorded().guard) == ("refused", "budget")


def test_budget_that_others_have_used_up_is_there_again_tomorrow(ask):
    small = rules("0.00006")
    ask(script(("Rain.", EndChunk(Usage(20, 10), FinishReason.STOP, "m"))), rules=small)
    failed = failure(ask(script("never"), rules=small))
    assert (failed.stopped_by, failed.retryable, failed.retry_after) == (StoppedBy.BUDGET, True, 43_200)


def test_model_without_price_is_refused_while_there_is_budget(ask):
    failed = failure(ask(script("never", name="unknown")))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.BUDGET, "price_unknown", False)


def test_without_budget_cost_of_unknown_model_is_unknown(ask):
    assert answer(ask(script("Rain.", name="unknown"), rules=rules(0))).effort.cost_usd is None
    assert recorded().cost_usd is None


def test_where_minute_of_provider_is_full_call_waits(ask, clock, slept, ours):
    ask(script(("Rain.", EndChunk(Usage(85_000, 0), FinishReason.STOP, "m"))))
    clock.advance(40_000)
    assert answer(ask(script("Rain."))).text == "Rain."
    assert sum(slept) == pytest.approx(20, abs=0.5)


def test_where_waiting_takes_too_long_call_is_refused(ask, slept):
    ask(script(("Rain.", EndChunk(Usage(85_000, 0), FinishReason.STOP, "m"))))
    failed = failure(ask(script("never")))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.RATE, "throttled", True)
    assert failed.retry_after_ms == 60_001
    assert slept == []


def test_where_minute_is_full_fallback_is_asked_at_once(ask, clock, slept):
    ask(script(("Rain.", EndChunk(Usage(85_000, 0), FinishReason.STOP, "m"))))
    clock.advance(40_000)
    assert answer(ask(script("never"), script("Rain.", name="second"))).provider == "second"
    assert slept == []


def test_calls_under_way_are_waited_for_only_so_long(ask, clock, slept, ours):
    held = tokens_reserve(request=TokenRequest("scripted", "m", 85_000), rules=ours, clock=clock).reservation_id
    failed = failure(ask(script("never")))
    assert (failed.stopped_by, failed.reason, failed.retry_after) == (StoppedBy.RATE, "throttled", 1)
    assert 28 <= sum(slept) <= 31
    tokens_release(reservation_id=held)


def test_call_that_comes_while_another_waits_does_not_overtake_it(ask, clock):
    for _ in range(2):
        ask(script(("Rain.", EndChunk(Usage(21_000, 0), FinishReason.STOP, "m"))))
    clock.advance(40_000)
    overtaking = []

    def sleep(seconds: float) -> None:
        # 42,000 tokens of 100,000 are used: room for this call alone, and not for it and the one that waits.
        overtaking.append(ask(script("never"), policy=GatewayPolicy(deadline_ms=1_000)))
        clock.advance(round(seconds * 1_000))

    large = replace(QUESTION, max_tokens=70_000)
    assert answer(ask(script("Rain."), request=large, sleep=sleep)).text == "Rain."
    refused = [failure(result) for result in overtaking]
    assert [(failed.stopped_by, failed.reason) for failed in refused] == [(StoppedBy.RATE, "throttled")]
    assert answer(ask(script("Rain."))).text == "Rain."


def test_call_that_was_refused_leaves_the_queue(ask, clock, ours):
    held = tokens_reserve(request=TokenRequest("scripted", "m", 85_000), rules=ours, clock=clock).reservation_id
    failure(ask(script("never")))
    assert call_queue().depth("scripted", object()) == 1
    tokens_release(reservation_id=held)


def test_call_larger_than_any_minute_is_refused_for_good(ask):
    failed = failure(ask(script("never"), request=replace(QUESTION, max_tokens=200_000)))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.RATE, "too_large", False)


def test_a_call_is_over_at_its_deadline(ask, slept):
    policy = GatewayPolicy(deadline_ms=1_200)
    failed = failure(ask(script(BUSY, BUSY, "never"), policy=policy))
    # The second pause would have used up the time that is left.
    assert (failed.reason, slept) == ("overloaded", [0.5])


def test_try_gets_no_more_time_than_call_has_left(ask, clock, slept):
    slow = script((Silence(99), "never"), timeouts=Timeouts(5, 60, 180), sleep=lambda seconds: clock.advance(5_000))
    failed = failure(ask(slow, script("never", name="second"), policy=GatewayPolicy(deadline_ms=5_000)))
    assert {(stop.by, stop.reason) for stop in failed.stops} == {(StoppedBy.DEADLINE, "out_of_time")}
    assert failed.retryable
    assert breaker_state("scripted").attempts == ()


def test_try_is_over_before_what_is_set_aside_for_it_stops_counting(ask, ours):
    waits: list[float] = []
    slow = script((Silence(99), "never"), timeouts=Timeouts(5, 3_600, 3_600), sleep=waits.append)
    ask(slow, rules=replace(ours, reservation_ms=60_000))
    assert waits == [55.0]


def test_timeout_of_providers_own_counts_against_it(ask):
    slow = ChatTimeoutError("slow", phase=TimeoutPhase.TOTAL)
    ask(script((slow,), (slow,), (slow,)))
    assert len(breaker_state("scripted").attempts) == 3


def test_json_is_asked_for_and_checked_where_schema_is_given(ask):
    provider = script(CLEAR)
    given = answer(ask(provider, schema=Weather))
    assert given.value == Weather(sky="clear", degrees=21.5)
    assert provider.requests[0].expects_json


def test_damaged_json_is_repaired(ask):
    before = metrics.REPAIRED.labels("scripted")._value.get()
    given = answer(ask(script("{'sky': 'clear', 'degrees': 21.5,}"), schema=Weather))
    assert (given.value.sky, given.was_repaired, given.text) == ("clear", True, CLEAR)
    assert metrics.REPAIRED.labels("scripted")._value.get() == before + 1


def test_a_text_is_never_repaired(ask):
    assert answer(ask(script("{'sky': 'clear',}"))).text == "{'sky': 'clear',}"


def test_answer_of_wrong_shape_is_asked_for_again_with_reason(ask):
    provider = script('{"sky": "grey", "degrees": 21.5}', CLEAR)
    given = answer(ask(provider, schema=Weather))
    assert (given.value.sky, given.effort.attempts) == ("clear", 2)
    said, reason = provider.requests[1].messages[-2:]
    assert said.content == '{"sky": "grey", "degrees": 21.5}'
    assert "sky: Input should be 'clear' or 'cloudy'" in reason.content
    assert recorded().attempts == 2


@pytest.mark.parametrize(("said", "reason"), [("It is sunny.", "invalid_json"), ("{}", "wrong_shape"), ("", "empty")])
def test_answer_that_stays_of_no_use_is_failure(ask, said, reason):
    failed = failure(ask(script(said, said, "never"), schema=Weather))
    assert (failed.stopped_by, failed.reason, failed.retryable) == (StoppedBy.OUTPUT, reason, False)
    assert (recorded().outcome, recorded().reason, recorded().attempts) == ("unusable", reason, 2)


def test_how_often_it_is_asked_again_is_a_setting(ask):
    assert failure(ask(script("{}", "never"), schema=Weather, policy=GatewayPolicy(corrections=0))).effort.attempts == 1
    twice = ask(script("{}", "{}", CLEAR), schema=Weather, policy=GatewayPolicy(corrections=2))
    assert answer(twice).effort.attempts == 3


def test_useless_answer_says_nothing_against_provider_and_does_not_bring_in_fallback(ask):
    second = script("never", name="second")
    ask(script("{}", "{}"), second, schema=Weather)
    assert breaker_state("scripted").attempts == ()
    assert second.requests == []


def test_asking_again_is_within_the_same_budget(ask, clock):
    said = ("{}", EndChunk(Usage(30, 40), FinishReason.STOP, "m"))
    failed = failure(ask(script(said, CLEAR), schema=Weather, rules=rules("0.0001")))
    assert (failed.stopped_by, failed.reason) == (StoppedBy.BUDGET, "budget_exceeded")
    assert budget_window(clock=clock).spent == Decimal("0.00007")
    call = recorded()
    assert (call.outcome, call.guard, call.attempts, call.cost_usd) == ("failed", "", 1, Decimal("0.00007"))


def test_fallback_answers_corrected_question_when_first_fails_there(ask):
    second = script(CLEAR, name="second")
    given = answer(ask(script("{}", (ChatAuthError("no key"),)), second, schema=Weather))
    assert given.provider == "second"
    assert len(second.requests[0].messages) == 3


@pytest.mark.parametrize("schema", [None, Weather])
def test_what_provider_withholds_is_not_asked_for_again(ask, schema):
    withheld = ("I can", EndChunk(Usage(1, 1), FinishReason.FILTERED, "m"))
    failed = failure(ask(script(withheld, "never"), schema=schema))
    assert (failed.stopped_by, failed.reason) == (StoppedBy.OUTPUT, "filtered")


@pytest.mark.parametrize("schema", [None, Weather])
def test_an_endless_answer_is_not_listened_to(ask, schema):
    failed = failure(ask(script(("x" * 60_000, "x" * 60_000, "x" * 60_000), "never"), schema=schema))
    assert (failed.stopped_by, failed.reason, failed.effort.attempts) == (StoppedBy.OUTPUT, "too_long", 1)
    assert failed.effort.usage.output_tokens == 30_000


def test_text_cut_at_its_length_is_given_and_says_so(ask):
    assert answer(ask(script(("Rain, th", EndChunk(Usage(1, 1), FinishReason.LENGTH, "m"))))).is_cut


def test_document_cut_at_its_length_is_asked_for_in_fewer_words(ask):
    cut = ('{"sky": "clear", "deg', EndChunk(Usage(1, 1), FinishReason.LENGTH, "m"))
    provider = script(cut, CLEAR)
    assert not answer(ask(provider, schema=Weather)).is_cut
    assert "in fewer words" in provider.requests[1].messages[-1].content


def test_caller_who_takes_part_gets_it_at_once(ask):
    cut = ('{"days": [17, 21, 2', EndChunk(Usage(1, 1), FinishReason.LENGTH, "m"))
    given = answer(ask(script(cut, "never"), schema=Days, partial_ok=True))
    assert (given.value.days, given.is_cut, given.effort.attempts) == ([17, 21], True, 1)


def test_document_that_is_whole_is_used_although_end_of_answer_is_missing(ask):
    given = answer(ask(script((CLEAR, ChatCutOffError("cut", usage=Usage(9, 9))), "never"), schema=Weather))
    assert (given.value.sky, given.is_cut, given.effort.usage) == ("clear", False, Usage(9, 9))
    assert breaker_state("scripted").attempts == ()


def test_end_of_answer_is_waited_for_five_seconds(ask):
    waits: list[float] = []
    given = answer(ask(script((CLEAR, Silence(30), "never"), sleep=waits.append), schema=Weather))
    assert (given.value.sky, waits) == ("clear", [5.0])


def test_more_text_after_document_has_time_of_call_again(ask):
    waits: list[float] = []
    turn = (CLEAR, " and", Silence(30), " so on")
    given = answer(ask(script(turn, sleep=waits.append), schema=Weather))
    assert (given.value.sky, given.was_repaired, waits) == ("clear", True, [30])


def test_part_of_broken_stream_is_used_when_nobody_gives_whole_answer(ask):
    broken = ('{"days": [17, 2', ChatCutOffError("cut"))
    longer = ('{"days": [18, 22, 2', ChatCutOffError("cut"))
    given = answer(ask(script(broken, longer, broken), schema=Days, partial_ok=True))
    assert (given.value.days, given.is_cut, given.effort.attempts) == ([18, 22], True, 3)
    assert (recorded().outcome, recorded().reason) == ("succeeded", "cut_off")


def test_a_whole_answer_is_preferred_to_a_part(ask):
    broken = ('{"days": [17, 2', ChatCutOffError("cut"))
    given = answer(ask(script(broken, '{"days": [18]}'), schema=Days, partial_ok=True))
    assert (given.value.days, given.is_cut) == ([18], False)


def test_without_leave_part_of_broken_stream_is_refused(ask):
    broken = ('{"days": [17, 2', ChatCutOffError("cut"))
    assert failure(ask(script(broken, broken, broken), schema=Days)).reason == "cut_off"


def test_who_listens_hears_each_piece_and_that_answer_has_begun_anew(ask):
    heard: list[AnswerPiece] = []
    ask(script(("Ra", ChatCutOffError("cut")), ("Rain", ".")), on_piece=heard.append)
    assert heard == [AnswerPiece("Ra", 1), AnswerPiece("Rain", 2), AnswerPiece(".", 2)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_whoever_interrupts_call_leaves_nothing_set_aside_and_pays_for_what_was_used(ask, clock, error):
    def interrupt(piece: AnswerPiece) -> None:
        raise error

    with pytest.raises(error):
        ask(script(("Rain" * 10, "never")), on_piece=interrupt)
    assert not BudgetReservation.objects.exists()
    call = recorded()
    assert (call.outcome, call.reason, call.attempts, call.is_estimated) == ("failed", "abandoned", 1, True)
    assert budget_window(clock=clock).spent == call.cost_usd > 0
    assert breaker_state("scripted").attempts == ()


def test_provider_with_bug_leaves_nothing_set_aside(ask):
    with pytest.raises(RuntimeError, match="bug"):
        ask(script((RuntimeError("a bug"),)))  # type: ignore[arg-type]


def test_interruption_while_it_is_settled_leaves_nothing_set_aside(ask, monkeypatch):
    settle, calls = gateway_call.attempt_settle, []

    def interrupted(**given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return settle(**given)

    monkeypatch.setattr(gateway_call, "attempt_settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(script("Rain."))
    assert TokenUse.objects.get().settled_at is not None


def test_interruption_right_after_it_was_settled_does_not_settle_it_twice(ask, clock, monkeypatch):
    settle = gateway_call.attempt_settle

    def interrupted(**given):
        settle(**given)
        raise KeyboardInterrupt

    monkeypatch.setattr(gateway_call, "attempt_settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(script(("Rain.", EndChunk(Usage(20, 10), FinishReason.STOP, "m"))))
    assert budget_window(clock=clock).spent == Decimal("0.00003")


def test_answer_is_not_lost_although_its_reservation_is_gone(ask):
    def lose(piece: AnswerPiece) -> None:
        BudgetReservation.objects.all().delete()
        TokenUse.objects.all().delete()

    assert answer(ask(script("Rain."), on_piece=lose)).text == "Rain."
    assert recorded().outcome == "succeeded"


def test_what_interrupted_call_is_raised_although_it_cannot_be_handed_back(ask, monkeypatch, caplog):
    settle = gateway_call.attempt_settle

    def failing(**given):
        settle(**given)
        raise DatabaseError("gone")

    def interrupt(piece: AnswerPiece) -> None:
        raise ValueError("mine")

    monkeypatch.setattr(gateway_call, "attempt_settle", failing)
    with pytest.raises(ValueError, match="mine"):
        ask(script("Rain."), on_piece=interrupt)
    assert "could not be handed back (DatabaseError)" in caplog.text


def test_inside_a_transaction_no_model_is_asked(ask):
    provider = script("never")
    with transaction.atomic(), pytest.raises(OpenTransactionError, match=r"inside transaction\.atomic"):
        ask(provider)
    assert provider.requests == []


def test_interruption_while_waiting_leaves_record_of_what_was_tried(ask):
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(script(BUSY), sleep=interrupted)
    assert (recorded().outcome, recorded().reason, recorded().attempts) == ("failed", "abandoned", 1)


def test_calls_are_counted_and_timed(ask):
    def counted() -> tuple[float, float]:
        failed = metrics.FAILED_ATTEMPTS.labels("scripted", "overloaded")._value.get()
        calls = metrics.LATENCY.labels("scripted", "counting")._sum.get()
        return failed, calls

    before = counted()
    ask(script(BUSY, "Rain."), purpose="counting")
    after = counted()
    assert after[0] == before[0] + 1
    assert after[1] > before[1]
