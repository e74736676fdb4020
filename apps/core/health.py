"""Readiness: what must be in place before requests can be answered (DESIGN section 4)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

OK = "ok"
ALIVE = {"status": OK}
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
    """Run the checks of settings.READINESS_CHECKS: name -> dotted path of a function that returns what is wrong."""
    checks: dict[str, str] = {}
    for name, path in settings.READINESS_CHECKS.items():
        check: Check = import_string(path)
        try:
            checks[name] = check() or OK
        except Error as error:
            checks[name] = f"the database cannot be reached ({type(error).__name__})"
        except Exception as error:  # noqa: BLE001  (a check that fails is a result, whatever made it fail)
            logger.warning("readiness check failed: %s", type(error).__name__)
            checks[name] = f"failed ({type(error).__name__})"
    return Readiness(checks)


def database_ready() -> str | None:
    """Check that the database answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


_migrated = False


def migrations_ready() -> str | None:
    """Check that the database has the tables of this version; no longer once it had."""
    global _migrated
    if not _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "the database is not migrated: run manage.py prepare"
        _migrated = True
    return None
