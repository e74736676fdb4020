"""Capped exponential backoff with jitter: spec 002 section 2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import DeterministicRNG

SPEC = Backoff(base_ms=500, multiplier=2, max_ms=8_000, jitter_ms=200)


def fixed(*values: float) -> DeterministicRNG:
    rng = DeterministicRNG(1)
    rng.set_sequence(values)
    return rng


def test_the_delay_doubles_up_to_the_cap() -> None:
    plain = Backoff(base_ms=500, multiplier=2, max_ms=8_000)
    assert [plain.delay_ms(n, fixed(0.5)) for n in range(6)] == [500, 1_000, 2_000, 4_000, 8_000, 8_000]


@pytest.mark.parametrize(("drawn", "jitter"), [(0.0, -200), (0.5, 0), (0.999999, 200), (0.25, -100)])
def test_jitter_is_added_after_the_cap(drawn: float, jitter: int) -> None:
    assert SPEC.delay_ms(0, fixed(drawn)) == 500 + jitter
    assert SPEC.delay_ms(10, fixed(drawn)) == 8_000 + jitter


def test_every_whole_jitter_from_minus_to_plus_range_occurs() -> None:
    small = Backoff(base_ms=100, multiplier=2, max_ms=100, jitter_ms=2)
    rng = DeterministicRNG(3)
    assert {small.delay_ms(0, rng) for _ in range(500)} == {98, 99, 100, 101, 102}


def test_the_same_seed_gives_the_same_delays() -> None:
    one, other = DeterministicRNG(12345), DeterministicRNG(12345)
    assert [SPEC.delay_ms(n, one) for n in range(20)] == [SPEC.delay_ms(n, other) for n in range(20)]


@given(st.integers(0, 10**9), st.floats(0, 1, exclude_max=True))
def test_delay_stays_within_jitter_of_cap(attempt: int, drawn: float) -> None:
    assert 300 <= SPEC.delay_ms(attempt, fixed(drawn)) <= 8_200


def test_a_delay_is_never_negative() -> None:
    assert Backoff(base_ms=10, multiplier=2, max_ms=100, jitter_ms=50).delay_ms(0, fixed(0.0)) == 0


def test_slowly_growing_delay_reaches_its_cap_as_well() -> None:
    slow = Backoff(base_ms=100, multiplier=1.01, max_ms=1_000)
    assert [slow.delay_ms(n, fixed(0.5)) for n in (0, 100, 231, 232)] == [100, 270, 995, 1_000]


@pytest.mark.parametrize(("base", "longest"), [(1, 8_000), (0, 0)])
def test_growth_beyond_every_number_is_the_cap(base: int, longest: int) -> None:
    assert Backoff(base_ms=base, multiplier=1e10, max_ms=8_000).delay_ms(10_000, fixed(0.5)) == longest
