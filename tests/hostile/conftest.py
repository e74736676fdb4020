"""What the hostile tests build from."""

from collections.abc import Iterator

import pytest

from apps.semantic.index import shard_cache
from tests.hostile.world import World


@pytest.fixture(autouse=True)
def _no_shards_of_other_tests() -> Iterator[None]:
    """A rolled-back test gives its shard versions back, which no real database does."""
    shard_cache().clear()
    yield
    shard_cache().clear()


@pytest.fixture
def world() -> World:
    """A hub with the memories of several people, households and personas."""
    return World()
