"""Time and randomness as arguments: spec 002 section 10."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, to_datetime, utcnow
from apps.core.domain.randomness import SYSTEM_RNG, DeterministicRNG

SEEDS = st.integers(0, 2**31 - 1)


def numbers(rng: DeterministicRNG, count: int = 50) -> list[float]:
    return [rng.next_float() for _ in range(count)]


def test_system_clock_tells_milliseconds_since_epoch() -> None:
    before = time.time()
    assert before - 0.001 <= SYSTEM_CLOCK.now() / 1000 <= time.time() + 0.001


def test_deterministic_clock_stands_still_until_it_is_moved() -> None:
    clock = DeterministicClock(1_000)
    assert [clock.now(), clock.now()] == [1_000, 1_000]
    clock.advance(250)
    assert clock.now() == 1_250
    clock.reset(5)
    assert clock.now() == 5


def test_a_reading_becomes_an_aware_datetime() -> None:
    assert to_datetime(1_683_554_160_123) == datetime(2023, 5, 8, 13, 56, 0, 123_000, UTC)
    assert utcnow(DeterministicClock(0)) == datetime(1970, 1, 1, tzinfo=UTC)


@given(st.integers(-62_000_000_000_000, 250_000_000_000_000))
def test_every_reading_keeps_its_milliseconds(reading: int) -> None:
    moment = to_datetime(reading) - datetime(1970, 1, 1, tzinfo=UTC)
    assert (moment.days * 86_400 + moment.seconds) * 1_000 + moment.microseconds // 1_000 == reading


def test_the_budget_day_turns_at_midnight_in_utc() -> None:
    clock = DeterministicClock(int(datetime(2025, 1, 1, 23, 59, 59, tzinfo=UTC).timestamp() * 1_000))
    assert utcnow(clock).date().isoformat() == "2025-01-01"
    clock.advance(1_000)
    assert utcnow(clock) == datetime(2025, 1, 2, tzinfo=UTC)


@given(SEEDS)
def test_the_same_seed_gives_the_same_sequence(seed: int) -> None:
    assert numbers(DeterministicRNG(seed)) == numbers(DeterministicRNG(seed))


@given(SEEDS)
def test_every_number_is_at_least_0_and_below_1(seed: int) -> None:
    assert all(0 <= number < 1 for number in numbers(DeterministicRNG(seed), 200))


def test_the_generator_is_the_one_of_the_spec() -> None:
    state = (12345 * 1103515245 + 12345) & 0x7FFFFFFF
    assert DeterministicRNG(12345).next_float() == state / 2**31


def test_the_largest_state_stays_below_1() -> None:
    before = (0x7FFFFFFF - 12345) * pow(1103515245, -1, 2**31) % 2**31
    assert DeterministicRNG(before).next_float() == 0x7FFFFFFF / 2**31 < 1


def test_another_seed_gives_another_sequence() -> None:
    assert numbers(DeterministicRNG(1)) != numbers(DeterministicRNG(2))


def test_resetting_starts_the_sequence_again() -> None:
    rng = DeterministicRNG(7)
    first = numbers(rng)
    rng.reset(7)
    assert numbers(rng) == first


def test_fixed_sequence_repeats_until_generator_is_reset() -> None:
    rng = DeterministicRNG(7)
    rng.set_sequence([0.1, 0.9])
    assert numbers(rng, 5) == [0.1, 0.9, 0.1, 0.9, 0.1]
    rng.set_sequence([0.5])
    assert numbers(rng, 2) == [0.5, 0.5]
    rng.reset(7)
    assert numbers(rng) == numbers(DeterministicRNG(7))


def test_numbers_of_system_spread_over_whole_range() -> None:
    drawn = [SYSTEM_RNG.next_float() for _ in range(4_000)]
    assert all(0 <= number < 1 for number in drawn)
    assert sum(drawn) / len(drawn) == pytest.approx(0.5, abs=0.05)
    assert len({int(number * 10) for number in drawn}) == 10
