"""The tests' own hub: one embedded PostgreSQL for the whole run, one database for each xdist worker.

The environment is set before Django reads its settings, which is why `DJANGO_SETTINGS_MODULE` is set here and
not in pyproject.toml: pytest-django would read them before this file.
"""

import contextlib
import fcntl
import gc
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import django
import psutil
import pytest
from django.conf import settings
from django.test import TransactionTestCase

from tests.effort import load_profile
from tests.emptying import empty_written, keep_prepared

pytest_plugins = ["tests.retried", "tests.tiers", "tests.time_limit"]
PREFIX = "memoryhub-tests-"
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ


def _prepare_environment() -> Path:
    for name in [name for name in os.environ if name.startswith("MEMORYHUB_")]:
        del os.environ[name]
    os.environ.pop("DATABASE_URL", None)
    place = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryhub.settings"
    os.environ["MEMORYHUB_DATA_DIR"] = str(place)
    os.environ["MEMORYHUB_EMBEDDER"] = "hashing"
    # Tests start many processes; each would compile every module where caches of bytecode are off.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return place


# Workers inherit the environment of the process that started them.
DATA_DIR = Path(os.environ["MEMORYHUB_DATA_DIR"]) if IS_WORKER else _prepare_environment()
STARTED = DATA_DIR / "started"
django.setup()
load_profile()
# Nobody has collected the static files of a test run.
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}


TransactionTestCase._fixture_teardown = empty_written  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    if IS_WORKER:
        config.add_cleanup(_forget_indexes)
        return
    config.add_cleanup(lambda: shutil.rmtree(DATA_DIR, ignore_errors=True))
    config.add_cleanup(_stop_database)
    _remove_leftovers()


def pytest_collection_finish() -> None:
    """Keep what was collected out of every search for garbage, and search less: that took a fifteenth of a run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the server with the first test that needs a database; workers share it."""
    from memoryhub.postgres.server import EmbeddedDatabase

    with (DATA_DIR / "starting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not STARTED.exists():
            EmbeddedDatabase(DATA_DIR, durable=False).start()
            STARTED.touch()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Remember what the migrations of a new database have written."""
    with django_db_blocker.unblock():
        keep_prepared()


def _forget_indexes() -> None:
    """Leave nothing to write when the process ends: the database may be gone by then."""
    from apps.semantic.index.cache import index_cache

    index_cache().clear()


def _stop_database() -> None:
    from memoryhub.postgres.server import EmbeddedDatabase

    if STARTED.exists():
        EmbeddedDatabase(DATA_DIR, durable=False).stop()


def _remove_leftovers() -> None:
    """Stop and remove the servers of test runs that were killed."""
    from memoryhub.postgres.server import EmbeddedDatabase

    for place in DATA_DIR.parent.glob(f"{PREFIX}*"):
        pid = place.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            with contextlib.suppress(Exception):
                EmbeddedDatabase(place).stop()
            shutil.rmtree(place, ignore_errors=True)
