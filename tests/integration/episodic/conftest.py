"""What tests of the timeline build from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.core.domain.scope import Access, system_access
from apps.episodic.store.file_cache import reset_archive_cache


@pytest.fixture(autouse=True)
def timeline_dir(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A directory of segment files of the test's own; the process knows nothing of any other."""
    settings.TIMELINE_DIR = tmp_path / "timeline"
    reset_archive_cache()
    yield settings.TIMELINE_DIR
    reset_archive_cache()


@pytest.fixture
def access() -> Access:
    """A caller who may do everything."""
    return system_access("test")
