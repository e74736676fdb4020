"""Problems and numbers over time; where their source is missing, the checks of readiness and no numbers."""

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from apps.core.health import OK, readiness
from apps.monitor.domain.problems import Problem, ProblemSeverity

Points = list[tuple[datetime, float | None]]
MODULE = "apps.monitor.services"
SERVICES: Any = import_module(MODULE) if find_spec(MODULE) else None


def problems_for(user: Any) -> list[Problem]:
    """Return the problems that an account may see, the worst first."""
    if SERVICES is not None:
        found: list[Problem] = SERVICES.problems_for(user)
        return found
    return [
        Problem(
            code=f"not_ready_{name}",
            severity=ProblemSeverity.CRITICAL,
            sentence=f"{name.capitalize()}: {answer}",
            advice="Read the log of the process.",
            permission="core.view_hubprocess",
        )
        for name, answer in readiness().checks.items()
        if answer != OK
    ]


def series_read(names: Sequence[str], start: datetime, end: datetime, points: int) -> dict[str, Points]:
    """Return the values of series."""
    if SERVICES is None:
        return {name: [] for name in names}
    found: dict[str, Points] = SERVICES.series_read(names, start, end, points)
    return found
