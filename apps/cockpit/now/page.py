"""*Now*: the first page of the admin, and the parts of it that the browser fetches again."""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from apps.cockpit.first_steps.card import steps_part
from apps.cockpit.now.numbers import now_charts
from apps.cockpit.now.outlook import outlook, problem_rows
from apps.cockpit.now.problem_samples import read_minutes
from apps.cockpit.now.spans import SPANS, asked_span
from apps.cockpit.now.state import hub_state
from apps.cockpit.now.strip import Minute, squares, stretches, summary, well_since
from apps.cockpit.now.tiles import search_rows, status_rows, tiles_for, timeline_rows
from apps.cockpit.pages import render_fragment, render_page
from apps.cockpit.viewer import may_view_hub
from apps.core.admin.kit import may_view, operator_access
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.monitor.domain.problems import ProblemSeverity
from apps.semantic.services import memory_counts, search_store

DAY = timedelta(hours=24)


def now_page(request: HttpRequest, **more: Any) -> HttpResponse:
    """Show how the hub is and what needs the viewer. more: what the card of the first steps has just done."""
    now = utcnow(SYSTEM_CLOCK)
    parts = (outlook_part, numbers_part, state_part, figures_part)
    context: dict[str, Any] = {**steps_part(request), **more}
    for part in parts:
        context |= part(request, now)
    return render_page(request, "cockpit/now/page.html", gettext("Now"), tab="now", **context)


def now_outlook(request: HttpRequest) -> HttpResponse:
    """Show the sentence, the problems and the last 24 hours again."""
    return render_fragment(request, "cockpit/now/outlook.html", **outlook_part(request, utcnow(SYSTEM_CLOCK)))


def now_numbers(request: HttpRequest) -> HttpResponse:
    """Show the numbers of the charts again."""
    return render_fragment(request, "cockpit/now/numbers.html", **numbers_part(request, utcnow(SYSTEM_CLOCK)))


def now_state(request: HttpRequest) -> HttpResponse:
    """Show the processes, the disk, the index and the checks again."""
    return render_fragment(request, "cockpit/now/state.html", **state_part(request, utcnow(SYSTEM_CLOCK)))


def now_figures(request: HttpRequest) -> HttpResponse:
    """Show the tiles and panels again."""
    return render_fragment(request, "cockpit/now/figures.html", **figures_part(request, utcnow(SYSTEM_CLOCK)))


def outlook_part(request: HttpRequest, now: datetime) -> dict[str, Any]:
    """Return what needs the viewer, and the strip of the last 24 hours where it may be seen."""
    sees_samples = may_view_hub(request, "monitor.sample")
    minutes = read_minutes(now - DAY, now) if sees_samples else []
    found = outlook(request, well_since(minutes), now)
    context: dict[str, Any] = {"now": now, "outlook": found, "problems": problem_rows(found)}
    if sees_samples:
        # What is open now may have begun after the last sample.
        critical = sum(one.severity == ProblemSeverity.CRITICAL for one in found.problems)
        present = [Minute(now, len(found.problems), critical)] if found.problems else []
        shown = squares([*minutes, *present], now)
        context["strip"] = {"squares": shown, "summary": summary(shown), "rows": stretches(shown)}
    return context


def numbers_part(request: HttpRequest, now: datetime) -> dict[str, Any]:
    """Return the charts, for accounts that see the whole hub."""
    span = asked_span(request)
    charts = now_charts(span, now) if may_view_hub(request, "monitor.sample") else []
    return {"now": now, "span": span, "spans": SPANS, "charts": charts}


def state_part(request: HttpRequest, now: datetime) -> dict[str, Any]:
    """Return the state of the hub."""
    return {"now": now, "state": hub_state(request)}


def figures_part(request: HttpRequest, now: datetime) -> dict[str, Any]:
    """Return the tiles and panels that the viewer may see."""
    counts = memory_counts(operator_access(request), now) if may_view(request, "semantic.memory") else None
    return {
        "now": now,
        "tiles": list(tiles_for(request, counts, now)),
        "statuses": status_rows(counts) if counts else [],
        "timeline": list(timeline_rows(request, now)),
        "search": search_rows(search_store()) if may_view_hub(request, "llm.embeddingspace") else [],
    }
