"""What needs a person now: in one sentence and a list, the worst first, and what is critical on every page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.kit import may_view, operator_access
from apps.core.bounds import is_bound
from apps.monitor.domain.problems import Problem, ProblemSeverity, Remedy
from apps.monitor.services import problems_for, recent_problems
from apps.semantic.services import open_conflicts

TONES = {ProblemSeverity.NOTICE: "info", ProblemSeverity.WARNING: "warn", ProblemSeverity.CRITICAL: "bad"}
ICONS = {ProblemSeverity.NOTICE: "info", ProblemSeverity.WARNING: "warning", ProblemSeverity.CRITICAL: "error"}


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


WORDS = {
    ProblemSeverity.NOTICE: _("Notice"),
    ProblemSeverity.WARNING: _("Warning"),
    ProblemSeverity.CRITICAL: _("Critical"),
}


@dataclass(frozen=True)
class Outlook:
    """The sentence on top, its tone, and the problems that it counts."""

    sentence: str
    tone: str
    problems: tuple[Problem, ...]


def outlook(request: HttpRequest, well_since: datetime | None, now: datetime) -> Outlook:
    """Return what needs the viewer. well_since: when the last problem of the last day ended, None without one."""
    problems = (
        tuple(bound_problems(request)) if is_bound(request.user) else seen_problems(request, of_now=True).problems
    )
    if not problems:
        return Outlook(well_sentence(request, well_since, now), "good", ())
    count = len(problems)
    sentence = ngettext("%(count)s thing needs you", "%(count)s things need you", count) % {"count": count}
    return Outlook(sentence, TONES[max(one.severity for one in problems)], problems)


def well_sentence(request: HttpRequest, well_since: datetime | None, now: datetime) -> str:
    """Return the sentence of a hub without problems."""
    if is_bound(request.user):
        return gettext("Nothing needs you")
    if well_since is None:
        return gettext("All well")
    local = localtime(well_since)
    is_today = local.date() == localtime(now).date()
    time = date_format(local, "H:i T" if is_today else "D H:i T")
    return gettext("All well since %(time)s") % {"time": time}


def bound_problems(request: HttpRequest) -> list[Problem]:
    """Return what an account with a bound can do something about: the decisions of its own scope."""
    permission = "semantic.view_conflict"
    waiting = open_conflicts(operator_access(request)) if may_view(request, "semantic.conflict") else 0
    if not waiting:
        return []
    said = ngettext("%(n)s decision is waiting for review", "%(n)s decisions are waiting for review", waiting)
    sentence = said % {"n": f"{waiting:,}"}
    remedy = Remedy(label=gettext("Open queue"), url=reverse("cockpit_decisions"))
    advice = gettext("Nothing was decided about them, or not with certainty: say which memory is right.")
    return [
        Problem(
            code="decisions_wait",
            severity=ProblemSeverity.NOTICE,
            sentence=sentence,
            advice=advice,
            permission=permission,
            remedy=remedy,
        )
    ]
