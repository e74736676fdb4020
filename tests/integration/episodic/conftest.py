"""What tests of the timeline build from."""

from pathlib import Path

import pytest

from apps.core.domain.scope import Access, system_access


@pytest.fixture(autouse=True)
def _own_timeline_dir(timeline_dir: Path) -> None:
    """Keep the files of every test of the timeline in a directory of its own."""


@pytest.fixture
def access() -> Access:
    """A caller who may do everything."""
    return system_access("test")
