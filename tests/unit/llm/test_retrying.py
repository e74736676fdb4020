"""Whether and when a failed call is tried again: spec 002 section 2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import DeterministicRNG
from apps.llm.domain.retry import (
    DEFAULT_BACKOFF,
    DEFAULT_RETRY_POLICY,
    CallRetryPolicy,
    parse_retry_after,
    retry_in_ms,
)

NOON = 1_445_412_480_000  # Wed, 21 Oct 2015 07:28:00 GMT
PATIENT = CallRetryPolicy(max_attempts=100)


def without_jitter() -> DeterministicRNG:
    rng = DeterministicRNG(1)
    rng.set_sequence([0.5])
    return rng


def test_the_defaults_are_the_spec_s() -> None:
    assert Backoff(base_ms=500, multiplier=2, max_ms=8_000, jitter_ms=200) == DEFAULT_BACKOFF
    assert CallRetryPolicy(DEFAULT_BACKOFF, max_attempts=3, max_retry_after_ms=30_000) == DEFAULT_RETRY_POLICY


def test_waits_double_from_half_second_to_eight() -> None:
    waits = [retry_in_ms(PATIENT, attempts, without_jitter()) for attempts in range(1, 8)]
    assert waits == [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]


@given(st.integers(1, 99), st.integers(0, 2**31 - 1))
def test_same_seed_has_same_wait_within_its_jitter(attempts: int, seed: int) -> None:
    wait = retry_in_ms(PATIENT, attempts, DeterministicRNG(seed))
    assert wait == retry_in_ms(PATIENT, attempts, DeterministicRNG(seed))
    middle = min(500 * 2 ** (attempts - 1), 8_000)
    assert wait is not None
    assert middle - 200 <= wait <= middle + 200


def test_call_is_given_up_after_its_last_attempt() -> None:
    assert [retry_in_ms(DEFAULT_RETRY_POLICY, attempts, without_jitter()) for attempts in (2, 3, 4)] == [
        1_000,
        None,
        None,
    ]


@pytest.mark.parametrize(("asked", "wait"), [(None, 500), (0, 500), (499, 500), (2_500, 2_500), (30_000, 30_000)])
def test_wait_is_never_shorter_than_provider_asked_for(asked: int | None, wait: int) -> None:
    assert retry_in_ms(PATIENT, 1, without_jitter(), retry_after_ms=asked) == wait


def test_provider_that_asks_for_too_long_is_not_waited_for() -> None:
    assert retry_in_ms(PATIENT, 1, without_jitter(), retry_after_ms=30_001) is None


@pytest.mark.parametrize(("remaining", "wait"), [(501, 500), (500, None), (0, None), (None, 500)])
def test_wait_that_uses_up_caller_s_time_is_not_begun(remaining: int | None, wait: int | None) -> None:
    assert retry_in_ms(PATIENT, 1, without_jitter(), remaining_ms=remaining) == wait


@pytest.mark.parametrize(
    ("header", "milliseconds"),
    [
        ("0", 0),
        ("120", 120_000),
        (" 7 ", 7_000),
        ("1.5", 1_500),
        ("0.0004", 1),
        ("Wed, 21 Oct 2015 07:28:30 GMT", 30_000),
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0),
        ("Wed, 21 Oct 2015 09:28:10 +0200", 10_000),
        ("Wed, 21 Oct 2015 07:28:05 -0000", 5_000),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str, milliseconds: int) -> None:
    assert parse_retry_after(header, NOON) == milliseconds


@pytest.mark.parametrize("header", [None, "", "soon", "-1", "1e3", "١٢", "9" * 5_000, "Wed, 99 Oct 2015 07:28:00 GMT"])
def test_what_is_neither_asks_for_nothing(header: str | None) -> None:
    assert parse_retry_after(header, NOON) is None


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9]{1,6} [0-9:]{1,9} [-+A-Z0-9]{0,6}"))
def test_no_header_raises(header: str) -> None:
    parsed = parse_retry_after(header, NOON)
    assert parsed is None or parsed >= 0
