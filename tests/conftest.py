"""The tests' own hub: one embedded PostgreSQL for the whole run, one database for each xdist worker.

The environment is set before Django reads its settings, which is why `DJANGO_SETTINGS_MODULE` is set here and
not in pyproject.toml: pytest-django would read them before this file.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

import django
import psutil
import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase

from tests.effort import load_profile
from tests.emptying import truncate

pytest_plugins = ["tests.retried", "tests.tiers"]
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
    return place


# Workers inherit the environment of the process that started them.
DATA_DIR = Path(os.environ["MEMORYHUB_DATA_DIR"]) if IS_WORKER else _prepare_environment()
STARTED = DATA_DIR / "started"
django.setup()
load_profile()
# Nobody has collected the static files of a test run.
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}


# What migrations and their signals have written stays as it is; no test changes it.
KEPT_TABLES = ("django_migrations", "django_content_type", "auth_permission")


def _truncate_written(_: TransactionTestCase) -> None:
    """Empty the tables in which something was written since they were emptied last.

    Django's own way empties every table and writes content types and permissions again: it took longer than most tests.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
            "AND relname <> ALL(%s) AND pg_relation_size(oid) > 0",
            [list(KEPT_TABLES)],
        )
        if written := [name for (name,) in cursor.fetchall()]:
            truncate(written)


TransactionTestCase._fixture_teardown = _truncate_written  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    if IS_WORKER:
        config.add_cleanup(_forget_indexes)
        return
    config.add_cleanup(lambda: shutil.rmtree(DATA_DIR, ignore_errors=True))
    config.add_cleanup(_stop_database)
    _remove_leftovers()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the server with the first test that needs a database; workers share it."""
    from memoryhub.postgres.server import EmbeddedDatabase

    with (DATA_DIR / "starting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not STARTED.exists():
            EmbeddedDatabase(DATA_DIR, durable=False).start()
            STARTED.touch()


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
