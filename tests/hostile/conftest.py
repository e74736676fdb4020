"""What the hostile tests build from."""

from pathlib import Path

import pytest

from tests.caches import downloads_dir as downloads_dir
from tests.caches import empty_caches as empty_caches
from tests.caches import notes_dir as notes_dir
from tests.caches import timeline_dir as timeline_dir
from tests.hostile.world import World


@pytest.fixture
def world(timeline_dir: Path) -> World:
    """A hub with the memories of several people, households and personas."""
    return World()
