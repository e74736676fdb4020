"""The two confidences: spec 002 section 5, spec 004, DESIGN D4."""

from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.semantic.domain.confidence import DecayPolicy, current_confidence, merge_confidence

NOW = datetime(2026, 3, 1, tzinfo=UTC)
unit = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("base", "provider", "merged"),
    [
        (0.8, 0.6, 0.685714),
        (0.9, 0.9, 0.9),
        (0.5, 0.5, 0.5),
        (0.8, 0.7, 0.746667),
        (0.7, 0.6, 0.646154),
        (1.0, 0.1, 0.181818),
        (0, 0, 0),
        (1, 1, 1),
        (0, 1, 0),
        (None, 0.7, 0.583333),
        (-1, 0.5, 0),
        (2, 0.5, 0.666667),
    ],
)
def test_merging_gives_reference_vectors_of_spec(base: float | None, provider: float, merged: float) -> None:
    assert merge_confidence(base, provider) == merged


def test_merging_several_folds_pairwise() -> None:
    assert reduce(merge_confidence, [0.8, 0.6, 0.7]) == pytest.approx(0.692784, abs=5e-6)


@given(unit, unit)
def test_merging_is_symmetric_and_stays_between_zero_and_twice_lower(x: float, y: float) -> None:
    merged = merge_confidence(x, y)
    assert merged == merge_confidence(y, x)
    assert 0 <= merged <= min(1.0, 2 * min(x, y)) + 1e-6


def test_a_stable_memory_does_not_decay() -> None:
    assert current_confidence(0.8, DecayPolicy.STABLE, NOW - timedelta(days=5000), None, NOW) == 0.8


def test_reinforceable_memory_halves_every_thirty_days() -> None:
    assert current_confidence(1.0, DecayPolicy.REINFORCEABLE, NOW - timedelta(days=60), None, NOW) == 0.25


def test_reinforceable_memory_counts_its_age_from_its_last_reinforcement() -> None:
    created, reinforced = NOW - timedelta(days=300), NOW - timedelta(days=30)
    assert current_confidence(1.0, DecayPolicy.REINFORCEABLE, created, reinforced, NOW) == 0.5


def test_contextual_memory_halves_every_seven_days_whatever_was_reinforced() -> None:
    assert current_confidence(0.8, DecayPolicy.CONTEXTUAL, NOW - timedelta(days=7), NOW, NOW) == 0.4


def test_memory_from_future_is_not_more_certain_than_its_writer_claimed() -> None:
    assert current_confidence(0.9, DecayPolicy.CONTEXTUAL, NOW + timedelta(days=9), None, NOW) == 0.9


@given(unit, st.sampled_from(DecayPolicy), st.floats(min_value=0, max_value=1e5))
def test_confidence_never_grows_with_age(base: float, policy: DecayPolicy, days: float) -> None:
    older = current_confidence(base, policy, NOW - timedelta(days=days + 1), None, NOW)
    assert 0 <= older <= current_confidence(base, policy, NOW - timedelta(days=days), None, NOW) <= 1
