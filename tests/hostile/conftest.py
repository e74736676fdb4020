"""What the hostile tests build from."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.caches import downloads_dir as downloads_dir
from tests.caches import empty_caches as empty_caches
from tests.caches import notes_dir as notes_dir
from tests.caches import place_notes
from tests.caches import timeline_dir as timeline_dir
from tests.caches import uploads_dir as uploads_dir
from tests.emptying import rolled_back
from tests.hostile.world import World
from tests.integration.accounts.conftest import quick_passwords as quick_passwords
from tests.integration.admin.refusals import plain_refusals as plain_refusals


@pytest.fixture(scope="module")
def made_world(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Iterator[tuple[World, Path]]:
    """A hub that is filled once, in a transaction around those of the tests, and the folder of its files."""
    place = tmp_path_factory.mktemp("world")
    with django_db_blocker.unblock(), rolled_back():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(settings, "TIMELINE_DIR", place / "timeline")
            place_notes(place, patch)
            made = World()
        yield made, place


@pytest.fixture
def world(made_world: tuple[World, Path], tmp_path: Path, timeline_dir: Path, notes_dir: Path) -> World:
    """A hub with the memories of several people, households and personas, in whose files a test may write."""
    made, place = made_world
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    mine = copy.copy(made)
    mine.memories, mine.sources = copy.deepcopy(made.memories), set(made.sources)
    return mine
