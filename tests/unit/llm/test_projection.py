"""Token projection and rate limiting: spec 002 section 3."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.core.domain.clock import DeterministicClock
from apps.llm.domain.rate import (
    DEFAULT_WINDOW_MS,
    THROTTLE_PERCENT,
    TOKENS_PER_MINUTE,
    UNDER_WAY_RETRY_MS,
    Projection,
    RateLimit,
    RateVerdict,
    TokenUsage,
    decide_rate,
    project_token_usage,
)
from tests.effort import examples
from tests.guards import RateLimiter, RateTicket

NOW = 1_700_000_000_000
MINUTE = 60_000
CLAUDE = RateLimit(TOKENS_PER_MINUTE["claude"])
HUNDRED = RateLimit(tokens_per_minute=100)


def used(*tokens: int, ago: int = 0) -> list[TokenUsage]:
    return [TokenUsage(NOW - ago, count) for count in tokens]


def test_the_numbers_are_the_spec_s() -> None:
    assert TOKENS_PER_MINUTE == {"claude": 40_000, "openai": 90_000}
    assert (THROTTLE_PERCENT, DEFAULT_WINDOW_MS) == (80, MINUTE)
    assert RateLimit(tokens_per_minute=40_000, window_ms=60_000) == CLAUDE


@pytest.mark.parametrize(
    ("per_minute", "window", "tokens"),
    [(40_000, 60_000, 40_000), (90_000, 60_000, 90_000), (40_000, 1_000, 666), (90_000, 1, 1)],
)
def test_window_has_its_share_of_minute_rounded_down(per_minute: int, window: int, tokens: int) -> None:
    assert RateLimit(per_minute, window).tokens == tokens


def test_provider_without_limit_has_none_in_window() -> None:
    assert RateLimit(None).tokens is None


@pytest.mark.parametrize("limit", [{"tokens_per_minute": 40_000, "window_ms": 1}, {"tokens_per_minute": 0}])
def test_window_without_room_for_token_is_refused(limit: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="below one token"):
        RateLimit(**limit)


def test_window_with_room_for_single_token_is_one() -> None:
    assert RateLimit(tokens_per_minute=60_000, window_ms=1).tokens == 1


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_lasts_a_millisecond_at_least(window: int) -> None:
    with pytest.raises(ValueError, match="at least a millisecond"):
        RateLimit(tokens_per_minute=None, window_ms=window)


def test_without_usage_nothing_is_projected() -> None:
    assert project_token_usage([], 1_000, CLAUDE, NOW) == Projection(
        projected_tokens=0,
        projected_total=0,
        utilization_percent=0,
        should_throttle=False,
        window_tokens_used=0,
        window_limit=40_000,
    )


def test_average_of_window_is_projected_on_queue() -> None:
    assert project_token_usage(used(1_000, 2_000, 6_000), 4, CLAUDE, NOW) == Projection(
        projected_tokens=12_000,
        projected_total=21_000,
        utilization_percent=52.5,
        should_throttle=False,
        window_tokens_used=9_000,
        window_limit=40_000,
    )


def test_an_empty_queue_adds_nothing() -> None:
    projection = project_token_usage(used(30_000, 10_000), 0, CLAUDE, NOW)
    assert (projection.projected_tokens, projection.utilization_percent) == (0, 100)


@pytest.mark.parametrize(("ago", "counted"), [(59_999, 5), (60_000, 5), (60_001, 0), (-1, 5)])
def test_usage_as_old_as_window_counts_and_older_does_not(ago: int, counted: int) -> None:
    assert project_token_usage(used(5, ago=ago), 1, CLAUDE, NOW).window_tokens_used == counted


@pytest.mark.parametrize(("tokens", "throttles"), [(16_000, False), (16_001, True), (15_999, False)])
def test_throttling_begins_above_80_percent(tokens: int, throttles: bool) -> None:
    assert project_token_usage(used(tokens), 1, CLAUDE, NOW).should_throttle is throttles


def test_average_that_no_float_holds_does_not_blur_threshold() -> None:
    limit = RateLimit(tokens_per_minute=25)
    assert not project_token_usage(used(3, 3, 4), 3, limit, NOW).should_throttle
    assert project_token_usage(used(3, 3, 5), 3, limit, NOW).should_throttle


def test_without_a_limit_nothing_throttles() -> None:
    projection = project_token_usage(used(10**12), 10**6, RateLimit(tokens_per_minute=None), NOW)
    assert (projection.should_throttle, projection.utilization_percent) == (False, 0)
    assert projection.window_limit is None


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="0 tokens or more"):
        TokenUsage(NOW, -1)
    with pytest.raises(ValueError, match="0 calls or more"):
        project_token_usage(used(1), -1, CLAUDE, NOW)
    with pytest.raises(ValueError, match="0 tokens or more"):
        decide_rate([], [], -1, CLAUDE, NOW)


usages = st.builds(TokenUsage, st.integers(NOW - 2 * MINUTE, NOW + MINUTE), st.integers(0, 60))
histories = st.lists(usages, max_size=8)


@given(histories, st.integers(0, 6))
def test_decision_to_throttle_is_formula_of_spec(history: list[TokenUsage], depth: int) -> None:
    recent = [usage.total_tokens for usage in history if usage.timestamp >= NOW - MINUTE]
    total = sum(recent) + Fraction(sum(recent), max(1, len(recent))) * depth
    projection = project_token_usage(history, depth, HUNDRED, NOW)
    assert projection.should_throttle == (total / 100 * 100 > 80)
    assert projection.projected_total == pytest.approx(float(total))


def test_a_call_is_allowed_up_to_the_last_token() -> None:
    assert decide_rate([], [], 100, HUNDRED, NOW).allowed
    assert decide_rate(used(10), [], 90, HUNDRED, NOW).allowed


def test_call_that_does_not_fit_now_may_come_when_usage_has_left_window() -> None:
    history = [*used(10, ago=50_000), *used(10, ago=20_000)]
    decision = decide_rate(history, [], 85, HUNDRED, NOW)
    assert (decision.verdict, decision.retry_after_ms) == (RateVerdict.FULL, 10_001)
    assert decide_rate(history, [], 95, HUNDRED, NOW).retry_after_ms == 40_001


def test_projection_above_threshold_throttles() -> None:
    decision = decide_rate(used(41, ago=1_000), [], 1, HUNDRED, NOW)
    assert (decision.verdict, decision.retry_after_ms) == (RateVerdict.THROTTLED, 59_001)


def test_average_of_what_stays_in_window_may_throttle_longer() -> None:
    history = [*used(10, ago=50_000), *used(50, ago=20_000)]
    assert decide_rate(history, [], 1, HUNDRED, NOW).retry_after_ms == 40_001


def test_a_longer_queue_throttles_earlier() -> None:
    assert decide_rate(used(20), [], 1, HUNDRED, NOW, queue_depth=3).allowed
    assert not decide_rate(used(20), [], 1, HUNDRED, NOW, queue_depth=4).allowed


def test_call_larger_than_window_need_not_ask_again() -> None:
    decision = decide_rate(used(100), [], 101, HUNDRED, NOW)
    assert (decision.verdict, decision.retry_after_ms) == (RateVerdict.TOO_LARGE, None)


def test_calls_under_way_count_however_long_they_take() -> None:
    decision = decide_rate([], used(30, ago=10 * MINUTE), 80, HUNDRED, NOW)
    assert (decision.verdict, decision.retry_after_ms) == (RateVerdict.FULL, UNDER_WAY_RETRY_MS)


@given(histories, histories, st.integers(0, 120), st.integers(1, 4))
def test_retry_is_allowed_at_its_time_and_not_before(
    settled: list[TokenUsage], under_way: list[TokenUsage], estimated: int, depth: int
) -> None:
    decision = decide_rate(settled, under_way, estimated, HUNDRED, NOW, depth)
    wait = decision.retry_after_ms
    if wait is None:
        assert decision.verdict in (RateVerdict.ALLOWED, RateVerdict.TOO_LARGE)
        return
    assert not decide_rate(settled, under_way, estimated, HUNDRED, NOW + wait - 1, depth).allowed
    later = decide_rate(settled, under_way, estimated, HUNDRED, NOW + wait, depth)
    assert later.allowed or (under_way and wait == UNDER_WAY_RETRY_MS)


def expected(settled: Collection[TokenUsage], under_way: Collection[int], estimated: int, now: int) -> RateVerdict:
    """The decision from the words of the spec, in fractions, and from the promise about calls at once."""
    counted = [usage.total_tokens for usage in settled if usage.timestamp >= now - MINUTE] + list(under_way)
    projected = sum(counted) + Fraction(sum(counted), max(1, len(counted)))
    if estimated > 100:
        return RateVerdict.TOO_LARGE
    if projected > 80:
        return RateVerdict.THROTTLED
    return RateVerdict.FULL if sum(counted) + estimated > 100 else RateVerdict.ALLOWED


class Limiting(RuleBasedStateMachine):
    """A limiter of a hundred tokens a minute beside a list of everything that was ever used."""

    @initialize()
    def begin(self) -> None:
        self.clock = DeterministicClock(NOW)
        self.limiter = RateLimiter(HUNDRED, self.clock)
        self.under_way: list[RateTicket] = []
        self.settled: list[TokenUsage] = []

    @rule(tokens=st.integers(0, 110))
    def ask(self, tokens: int) -> None:
        promised = [ticket.estimated_tokens for ticket in self.under_way]
        decision, ticket = self.limiter.reserve(tokens)
        assert decision.verdict is expected(self.settled, promised, tokens, self.clock.now())
        assert (ticket is not None) == decision.allowed
        if ticket:
            self.under_way.append(ticket)

    @precondition(lambda self: self.under_way)
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        ticket = self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))
        tokens = data.draw(st.integers(0, ticket.estimated_tokens))
        self.limiter.settle(ticket, tokens)
        self.settled.append(TokenUsage(self.clock.now(), tokens))

    @precondition(lambda self: self.under_way)
    @rule()
    def release(self) -> None:
        self.limiter.release(self.under_way.pop())

    @rule(milliseconds=st.sampled_from([0, 1, 20_000, 59_999, 60_000, 60_001]))
    def wait(self, milliseconds: int) -> None:
        self.clock.advance(milliseconds)

    @invariant()
    def the_window_holds_no_more_than_its_limit(self) -> None:
        recent = [u.total_tokens for u in self.settled if u.timestamp >= self.clock.now() - MINUTE]
        assert sum(recent) + sum(ticket.estimated_tokens for ticket in self.under_way) <= 100


TestLimiting = Limiting.TestCase
TestLimiting.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


def test_callers_at_once_pass_no_more_than_limit_holds() -> None:
    limiter = RateLimiter(HUNDRED, DeterministicClock(NOW))
    with ThreadPoolExecutor(16) as pool:
        tickets = [ticket for _, ticket in pool.map(lambda _: limiter.reserve(7), range(200)) if ticket]
    # After ten calls of 7 tokens one more is projected to bring 77 of 100, after eleven it would be 84.
    assert len(tickets) == 11


def test_limiter_keeps_usage_until_it_has_left_window() -> None:
    clock = DeterministicClock(NOW)
    limiter = RateLimiter(HUNDRED, clock)
    for tokens in (30, 5):
        _, ticket = limiter.reserve(tokens)
        assert ticket is not None
        limiter.settle(ticket, tokens)
        clock.advance(MINUTE if tokens == 30 else 0)
    assert limiter.reserve(1)[0].projection.window_tokens_used == 35


def test_a_ticket_is_used_once() -> None:
    limiter = RateLimiter(HUNDRED, DeterministicClock(NOW))
    _, ticket = limiter.reserve(5)
    assert ticket is not None
    limiter.settle(ticket, 5)
    with pytest.raises(KeyError):
        limiter.release(ticket)
