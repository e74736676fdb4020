"""What is critical, on every page of an operator, and how many things need them."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from apps.cockpit.pages import render_fragment
from apps.core.bounds import is_bound
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.services import problems_for


def seen_problems(request: HttpRequest) -> tuple[Problem, ...]:
    """Return the problems that the viewer may see, the worst first; they are asked for once in a request."""
    known: tuple[Problem, ...] | None = getattr(request, "seen_problems", None)
    if known is None:
        known = tuple(problems_for(request.user))
        request.seen_problems = known  # type: ignore[attr-defined]
    return known


def alarms_part(request: HttpRequest) -> dict[str, Any]:
    """Return what the banner shows: the worst of what is critical, and how much there is besides. Empty for a bound."""
    if not request.user.is_authenticated or is_bound(request.user):
        return {}
    problems = seen_problems(request)
    critical = [problem for problem in problems if problem.severity is ProblemSeverity.CRITICAL]
    worst = critical[0] if critical else None
    return {"has_alarms": True, "alarm": worst, "more": len(problems) - 1}


def now_alarms(request: HttpRequest) -> HttpResponse:
    """Show the banner again."""
    return render_fragment(request, "cockpit/now/alarms.html", **alarms_part(request))
