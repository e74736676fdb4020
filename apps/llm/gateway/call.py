"""One call through the gateway: providers in turn, tries, corrections, and what is written down of it.

Each attempt asks the guards and settles with them, so what it set aside is held for that attempt only, and nothing is
while a pause is waited for.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError

from apps.core.domain.clock import Clock
from apps.core.domain.randomness import RNG
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
from apps.llm.domain.retry import CallRetryPolicy, retry_in_ms
from apps.llm.gateway.permit import HeldPermit
from apps.llm.gateway.policy import RESERVATION_MARGIN_MS, GatewayPolicy
from apps.llm.gateway.stream import Reader, Reading
from apps.llm.gateway.usage import Order, Tally
from apps.llm.guards.attempts import AttemptPlan, Permit, Refusal, attempt_admit
from apps.llm.guards.breakers import CallResult
from apps.llm.guards.calls import NO_PROVIDER, CallRecord, call_record
from apps.llm.guards.rules import GuardRules
from apps.llm.models import CallGuard

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a call goes by. sleep: waits, in seconds."""

    rules: GuardRules
    policy: GatewayPolicy
    clock: Clock
    rng: RNG
    sleep: Callable[[float], None]


@dataclass(frozen=True)
class _Try:
    """One attempt at one provider. place: in the order of providers. number: of this provider's tries, from 1."""

    place: int
    provider: ChatProvider
    request: ChatRequest
    number: int
    timeouts: Timeouts

    def ran_short(self, error: ChatError) -> bool:
        """Whether the time was over that we gave it, less than the provider's own."""
        is_total = isinstance(error, ChatTimeoutError) and error.phase is TimeoutPhase.TOTAL
        return is_total and self.timeouts.total < self.provider.timeouts.total


@dataclass(frozen=True)
class _Again:
    """The same provider is asked again after a pause."""

    wait_ms: int


@dataclass(frozen=True)
class _Corrected:
    """The same provider is asked another question."""

    request: ChatRequest


# None: the next provider is asked.
_Step = ChatAnswer[Any] | ChatFailure | _Again | _Corrected | None


