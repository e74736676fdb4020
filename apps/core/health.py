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
    """What each check said: "ok", or why not."""

    checks: dict[str, str]

    @property
    def ready(self) -> bool:
        """True when every check is content."""
        return all(answer == OK for answer in self.checks.values())


def readiness() -> Readiness:
    """Run the checks of settings.READINESS_CHECKS: name -> dotted path of a function that says what is wrong."""
    return Readiness({name: _run(import_string(path)) for name, path in settings.READINESS_CHECKS.items()})


def _run(check: Check) -> str:
    try:
        return check() or OK
    except Error as error:
        return f"the database cannot be reached ({type(error).__name__})"
    except Exception as error:  # noqa: BLE001  (a check that fails is an answer, whatever made it fail)
        logger.warning("readiness check failed: %s", type(error).__name__)
        return f"failed ({type(error).__name__})"


def database_ready() -> str | None:
    """Whether the database answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


_migrated = False


def migrations_ready() -> str | None:
    """Whether the database has the tables of this version; asked until the answer is yes."""
    global _migrated
    if not _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "the database is not migrated: run manage.py prepare"
        _migrated = True
    return None
