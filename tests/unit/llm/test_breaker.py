"""The circuit breaker: spec 002 section 4."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.breaker import (
    DEFAULT_CIRCUIT_CONFIG,
    HALF_OPEN_RETRY_MS,
    BreakerState,
    CircuitConfig,
    Phase,
    Ticket,
    admit,
    failure_rate,
    record_failure,
    record_success,
    release,
    reset,
)
from tests.effort import examples
from tests.guards import CircuitBreaker

START = 1_700_000_000_000
CONFIG = DEFAULT_CIRCUIT_CONFIG
NEW = BreakerState(changed_at=START)


def results(state: BreakerState, failed: Sequence[bool], now: int = START) -> BreakerState:
    """`state` after calls that ended so, one after the other, all at `now`."""
    for fails in failed:
        state, admission = admit(state, now, CONFIG)
        assert admission.ticket is not None
        record = record_failure if fails else record_success
        state = record(state, admission.ticket, now, CONFIG)
    return state


def probes(state: BreakerState, count: int, now: int) -> tuple[BreakerState, list[Ticket]]:
    """`state` after `count` calls asked at `now`, and the tickets of those that were let through."""
    tickets = []
    for _ in range(count):
        state, admission = admit(state, now, CONFIG)
        tickets += [admission.ticket] if admission.ticket else []
    return state, tickets


OPEN = results(NEW, [True] * 10)
READY = START + 30_000


def test_the_defaults_are_the_spec_s() -> None:
    assert CircuitConfig(
        error_threshold=0.5, window_size=20, window_ms=60_000, cooldown_ms=30_000, probes_required=3
    ) == replace(CONFIG, probe_timeout_ms=CircuitConfig().probe_timeout_ms)
    assert CONFIG.probe_timeout_ms == 120_000


def test_gauge_shows_0_closed_1_open_2_half_open() -> None:
    assert [phase.metric_value for phase in (Phase.CLOSED, Phase.OPEN, Phase.HALF_OPEN)] == [0, 1, 2]


@pytest.mark.parametrize("broken", [{"window_size": 0}, {"probes_required": 0}])
def test_configuration_that_counts_nothing_is_refused(broken: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        CircuitConfig(**broken)


def test_single_failure_and_single_probe_may_be_enough() -> None:
    config = CircuitConfig(window_size=1, probes_required=1, error_threshold=1)
    opened = record_failure(NEW, Ticket(term=0), START, config)
    state, admission = admit(opened, READY, config)
    assert (opened.phase, admission.phase) == (Phase.OPEN, Phase.HALF_OPEN)
    assert admission.ticket is not None
    assert record_success(state, admission.ticket, READY, config).phase is Phase.CLOSED


@pytest.mark.parametrize("threshold", [0, -0.5, 1.1])
def test_a_threshold_is_a_share(threshold: float) -> None:
    with pytest.raises(ValueError, match="error_threshold"):
        CircuitConfig(error_threshold=threshold)


def test_nine_failures_of_twenty_leave_it_closed_and_tenth_opens_it() -> None:
    nine = results(NEW, [True] * 9)
    assert (nine.phase, failure_rate(nine, START, CONFIG)) == (Phase.CLOSED, 0.45)
    assert results(nine, [True]).phase is Phase.OPEN


def test_every_other_call_failing_opens_it() -> None:
    assert results(NEW, [False, True] * 10).phase is Phase.OPEN


def test_only_the_last_twenty_attempts_count() -> None:
    spread = [*[True] * 9, *[False] * 12, *[True] * 9]
    assert results(NEW, spread).phase is Phase.CLOSED


@given(st.lists(st.tuples(st.integers(0, 40_000), st.booleans()), max_size=20))
def test_rate_of_up_to_twenty_calls_a_minute_is_the_formula_of_the_spec(calls: list[tuple[int, bool]]) -> None:
    state, now = NEW, START
    for pause, fails in calls:
        now += pause
        state = (record_failure if fails else record_success)(state, Ticket(term=0), now, CONFIG)
    ends = [START + sum(pause for pause, _ in calls[: place + 1]) for place in range(len(calls))]
    failures = [at for at, (_, fails) in zip(ends, calls, strict=True) if fails and at > now - CONFIG.window_ms]
    assert failure_rate(state, now, CONFIG) == len(failures) / CONFIG.window_size


def test_ten_failures_among_a_thousand_calls_leave_it_closed() -> None:
    assert results(NEW, [*[False] * 99, True] * 10).phase is Phase.CLOSED


def test_failure_as_old_as_window_is_forgotten() -> None:
    nine = results(NEW, [True] * 9)
    assert results(nine, [True], START + 59_999).phase is Phase.OPEN
    assert results(nine, [True], START + 60_000).phase is Phase.CLOSED


def test_a_healthy_provider_s_state_never_changes() -> None:
    state, admission = admit(NEW, START + 5, CONFIG)
    assert state is NEW
    assert admission.ticket is not None
    assert record_success(NEW, admission.ticket, START + 9, CONFIG) is NEW


def test_open_breaker_refuses_calls_with_time() -> None:
    for elapsed in (0, 1, 29_999):
        state, admission = admit(OPEN, START + elapsed, CONFIG)
        assert state is OPEN
        assert not admission.allowed
        assert (admission.phase, admission.retry_after_ms) == (Phase.OPEN, 30_000 - elapsed)


def test_clock_that_went_back_never_asks_for_more_than_cooldown() -> None:
    assert admit(OPEN, START - 10**9, CONFIG)[1].retry_after_ms == 30_000


def test_when_cooldown_is_over_next_call_is_probe() -> None:
    state, admission = admit(OPEN, READY, CONFIG)
    assert state.phase is admission.phase is Phase.HALF_OPEN
    assert admission.allowed
    assert state.changed_at == READY


def test_only_as_many_probes_pass_at_once_as_are_missing() -> None:
    state, tickets = probes(OPEN, 10, READY)
    assert len(tickets) == 3
    state = record_success(state, tickets[0], READY, CONFIG)
    state, admission = admit(state, READY, CONFIG)
    assert (admission.phase, admission.allowed) == (Phase.HALF_OPEN, False)
    assert admission.retry_after_ms == HALF_OPEN_RETRY_MS


def test_three_successful_probes_close_it() -> None:
    two = results(OPEN, [False, False], READY)
    assert (two.phase, two.successful_probes) == (Phase.HALF_OPEN, 2)
    assert results(two, [False], READY).phase is Phase.CLOSED


def test_failed_probe_opens_it_for_another_cooldown() -> None:
    state = results(OPEN, [False, False, True], READY)
    assert (state.phase, state.changed_at) == (Phase.OPEN, READY)
    assert not admit(state, READY + 29_999, CONFIG)[1].allowed
    state, tickets = probes(state, 10, READY + 30_000)
    assert (len(tickets), state.successful_probes) == (3, 0)


def test_failures_from_before_still_count_after_closing() -> None:
    closed = results(OPEN, [False] * 3, READY)
    assert results(closed, [True], READY).phase is Phase.OPEN
    assert results(closed, [True], START + 60_000).phase is Phase.CLOSED


def test_call_from_before_decides_nothing_about_probes() -> None:
    early = admit(NEW, START, CONFIG)[1].ticket
    assert early is not None
    state, _ = probes(OPEN, 2, READY)
    assert record_failure(state, early, READY, CONFIG).phase is Phase.HALF_OPEN
    assert record_success(state, early, READY, CONFIG).successful_probes == 0


def test_failure_that_arrives_while_open_does_not_lengthen_cooldown() -> None:
    early = admit(NEW, START, CONFIG)[1].ticket
    assert early is not None
    late = record_failure(OPEN, early, START + 20_000, CONFIG)
    assert (late.phase, late.changed_at) == (Phase.OPEN, START)


def test_a_probe_counts_once() -> None:
    state, (first, *_) = probes(OPEN, 3, READY)
    once = record_success(state, first, READY, CONFIG)
    assert record_success(once, first, READY, CONFIG).successful_probes == 1
    assert record_failure(once, first, READY, CONFIG).phase is Phase.HALF_OPEN


def test_probe_that_was_not_made_frees_its_place() -> None:
    state, tickets = probes(OPEN, 3, READY)
    freed = release(state, tickets[1])
    assert (freed.phase, freed.successful_probes, freed.attempts) == (Phase.HALF_OPEN, 0, state.attempts)
    assert len(probes(freed, 5, READY)[1]) == 1


def test_releasing_ordinary_call_changes_nothing() -> None:
    assert release(NEW, Ticket(term=0)) is NEW


def test_probe_without_result_loses_its_place_after_while() -> None:
    state, tickets = probes(OPEN, 3, READY)
    assert not admit(state, READY + 119_999, CONFIG)[1].allowed
    state, fresh = probes(state, 5, READY + 120_000)
    assert len(fresh) == 3
    assert record_failure(state, tickets[0], READY + 120_000, CONFIG).phase is Phase.HALF_OPEN
    assert record_failure(state, fresh[0], READY + 120_000, CONFIG).phase is Phase.OPEN


def test_operator_closes_it_and_everything_is_forgotten() -> None:
    _, tickets = probes(OPEN, 1, READY)
    closed = reset(OPEN, START + 1)
    assert (closed.phase, closed.attempts) == (Phase.CLOSED, ())
    assert record_failure(closed, tickets[0], READY, CONFIG).phase is Phase.CLOSED


class CircuitOfTheSpec:
    """The class of spec 002 section 4, word for word."""

    def __init__(self, now: int) -> None:
        self.state, self.failures, self.last_state_change, self.successful_probes = "closed", list[int](), now, 0

    def can_execute(self, now: int) -> bool:
        if self.state == "open" and now - self.last_state_change >= 30_000:
            self._transition_to("half_open", now)
        return self.state != "open"

    def record_success(self, now: int) -> None:
        if self.state == "half_open":
            self.successful_probes += 1
            if self.successful_probes >= 3:
                self._transition_to("closed", now)
        self._clean(now)

    def record_failure(self, now: int) -> None:
        self.failures.append(now)
        self._clean(now)
        if self.state == "half_open" or (self.state == "closed" and len(self.failures) / 20 >= 0.5):
            self._transition_to("open", now)

    def _transition_to(self, state: str, now: int) -> None:
        self.state, self.last_state_change, self.successful_probes = state, now, 0

    def _clean(self, now: int) -> None:
        self.failures = [at for at in self.failures if at > now - 60_000]


steps = st.tuples(st.sampled_from([0, 1, 500, 29_999, 30_000, 60_000]), st.integers(0, 3).map(bool))


@given(st.lists(steps, max_size=20))
def test_up_to_twenty_calls_one_at_time_go_as_in_spec_s_own_code(calls: list[tuple[int, bool]]) -> None:
    clock = DeterministicClock(START)
    ours, spec = CircuitBreaker(clock), CircuitOfTheSpec(START)
    for pause, fails in calls:
        clock.advance(pause)
        admission = ours.admit()
        assert admission.allowed == spec.can_execute(clock.now())
        if admission.ticket:
            (ours.record_failure if fails else ours.record_success)(admission.ticket)
            (spec.record_failure if fails else spec.record_success)(clock.now())
        assert (ours.state.phase, ours.state.changed_at) == (spec.state, spec.last_state_change)


@dataclass
class Call:
    """A call under way, as the model remembers it."""

    ticket: Ticket
    probe_of: int | None
    started_at: int


class Breaking(RuleBasedStateMachine):
    """Calls that overlap, beside a model that keeps every attempt and knows which probes are under way."""

    @initialize()
    def begin(self) -> None:
        self.clock = DeterministicClock(START)
        self.seen: list[Phase] = []
        self.breaker = CircuitBreaker(self.clock, on_change=self.seen.append)
        self.changes = [(Phase.CLOSED, START)]
        self.attempts: list[tuple[int, bool]] = []
        self.successes = 0
        self.calls: list[Call] = []
        self.waited_for: list[Call] = []

    @property
    def phase(self) -> Phase:
        return self.changes[-1][0]

    def become(self, phase: Phase) -> None:
        self.changes.append((phase, self.clock.now()))
        self.successes, self.waited_for = 0, []

    @rule()
    def ask(self) -> None:
        now = self.clock.now()
        if self.phase is Phase.OPEN and now - self.changes[-1][1] >= 30_000:
            self.become(Phase.HALF_OPEN)
        # A probe loses its place only when another call requests it.
        if self.phase is Phase.HALF_OPEN:
            self.waited_for = [call for call in self.waited_for if now - call.started_at < 120_000]
        missing = 3 - self.successes - len(self.waited_for)
        admission = self.breaker.admit()
        assert admission.allowed == (self.phase is Phase.CLOSED or (self.phase is Phase.HALF_OPEN and missing > 0))
        assert admission.allowed == (admission.retry_after_ms is None)
        if admission.ticket:
            probe_of = len(self.changes) if self.phase is Phase.HALF_OPEN else None
            self.calls.append(Call(admission.ticket, probe_of, now))
            self.waited_for += [self.calls[-1]] if probe_of else []

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), fails=st.booleans())
    def finish(self, data: st.DataObject, fails: bool) -> None:
        self.end(self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1))), fails)

    @rule(count=st.integers(1, 12), fails=st.booleans())
    def call_in_a_row(self, count: int, fails: bool) -> None:
        for _ in range(count):
            before = len(self.calls)
            self.ask()
            if len(self.calls) > before:
                self.end(self.calls.pop(), fails)

    def end(self, call: Call, fails: bool) -> None:
        (self.breaker.record_failure if fails else self.breaker.record_success)(call.ticket)
        self.attempts.append((self.clock.now(), fails))
        last = [failed for at, failed in self.attempts[-20:] if at > self.clock.now() - 60_000]
        if call in self.waited_for:
            self.waited_for.remove(call)
            self.successes += not fails
            if fails or self.successes == 3:
                self.become(Phase.OPEN if fails else Phase.CLOSED)
        elif fails and self.phase is Phase.CLOSED and sum(last) >= 10:
            self.become(Phase.OPEN)

    @precondition(lambda self: self.calls)
    @rule()
    def give_up(self) -> None:
        call = self.calls.pop()
        self.waited_for = [other for other in self.waited_for if other is not call]
        self.breaker.release(call.ticket)

    @rule(milliseconds=st.sampled_from([1, 10_000, 29_999, 30_000, 60_000, 120_000]))
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @invariant()
    def the_phases_are_the_model_s(self) -> None:
        state = self.breaker.state
        assert (state.phase, state.changed_at) == self.changes[-1]
        assert [Phase.CLOSED, *self.seen] == [phase for phase, _ in self.changes]
        assert state.successful_probes == self.successes

    @invariant()
    def the_state_stays_small(self) -> None:
        state = self.breaker.state
        assert len(state.attempts) <= 20
        assert state.successful_probes + len(state.probes) <= 3
        assert not state.attempts or state.attempts[0].failed


TestBreaking = Breaking.TestCase
TestBreaking.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)


def test_many_threads_at_once_get_exactly_probes_that_are_missing() -> None:
    clock = DeterministicClock(START)
    breaker = CircuitBreaker(clock)
    for _ in range(10):
        ticket = breaker.admit().ticket
        assert ticket is not None
        breaker.record_failure(ticket)
    clock.advance(30_000)
    with ThreadPoolExecutor(16) as pool:
        allowed = [a.ticket for a in pool.map(lambda _: breaker.admit(), range(200)) if a.ticket]
        list(pool.map(breaker.record_success, allowed))
    assert len(allowed) == 3
    assert breaker.state.phase is Phase.CLOSED
