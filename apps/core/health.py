"""Readiness: what must be in place before requests can be answered (DESIGN section 4).

The hub is ready when all its processes are. Some checks are about the hub, such as the database; others are about one
process, such as its index, and every process publishes what it has found (`apps.core.processes`).
"""

import logging
import pkgutil
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils.module_loading import import_string

from apps.core.db.watch import database_watch
from apps.core.domain.errors import UnavailableError
from apps.core.file_roots import own_folder, roots
from apps.core.key_usage import key_usage
from apps.core.models import ProcessKind
from apps.core.processes import ProcessBeat, ProcessState, is_publishing, web_processes

logger = logging.getLogger(__name__)

OK = "ok"
ALIVE = {"status": OK}
UNPUBLISHED = "not checked yet"
UNANSWERED = "the database does not answer"
Check = Callable[[], str | None]


@dataclass(frozen=True)
class Readiness:
    """The result of each check: "ok", or what is wrong."""

    checks: dict[str, str]

    @property
    def ready(self) -> bool:
        """Return whether all checks passed."""
        return all(answer == OK for answer in self.checks.values())


def readiness() -> Readiness:
    """Run the checks of settings.READINESS_CHECKS: name -> dotted path of a function that returns what is wrong.

    Those of settings.PROCESS_CHECKS must have passed in every web process of this run.
    """
    checks = run_checks(settings.READINESS_CHECKS)
    own = {name: answer for name, answer in checks.items() if name in settings.PROCESS_CHECKS}
    if own and checks.get("database", OK) == OK:
        try:
            checks |= merge_checks(own, web_processes())
        except Error as error:
            checks["database"] = describe_failure(error)
    return Readiness(checks)


def run_checks(paths: Mapping[str, str]) -> dict[str, str]:
    """Run checks; return "ok" or what is wrong for each of them."""
    answers: dict[str, str] = {}
    for name, path in paths.items():
        check: Check = import_string(path)
        try:
            answers[name] = check() or OK
        except Error as error:
            answers[name] = describe_failure(error)
        except Exception as error:  # noqa: BLE001  (a check that fails is a result, whatever made it fail)
            logger.warning("readiness check failed: %s", type(error).__name__)
            answers[name] = f"failed ({type(error).__name__})"
    return answers


def describe_failure(error: Error) -> str:
    """Return what is wrong with a database that raised an error, without its words."""
    return UNANSWERED if database_watch().is_hanging else f"the database cannot be reached ({type(error).__name__})"


def merge_checks(own: Mapping[str, str], states: Iterable[ProcessState]) -> dict[str, str]:
    """Return what the checks of this process and those that all of them have published come to together.

    This one is ready when it has said so: the others know it from then on, and the hub answers the same everywhere.
    """
    published: Mapping[str, str] = {} if is_publishing() else own
    known = []
    for state in states:
        if state.is_this_one:
            published = state.checks
        else:
            known.append(state.checks)
    merged: dict[str, str] = {}
    for name, answer in own.items():
        mine = answer if answer != OK else published.get(name, UNPUBLISHED)
        answers = [mine, *(checks.get(name, UNPUBLISHED) for checks in known)]
        problems = [answer for answer in answers if answer != OK]
        if problems and len(problems) < len(answers):
            merged[name] = f"{problems[0]} (in {len(problems)} of {len(answers)} web processes)"
        else:
            merged[name] = problems[0] if problems else OK
    return merged


def database_ready() -> str | None:
    """Check that the database answers."""
    if database_watch().is_hanging:
        return UNANSWERED
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


MB = 1024 * 1024
# What should be free on the disk of the data directory, unless the settings say otherwise.
LEAST_FREE_BYTES, LEAST_FREE_SHARE, MOST_FREE_SHARE = 1024 * MB, 0.05, 0.25
CRITICAL_SHARE = 0.2


@dataclass(frozen=True)
class DiskSpace:
    """The file system of the data directory, in bytes. Below `critical` the hub may end."""

    free: int
    total: int
    warning: int
    critical: int


def disk_space() -> DiskSpace:
    """Return how full the file system of the data directory is, and its limits.

    By default there is a warning below the larger of 1 GB and 5 %, at most a quarter of a small disk. It is critical
    below a fifth of that.
    """
    usage = shutil.disk_usage(settings.MEMORYHUB.data_dir)
    usual = min(max(LEAST_FREE_BYTES, int(LEAST_FREE_SHARE * usage.total)), int(MOST_FREE_SHARE * usage.total))
    warning = settings.MEMORYHUB.disk_warning_mb * MB or usual
    return DiskSpace(usage.free, usage.total, warning, int(CRITICAL_SHARE * warning))


def disk_ready() -> str | None:
    """Check that the disk of the data directory has room to go on."""
    space = disk_space()
    if space.free >= space.critical:
        return None
    return f"the disk of the data directory is full: {space.free // MB:,} MB are free"


def files_ready() -> str | None:
    """Check that the folders of files are those of this hub."""
    for root in roots():
        try:
            own_folder(root.place, root.what)
        except UnavailableError as error:
            return error.detail
    return None


_migrated = False


def migrations_ready() -> str | None:
    """Check that the database has the tables of this version; no longer once it had."""
    global _migrated
    if not _migrated:
        if list_migrations() - MigrationRecorder(connection).applied_migrations().keys():
            return "the database is not migrated: run manage.py prepare"
        _migrated = True
    return None


def list_migrations() -> set[tuple[str, str]]:
    """Return app and name of every migration of this version, without importing one: each process asks at its start."""
    found = set()
    for app in apps.get_app_configs():
        package, _ = MigrationLoader.migrations_module(app.label)
        if package and (spec := find_spec(package)):
            modules = pkgutil.iter_modules(spec.submodule_search_locations)
            found |= {(app.label, module.name) for module in modules if module.name[0] not in "_~"}
    return found


def report_process() -> tuple[dict[str, str], dict[str, Any]]:
    """Return what this process is ready for, and the facts of settings.PROCESS_FACTS that others show.

    What it counted of the use of keys is written with it.
    """
    key_usage().flush()
    names = settings.READINESS_CHECKS.keys() & settings.PROCESS_CHECKS
    checks = run_checks({name: settings.READINESS_CHECKS[name] for name in names})
    return checks, {name: import_string(path)() for name, path in settings.PROCESS_FACTS.items()}


_beat = ProcessBeat(ProcessKind.WEB, report_process, lambda: key_usage().flush())


def begin_web_process() -> None:
    """Publish the state of this web process from now on. What is to be loaded must have begun to load."""
    _beat.begin()


def end_web_process() -> None:
    """Say that this web process ends."""
    _beat.end()
