"""What saving a memory again does: spec 002 section 9."""

import pytest

from apps.semantic.domain.duplicates import decide_duplicate


def test_strictly_surer_duplicate_updates_with_merged_confidence() -> None:
    assert decide_duplicate(0.8, 0.6) == ("confidence_improved", 0.685714)


@pytest.mark.parametrize(("new", "reason"), [(0.6, "equal_confidence"), (0.2, "lower_confidence")])
def test_a_duplicate_that_is_not_surer_is_skipped(new: float, reason: str) -> None:
    assert decide_duplicate(new, 0.6) == (reason, 0.6)


def test_confidences_are_compared_as_decimals() -> None:
    assert decide_duplicate(0.1 + 0.2, 0.3) == ("equal_confidence", 0.3)
