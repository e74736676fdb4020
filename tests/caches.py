"""Fixtures of tests that use the database and the files of the process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def empty_caches() -> Iterator[None]:
    """Empty what processes remember: a rolled-back test takes rows and versions back, which no real database does."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    from apps.core.file_roots import expect
    from apps.episodic.store.file_cache import reset_archive_cache
    from apps.monitor.services import forget_recent_problems
    from apps.notes.index.handles import indexes_close
    from apps.semantic.index.cache import index_cache
    from apps.semantic.store.embedding_space import forget_space

    index_cache().clear()
    reset_archive_cache()
    forget_recent_problems()
    forget_space()
    expect("")  # no folder was claimed
    indexes_close()


@pytest.fixture
def timeline_dir(tmp_path: Path, settings: Any) -> Path:
    """Return a directory of segment files of the test's own."""
    settings.TIMELINE_DIR = tmp_path / "timeline"
    return tmp_path / "timeline"


@pytest.fixture(autouse=True)
def downloads_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the files of downloads are, a folder of the test's own."""
    from django.conf import settings  # a parameter of a test may have the name of pytest-django's fixture

    monkeypatch.setattr(settings, "DOWNLOADS_DIR", tmp_path / "downloads")
    return tmp_path / "downloads"


@pytest.fixture(autouse=True)
def uploads_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where uploaded files are, a folder of the test's own."""
    from django.conf import settings  # a parameter of a test may have the name of pytest-django's fixture

    monkeypatch.setattr(settings, "UPLOADS_DIR", tmp_path / "uploads")
    return tmp_path / "uploads"


@pytest.fixture(autouse=True)
def notes_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the notes of the default user are, a folder of the test's own; those of others are below `users`."""
    return place_notes(tmp_path, monkeypatch)


def place_notes(place: Path, patch: pytest.MonkeyPatch) -> Path:
    """Have all of notes below a folder, and return where those of the default user are."""
    from django.conf import settings  # a parameter of a test may have the name of pytest-django's fixture

    directory = place / "prompts" / "memory"
    patch.setattr(settings, "NOTES_DIR", directory)
    patch.setattr(settings, "NOTES_INDEX_DIR", place / "notes-index")
    patch.setattr(settings, "NOTES_LOCKS_DIR", place / "run" / "notes")
    return directory
