from collections.abc import Callable, Iterator

import pytest

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.randomness import DeterministicRNG
from tests.integration.events import support

NOON = 1_780_000_000_000


@pytest.fixture(autouse=True)
def table(settings) -> Iterator[Callable[..., None]]:
    """Subscribe handlers to every event: `table(support.RECORD)`; nobody listens until then."""
    settings.EVENT_SUBSCRIPTIONS = support.TABLE_PATH
    support.TABLE.clear()
    support.seen.clear()
    support.batches.clear()
    yield lambda *paths: support.TABLE.update({"*": paths})
    support.TABLE.clear()
    support.seen.clear()
    support.batches.clear()


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(NOON)


@pytest.fixture
def rng() -> DeterministicRNG:
    """Jitter exactly in the middle: none."""
    rng = DeterministicRNG(1)
    rng.set_sequence([0.5])
    return rng
