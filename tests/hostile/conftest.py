"""What the hostile tests build from."""

import pytest

from tests.caches import empty_caches as empty_caches
from tests.hostile.world import World


@pytest.fixture
def world() -> World:
    """A hub with the memories of several people, households and personas."""
    return World()
