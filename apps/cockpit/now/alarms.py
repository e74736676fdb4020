"""What is critical, on every page of an operator, and how many things need them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from apps.cockpit.pages import render_fragment
from apps.core.bounds import is_bound
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.services import problems_for, recent_problems


@dataclass(frozen=True)
class Seen:
    """The problems that a viewer may see, the worst first. is_fresh: they are those of now, not of a moment ago."""

    problems: tuple[Problem, ...]
    is_fresh: bool


def seen_problems(request: HttpRequest, *, of_now: bool = False) -> Seen:
    """Return the problems that the viewer may see, asked for once in a request. of_now: not those of a moment ago."""
    known: Seen | None = getattr(request, "seen_problems", None)
    if known is None or (of_now and not known.is_fresh):
        found, is_fresh = (None, True) if of_now else recent_problems()
        known = Seen(tuple(problems_for(request.user, found)), is_fresh)
        request.seen_problems = known  # type: ignore[attr-defined]
    return known


def alarms_part(request: HttpRequest, *, of_now: bool = False) -> dict[str, Any]:
    """Return what the banner shows: the worst of what is critical, and how much there is besides. Empty for a bound.

    What is of a moment ago is fetched again soon.
    """
    if not request.user.is_authenticated or is_bound(request.user):
        return {}
    seen = seen_problems(request, of_now=of_now)
    critical = [problem for problem in seen.problems if problem.severity is ProblemSeverity.CRITICAL]
    worst = critical[0] if critical else None
    return {"has_alarms": True, "alarm": worst, "more": len(seen.problems) - 1, "is_fresh": seen.is_fresh}


def now_alarms(request: HttpRequest) -> HttpResponse:
    """Show the banner again."""
    return render_fragment(request, "cockpit/now/alarms.html", **alarms_part(request, of_now=True))
