"""One call through the gateway: its providers in turn, tries, corrections, and its record.

Each attempt asks the guards and settles with them, so budget and rate are set aside for that attempt only, and not
during a pause.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from apps.core.domain.clock import Clock
from apps.llm import metrics
from apps.llm.domain.answers import UnusableAnswer, UsableAnswer, build_correction, check_answer, check_partial_answer
from apps.llm.domain.chat import (
    ChatError,
    ChatProvider,
    ChatRequest,
    ChatTimeoutError,
    FinishReason,
    TimeoutPhase,
    Timeouts,
    Usage,
)
from apps.llm.domain.outcome import OUT_OF_TIME, AnswerPiece, ChatAnswer, ChatFailure, ChatResult, Stop, StoppedBy
from apps.llm.domain.retry import retry_in_ms
from apps.llm.gateway.context import RESERVATION_MARGIN_MS, CallContext, CallRequest
from apps.llm.gateway.queue import call_queue
from apps.llm.gateway.stream import StreamReader
from apps.llm.gateway.usage import CallUsage
from apps.llm.guards.attempts import AttemptPlan, AttemptRefusal, Permit, attempt_admit, attempt_settle
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.budgets import UnknownReservationError
from apps.llm.guards.calls import NO_PROVIDER, CallRecord, call_record
from apps.llm.guards.rules import GuardRules
from apps.llm.models import CallGuard

logger = logging.getLogger(__name__)


class HeldPermit:
    """Holds a permit for a block. Leaving it unsettled, by any exception, hands it back.

    abandoned: what may have been used until then, which is charged since it may have to be paid, and the record.
    """

    def __init__(
        self, permit: Permit, rules: GuardRules, clock: Clock, abandoned: Callable[[], tuple[Usage, CallRecord]]
    ) -> None:
        self.permit = permit
        self._rules = rules
        self._clock = clock
        self._abandoned = abandoned
        self._is_settled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_settled:
            return
        try:
            self.settle(CallResult.NOT_MADE, *self._abandoned())
        except DatabaseError as failed:
            logger.error(
                "An attempt at %s could not be handed back (%s); its reservations expire later.",
                self.permit.plan.provider,
                type(failed).__name__,
            )

    def settle(self, result: CallResult, usage: Usage | None, record: CallRecord | None = None) -> None:
        """Hand the permit back with the result of its attempt, once. Raises DatabaseError."""
        try:
            self._settle_once(result, usage, record)
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block:
                raise
            # The server may have closed a connection that was idle for minutes; a new one need not fail.
            connection.close()
            self._settle_once(result, usage, record)
        self._is_settled = True

    def _settle_once(self, result: CallResult, usage: Usage | None, record: CallRecord | None) -> None:
        try:
            settlement = attempt_settle(
                permit=self.permit, result=result, usage=usage, rules=self._rules, record=record, clock=self._clock
            )
        except UnknownReservationError:
            # Settled before, and only the answer was lost; or reserved a moment before the database crashed.
            logger.warning("The reservation of an attempt at %s is gone.", self.permit.plan.provider)
            if record is not None:
                call_record(record=record, rules=self._rules)
            return
        for threshold in settlement.alerts:
            logger.warning("%s%% of the day's budget for models are spent.", threshold)


@dataclass(frozen=True)
class CallAttempt:
    """One attempt at one provider. place: in the order of providers. number: of this provider's tries, from 1."""

    place: int
    provider: ChatProvider
    question: ChatRequest
    number: int
    timeouts: Timeouts

    def was_cut_short(self, error: ChatError) -> bool:
        """Return whether the call's time ran out, of which less was left than the provider's own."""
        is_total = isinstance(error, ChatTimeoutError) and error.phase is TimeoutPhase.TOTAL
        return is_total and self.timeouts.total < self.provider.timeouts.total


@dataclass(frozen=True)
class RetryLater:
    """Ask the same provider again after a pause."""

    wait_ms: int


@dataclass(frozen=True)
class AskCorrected:
    """Ask the same provider another question."""

    question: ChatRequest


Step = ChatAnswer[Any] | ChatFailure | RetryLater | AskCorrected | None
"""What follows from an attempt; None: ask the next provider."""


