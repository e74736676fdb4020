"""Fixtures of tests of knowledge sync."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.integration.sync.syncs import Hub, make_hub, path_of, record


@pytest.fixture(autouse=True)
def sync_dir(tmp_path: Path, settings: Any) -> Path:
    """Return where the hub keeps copies of repositories, a folder of the test's own."""
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,)))
    return tmp_path / "data" / "sync"


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    """Return a source with three decision records, which was not synced yet."""
    return make_hub(tmp_path, {path_of(number): record(number) for number in (1, 2, 3)})
