"""What needs a person now, by the sources of settings.PROBLEM_SOURCES: dotted paths of functions."""

import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string
from django.utils.translation import get_language, gettext

from apps.core.bounds import is_bound
from apps.core.health import OK, database_ready, run_checks
from apps.core.per_process import PerProcess
from apps.monitor.domain.problems import Problem, ProblemSeverity

logger = logging.getLogger(__name__)
DATABASE_CHECK = {"database": f"{database_ready.__module__}.{database_ready.__qualname__}"}
# What the frame of pages says of problems is so old at most; the browser asks again then.
RECENT_SECONDS = 3.0
# Problems of the hub as a whole are for those who may see its processes.
HUB_PERMISSION = "core.view_hubprocess"
_recent: PerProcess[dict[str, tuple[float, list[Problem]]]] = PerProcess(dict)


def current_problems() -> list[Problem]:
    """Return what is wrong now, the worst first. It takes one read of each source, whatever the hub stores.

    Without the database there is one problem: nothing else can be known. A source that fails is a problem itself.
    """
    answer = run_checks(DATABASE_CHECK)["database"]
    if answer != OK:
        return [database_problem(answer)]
    found: list[Problem] = []
    for path in settings.PROBLEM_SOURCES:
        try:
            found += import_string(path)()
        except (OperationalError, InterfaceError) as error:
            return [
                database_problem(
                    gettext("the database cannot be reached (%(error)s)") % {"error": type(error).__name__}
                )
            ]
        except Exception as error:  # noqa: BLE001  (whatever made it fail, the other problems are shown)
            logger.warning("the problems of %s are not known: %s", path, type(error).__name__)
            found.append(source_problem(path, error))
    return sorted(found, key=lambda problem: (-problem.severity, problem.code, problem.subject))


def recent_problems() -> tuple[list[Problem], bool]:
    """Return the problems, and whether they are of now: those of a moment ago are asked for once, for many pages."""
    known, language, now = _recent.get(), get_language() or "", time.monotonic()
    if language in known and now - known[language][0] < RECENT_SECONDS:
        return known[language][1], False
    found = current_problems()
    known[language] = (now, found)
    return found, True


def forget_recent_problems() -> None:
    """Have the next page ask for the problems of now."""
    _recent.forget()


def problems_for(user: Any, found: Iterable[Problem] | None = None) -> list[Problem]:
    """Return the problems that an account may see, the worst first: none for one with a bound.

    Those with a button that it may not press come without. found: the problems, those of now without.
    """
    if is_bound(user):
        return []
    all_found = current_problems() if found is None else found
    found = [problem for problem in all_found if user.has_perm(problem.permission)]
    return [
        problem
        if (problem.remedy is None or not problem.remedy.permission or user.has_perm(problem.remedy.permission))
        else replace(problem, remedy=None)
        for problem in found
    ]


def database_problem(answer: str) -> Problem:
    """Return the problem that the database does not answer."""
    return Problem(
        code="database_unreachable",
        severity=ProblemSeverity.CRITICAL,
        sentence=gettext("Nothing can be read or saved: %(answer)s.") % {"answer": answer},
        advice=gettext("Read the last lines of postgres/log in the data directory, or check your own server."),
        permission=HUB_PERMISSION,
    )


def source_problem(path: str, error: Exception) -> Problem:
    """Return the problem that some problems are not known."""
    return Problem(
        code="problems_unknown",
        severity=ProblemSeverity.WARNING,
        sentence=gettext("One of the hub's checks fails (%(error)s), so some problems may be missing here.")
        % {"error": type(error).__name__},
        advice=gettext("Read the log of the process for %(path)s.") % {"path": path},
        permission=HUB_PERMISSION,
        subject=path,
    )