class Call:
    """One call, used once."""

    def __init__(self, order: Order, providers: Sequence[ChatProvider], surroundings: Surroundings) -> None:
        self._order = order
        self._providers = providers
        self._rules = surroundings.rules
        self._policy = surroundings.policy
        self._clock = surroundings.clock
        self._rng = surroundings.rng
        self._sleep = surroundings.sleep
        self._tally = Tally(order, self._clock.now(), keeps_content=self._rules.keeps_content)
        self._corrections = self._policy.corrections
        self._stops: list[Stop] = []
        self._rest: tuple[str, ChatProvider] | None = None
        self._is_recorded = False

    def run(self) -> ChatResult[Any]:
        """Ask until there is an answer, or no sense in asking."""
        try:
            result = self._ask()
        except BaseException:
            self._abandon()
            raise
        latency = self._tally.effort().latency_ms
        metrics.LATENCY.labels(self._tally.provider or NO_PROVIDER, self._order.purpose).observe(latency)
        if isinstance(result, ChatFailure):
            logger.warning("A call for %s got no answer: %s", self._order.purpose, result.detail)
        elif result.was_repaired:
            metrics.REPAIRED.labels(result.provider).inc()
        return result

    def _abandon(self) -> None:
        """Write down a call that was interrupted between two attempts; inside of one that is done already."""
        if self._tally.attempts and not self._is_recorded:
            with suppress(DatabaseError):
                call_record(record=self._tally.record(None), rules=self._rules)

    def _ask(self) -> ChatResult[Any]:
        place, request = 0, self._order.request
        while place < len(self._providers):
            step = self._ask_one(place, request)
            if isinstance(step, ChatAnswer | ChatFailure):
                return step
            if isinstance(step, _Corrected):
                request = step.request
            else:
                place += 1
        # Nobody was asked last, so there is no attempt with which this could be written down.
        result = self._given_up()
        call_record(record=self._record(result), rules=self._rules)
        return result

    def _ask_one(self, place: int, request: ChatRequest) -> _Step:
        """Ask one provider until that makes no sense any more."""
        tries = waited = 0
        while self._left_ms() > 0:
            granted = self._admit(place, request)
            if isinstance(granted, Permit):
                tries += 1
                step = self._try(granted, place, request, tries)
                if not isinstance(step, _Again):
                    return step
                pause = step.wait_ms
            else:
                wait = self._wait_after(granted, place, waited)
                if wait is None:
                    return None
                waited, pause = waited + wait, wait
            self._sleep(pause / 1_000)
        self._stop(Stop(StoppedBy.DEADLINE, OUT_OF_TIME, self._providers[place].name, retryable=True))
        return None

    def _admit(self, place: int, request: ChatRequest) -> Permit | Refusal:
        provider = self._providers[place]
        plan = AttemptPlan(
            provider=provider.name,
            model=_model(place, request) or provider.model,
            input_tokens=request.estimated_input_tokens,
            output_tokens=request.max_tokens,
        )
        admission = attempt_admit(plan=plan, rules=self._rules, clock=self._clock)
        if admission.permit is not None:
            return admission.permit
        assert admission.refusal is not None
        return admission.refusal

    def _wait_after(self, refusal: Refusal, place: int, waited: int) -> int | None:
        """Milliseconds to wait for room in the provider's minute; None to ask somebody else."""
        wait = refusal.retry_after_ms
        patience = min(self._retries(place).max_retry_after_ms - waited, self._left_ms() - 1)
        if refusal.guard is CallGuard.RATE and wait is not None and wait <= patience:
            # Not all who wait for the same moment at once.
            return wait + int(self._rng.next_float() * self._policy.retry.backoff.jitter_ms)
        by = StoppedBy(refusal.guard.value)
        self._stop(Stop(by, refusal.reason, self._providers[place].name, wait is not None, wait))
        return None

    def _try(self, permit: Permit, place: int, request: ChatRequest, number: int) -> _Step:
        """One attempt, and what follows from it. The permit is handed back whatever happens."""
        provider, tally = self._providers[place], self._tally
        asked = replace(request, model=_model(place, request))
        attempt = _Try(place, provider, asked, number, self._timeouts(provider))
        tally.begin(permit, asked)
        reader = Reader(asked, self._clock, self._policy.assembly, self._listener())

        def abandoned() -> tuple[Usage, CallRecord]:
            tally.end(permit, usage := reader.probable_usage(), reader.text)
            return usage, self._record(None)

        with HeldPermit(permit, self._rules, self._clock, abandoned) as held:
            reading = reader.read(provider.stream(asked, attempt.timeouts))
            tally.end(permit, reading.usage, reader.text)
            checked = check_answer(reading.heard, self._order.expected)
            step = self._step_after(attempt, reading, checked)
            record = self._record(step) if isinstance(step, ChatAnswer | ChatFailure) else None
            held.settle(_result_of(attempt, reading, checked), reading.usage, record)
        return step

    def _step_after(self, attempt: _Try, reading: Reading, checked: UsableAnswer | UnusableAnswer | None) -> _Step:
        if isinstance(checked, UsableAnswer):
            return self._answer(checked, attempt.provider, reading.model, reading.heard.finish or FinishReason.STOP)
        if isinstance(checked, UnusableAnswer):
            return self._after_unusable(attempt, checked, reading.heard.text)
        assert reading.error is not None
        return self._after_failure(attempt, reading.error, reading.heard.text)

    def _after_unusable(self, attempt: _Try, unusable: UnusableAnswer, said: str) -> _Step:
        name, fault = attempt.provider.name, unusable.fault.value
        metrics.UNUSABLE.labels(name, fault).inc()
        if unusable.is_correctable and self._corrections > 0:
            self._corrections -= 1
            logger.info("The answer of %s cannot be used (%s); it is told so and asked again.", name, fault)
            # The question as it was put first: another provider may have to answer it.
            return _Corrected(
                replace(build_correction(attempt.request, said, unusable), model=self._order.request.model)
            )
        self._stop(Stop(StoppedBy.OUTPUT, fault, name))
        return ChatFailure(tuple(self._stops), self._tally.effort())

    def _after_failure(self, attempt: _Try, error: ChatError, said: str) -> _Step:
        name, kind = attempt.provider.name, error.kind.value
        metrics.FAILED_ATTEMPTS.labels(name, kind).inc()
        self._tally.failure = kind
        self._keep_rest(said, attempt.provider)
        pause = self._pause_after(attempt, error)
        if pause is not None:
            logger.info("%s failed (%s) at try %d; asking again in %d ms.", name, kind, attempt.number, pause)
            return _Again(pause)
        if attempt.ran_short(error):
            self._stop(Stop(StoppedBy.DEADLINE, OUT_OF_TIME, name, retryable=True))
        else:
            self._stop(Stop(StoppedBy.PROVIDER, kind, name, error.retryable, error.retry_after_ms))
        return self._given_up() if self._is_last(attempt.place) else None

    def _pause_after(self, attempt: _Try, error: ChatError) -> int | None:
        if not error.retryable or attempt.ran_short(error):
            return None
        return retry_in_ms(
            self._retries(attempt.place),
            attempt.number,
            self._rng,
            retry_after_ms=error.retry_after_ms,
            remaining_ms=self._left_ms(),
        )

    def _keep_rest(self, said: str, provider: ChatProvider) -> None:
        """The longest answer that broke off, in case nobody gives a whole one."""
        if said and (self._rest is None or len(said) > len(self._rest[0])):
            self._rest = said, provider

    def _given_up(self) -> ChatAnswer[Any] | ChatFailure:
        """What is left when nobody is to be asked any more."""
        said, provider = self._rest or ("", None)
        rest = check_partial_answer(said, self._order.expected) if provider else None
        if rest is not None and provider is not None:
            logger.warning("No whole answer was given; a part of one of %s is used.", provider.name)
            return self._answer(rest, provider, "", FinishReason.OTHER)
        return ChatFailure(tuple(self._stops), self._tally.effort())

    def _answer(
        self, usable: UsableAnswer, provider: ChatProvider, model: str, finish: FinishReason
    ) -> ChatAnswer[Any]:
        return ChatAnswer(
            text=usable.text,
            value=usable.value,
            provider=provider.name,
            model=model or provider.model,
            finish=finish,
            effort=self._tally.effort(),
            is_cut=usable.is_cut,
            repairs=usable.repairs,
        )

    def _record(self, result: ChatResult[Any] | None) -> CallRecord:
        """What is written down of the call, once. None: its caller abandoned it."""
        self._is_recorded = True
        return self._tally.record(result)

    def _stop(self, stop: Stop) -> None:
        logger.info("%s gives no answer: %s", stop.provider, stop.detail)
        self._stops.append(stop)

    def _listener(self) -> Callable[[str], None]:
        on_piece, number = self._order.on_piece, self._tally.attempts
        return _ignore if on_piece is None else lambda text: on_piece(AnswerPiece(text, number))

    def _is_last(self, place: int) -> bool:
        return place == len(self._providers) - 1

    def _retries(self, place: int) -> CallRetryPolicy:
        return self._policy.retry_of(is_last=self._is_last(place))

    def _left_ms(self) -> int:
        return self._tally.started_at + self._policy.deadline_ms - self._clock.now()

    def _timeouts(self, provider: ChatProvider) -> Timeouts:
        """The provider's, but no longer than the call may take, nor than what is set aside for it counts."""
        limit_ms = min(self._left_ms(), self._rules.reservation_ms - RESERVATION_MARGIN_MS)
        return provider.timeouts.within(max(limit_ms, 1) / 1_000)


def _result_of(attempt: _Try, reading: Reading, checked: UsableAnswer | UnusableAnswer | None) -> CallResult:
    """What an attempt says of its provider; of an answer, be it good or bad, that it is well."""
    if checked is not None or reading.error is None:
        return CallResult.SUCCEEDED
    is_ill = reading.error.counts_against_breaker and not attempt.ran_short(reading.error)
    return CallResult.FAILED if is_ill else CallResult.NOT_MADE


def _model(place: int, request: ChatRequest) -> str | None:
    """The model to be asked for: the one that a request names is one of the first provider's."""
    return request.model if place == 0 else None


def _ignore(text: str) -> None:
    pass
