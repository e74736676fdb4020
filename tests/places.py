"""Places for hubs.

Not pytest's own: it closes the directory above all of them to other accounts whenever another test run starts,
and as root the database server is one of those accounts.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def make_directory() -> Path:
    """Make an empty directory that a server may work in."""
    return Path(tempfile.mkdtemp(prefix=f"memoryhub-tests-{os.getpid()}-"))


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """An empty directory that a server may work in."""
    path = make_directory()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def make_place() -> Iterator[Callable[[], Path]]:
    """Makes such directories, which stay until the tests of the module are done."""
    made: list[Path] = []

    def make() -> Path:
        made.append(make_directory())
        return made[-1]

    yield make
    for path in made:
        shutil.rmtree(path, ignore_errors=True)
