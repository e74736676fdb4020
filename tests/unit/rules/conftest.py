"""The judge of pairs in tests of the rule engine: put back after a test that changes it, or left out."""

from collections.abc import Iterator

import pytest

from apps.rules.domain.engine import pair_judge


@pytest.fixture
def own_judge() -> Iterator[None]:
    """Put the judge of this process back."""
    before = pair_judge._judge.name, pair_judge._judge.read
    yield
    pair_judge.use_judge(*before)


@pytest.fixture
def words_alone(own_judge: None) -> None:
    """Leave the judge out."""
    pair_judge.use_judge("", None)