class Call:
    """One call, used once."""

    def __init__(self, request: CallRequest, providers: Sequence[ChatProvider], context: CallContext) -> None:
        self._request = request
        self._providers = providers
        self._context = context
        self._usage = CallUsage(request, context.clock.now(), keeps_content=context.rules.keeps_content)
        self._corrections = context.policy.corrections
        self._stops: list[Stop] = []
        self._partial: tuple[str, ChatProvider] | None = None
        self._is_recorded = False

    def run(self) -> ChatResult[Any]:
        """Ask until there is an answer, or no provider left to ask."""
        try:
            result = self.ask_in_turn()
        except BaseException:
            # Interrupted between two attempts; one that was interrupted inside an attempt is recorded with it.
            if self._usage.attempts and not self._is_recorded:
                with suppress(DatabaseError):
                    call_record(record=self._usage.record(None), rules=self._context.rules)
            raise
        latency = self._usage.effort().latency_ms
        metrics.LATENCY.labels(self._usage.provider or NO_PROVIDER, self._request.purpose).observe(latency)
        if isinstance(result, ChatFailure):
            logger.warning("A call for %s got no answer: %s", self._request.purpose, result.detail)
        elif result.was_repaired:
            metrics.REPAIRED.labels(result.provider).inc()
        return result

    def ask_in_turn(self) -> ChatResult[Any]:
        """Ask the providers one after another."""
        place, question = 0, self._request.question
        while place < len(self._providers):
            step = self.ask_provider(place, question)
            if isinstance(step, ChatAnswer | ChatFailure):
                return step
            if isinstance(step, AskCorrected):
                question = step.question
            else:
                place += 1
        # The last provider was not asked, so there is no attempt to record this with.
        result = self.give_up()
        call_record(record=self.build_record(result), rules=self._context.rules)
        return result

    def ask_provider(self, place: int, question: ChatRequest) -> Step:
        """Ask one provider until it answers, or should not be asked again."""
        try:
            return self.ask_until_settled(place, question)
        finally:
            call_queue().leave(self._providers[place].name, self)

    def ask_until_settled(self, place: int, question: ChatRequest) -> Step:
        """Ask one provider, again after pauses; while there is no room for a call it waits in the provider's queue."""
        provider, context = self._providers[place], self._context
        # The model that a request names is one of the first provider's.
        question = question if place == 0 else replace(question, model=None)
        plan = AttemptPlan(
            provider=provider.name,
            model=question.model or provider.model,
            input_tokens=question.estimated_input_tokens,
            output_tokens=question.max_tokens,
        )
        tries = waited_ms = 0
        while (left_ms := self.remaining_ms()) > 0:
            depth = call_queue().depth(provider.name, self)
            admission = attempt_admit(plan=plan, rules=context.rules, queue_depth=depth, clock=context.clock)
            if admission.permit is not None:
                call_queue().leave(provider.name, self)
                tries += 1
                # No longer than the call may take, nor than what is set aside for it counts.
                limit_ms = min(left_ms, context.rules.reservation_ms - RESERVATION_MARGIN_MS)
                timeouts = provider.timeouts.within(max(limit_ms, 1) / 1_000)
                step = self.try_once(admission.permit, CallAttempt(place, provider, question, tries, timeouts))
                if not isinstance(step, RetryLater):
                    return step
                pause_ms = step.wait_ms
            else:
                assert admission.refusal is not None
                wait_ms = self.wait_for_room(admission.refusal, place, waited_ms)
                if wait_ms is None:
                    return None
                waited_ms, pause_ms = waited_ms + wait_ms, wait_ms
            context.sleep(pause_ms / 1_000)
        self.note_stop(Stop(StoppedBy.DEADLINE, OUT_OF_TIME, provider.name, retryable=True))
        return None

    def wait_for_room(self, refusal: AttemptRefusal, place: int, waited_ms: int) -> int | None:
        """Return how many milliseconds to wait for room in the provider's minute; None to ask the next provider."""
        policy, wait_ms = self._context.policy, refusal.retry_after_ms
        longest = policy.retry_of(is_last=self.is_last(place)).max_retry_after_ms
        patience_ms = min(longest - waited_ms, self.remaining_ms() - 1)
        if refusal.guard is CallGuard.RATE and wait_ms is not None and wait_ms <= patience_ms:
            call_queue().join(self._providers[place].name, self)
            # Not all that wait for the same moment at once.
            return wait_ms + int(self._context.rng.next_float() * policy.retry.backoff.jitter_ms)
        by = StoppedBy(refusal.guard.value)
        self.note_stop(Stop(by, refusal.reason, self._providers[place].name, wait_ms is not None, wait_ms))
        return None

    def try_once(self, permit: Permit, attempt: CallAttempt) -> Step:
        """Make one attempt, and return what follows from it. The permit is handed back whatever happens."""
        context, usage, on_piece = self._context, self._usage, self._request.on_piece
        usage.begin(permit, attempt.question)
        number = usage.attempts
        reader = StreamReader(
            attempt.question,
            context.clock,
            context.policy.assembly,
            lambda text: on_piece(AnswerPiece(text, number)) if on_piece is not None else None,
        )

        def abandoned() -> tuple[Usage, CallRecord]:
            usage.end(permit, used := reader.probable_usage(), reader.text)
            return used, self.build_record(None)

        with HeldPermit(permit, context.rules, context.clock, abandoned) as held:
            read = reader.read(attempt.provider.stream(attempt.question, attempt.timeouts))
            usage.end(permit, read.usage, reader.text)
            checked, error = check_answer(read.answer, self._request.expected), read.error
            # An answer, good or bad, says that the provider works.
            result = CallResult.SUCCEEDED
            step: Step = None
            if isinstance(checked, UsableAnswer):
                finish = read.answer.finish or FinishReason.STOP
                step = self.build_answer(checked, attempt.provider, read.model, finish)
            elif isinstance(checked, UnusableAnswer):
                step = self.correct(attempt, checked, read.answer.text)
            elif error is not None:
                is_ill = error.counts_against_breaker and not attempt.was_cut_short(error)
                result = CallResult.FAILED if is_ill else CallResult.NOT_MADE
                step = self.recover(attempt, error, read.answer.text)
            record = self.build_record(step) if isinstance(step, ChatAnswer | ChatFailure) else None
            held.settle(result, read.usage, record)
        return step

    def correct(self, attempt: CallAttempt, unusable: UnusableAnswer, answer: str) -> Step:
        """Return what follows from an answer that cannot be used: the model is asked again with its faults."""
        name, fault = attempt.provider.name, unusable.fault.value
        metrics.UNUSABLE.labels(name, fault).inc()
        if unusable.is_correctable and self._corrections > 0:
            self._corrections -= 1
            logger.info("The answer of %s cannot be used (%s); asking again with what is wrong.", name, fault)
            corrected = build_correction(attempt.question, answer, unusable)
            # With the model of the first question: another provider may have to answer it.
            return AskCorrected(replace(corrected, model=self._request.question.model))
        self.note_stop(Stop(StoppedBy.OUTPUT, fault, name))
        return ChatFailure(tuple(self._stops), self._usage.effort())

    def recover(self, attempt: CallAttempt, error: ChatError, answer: str) -> Step:
        """Return what follows from a failed attempt."""
        name, kind = attempt.provider.name, error.kind.value
        metrics.FAILED_ATTEMPTS.labels(name, kind).inc()
        self._usage.failure = kind
        # The longest answer that broke off, in case no provider sends a whole one.
        if answer and (self._partial is None or len(answer) > len(self._partial[0])):
            self._partial = answer, attempt.provider
        was_cut_short = attempt.was_cut_short(error)
        if error.retryable and not was_cut_short:
            pause_ms = retry_in_ms(
                self._context.policy.retry_of(is_last=self.is_last(attempt.place)),
                attempt.number,
                self._context.rng,
                retry_after_ms=error.retry_after_ms,
                remaining_ms=self.remaining_ms(),
            )
            if pause_ms is not None:
                logger.info("%s failed (%s) at try %d; asking again in %d ms.", name, kind, attempt.number, pause_ms)
                return RetryLater(pause_ms)
        if was_cut_short:
            self.note_stop(Stop(StoppedBy.DEADLINE, OUT_OF_TIME, name, retryable=True))
        else:
            self.note_stop(Stop(StoppedBy.PROVIDER, kind, name, error.retryable, error.retry_after_ms))
        return self.give_up() if self.is_last(attempt.place) else None

    def give_up(self) -> ChatAnswer[Any] | ChatFailure:
        """Return what is left when no provider is to be asked any more: a usable part of an answer, or the failure."""
        if self._partial is not None:
            answer, provider = self._partial
            usable = check_partial_answer(answer, self._request.expected)
            if usable is not None:
                logger.warning("No provider sent a whole answer; a part of one of %s is used.", provider.name)
                return self.build_answer(usable, provider, "", FinishReason.OTHER)
        return ChatFailure(tuple(self._stops), self._usage.effort())

    def build_answer(
        self, usable: UsableAnswer, provider: ChatProvider, model: str, finish: FinishReason
    ) -> ChatAnswer[Any]:
        """Return a usable answer with what it took."""
        return ChatAnswer(
            text=usable.text,
            value=usable.value,
            provider=provider.name,
            model=model or provider.model,
            finish=finish,
            effort=self._usage.effort(),
            is_cut=usable.is_cut,
            repairs=usable.repairs,
        )

    def build_record(self, result: ChatResult[Any] | None) -> CallRecord:
        """Return the record of the call, once. result: None where its caller abandoned it."""
        self._is_recorded = True
        return self._usage.record(result)

    def note_stop(self, stop: Stop) -> None:
        """Remember why a provider is not asked any more."""
        logger.info("%s has no answer: %s", stop.provider, stop.detail)
        self._stops.append(stop)

    def is_last(self, place: int) -> bool:
        """Return whether there is no provider to ask after this one."""
        return place == len(self._providers) - 1

    def remaining_ms(self) -> int:
        """Return how much time the call has left."""
        return self._usage.started_at + self._context.policy.deadline_ms - self._context.clock.now()
