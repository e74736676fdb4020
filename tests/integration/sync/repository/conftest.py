"""Folders of which the hub may read, and a folder of its own, for each test."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.integration.sync.repository.repositories import Origin


@pytest.fixture(autouse=True)
def root(tmp_path: Path, settings: Settings) -> Path:
    """Return the folder below which sources may be."""
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    folder = tmp_path / "knowledge"
    folder.mkdir()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(folder,)))
    return folder


@pytest.fixture
def origin(root: Path) -> Origin:
    """Return an empty repository below the root."""
    return Origin(root / "origin.git")
