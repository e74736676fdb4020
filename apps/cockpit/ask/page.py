"""The page *Ask*."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from apps.cockpit.ask.answer import missing_rows, result_rows
from apps.cockpit.ask.form import MAX_QUESTION_CHARS, AskForm, askable_keys
from apps.cockpit.pages import render_page
from apps.cockpit.words import whose
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import as_uuid, comparable
from apps.core.db.names import NameSpan
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, Access, Scope
from apps.core.pages.sayings import say
from apps.semantic.selectors import known_identifiers, memory_counts
from apps.semantic.services import memories_missing, memory_search, question_line

SUGGESTED = 50
QUESTION_FILE = "evaluation-question.jsonl"


def ask_page(request: HttpRequest) -> HttpResponse:
    """Show the form, and the answer to a posted question: a question is content, so it is in no address."""
    viewer = operator_access(request)
    form = AskForm(request.POST if request.method == "POST" else None, viewer=viewer, keys=askable_keys(request))
    answer = answer_of(form, viewer) if form.is_bound and form.is_valid() else {}
    known = {name: known_names(viewer, name) for name in IDENTIFIERS}
    context = {"known": known, "bound": bound_words(viewer), "zone": get_current_timezone_name(), **answer}
    return render_page(request, "cockpit/ask.html", gettext("Ask"), form=form, **context)


@require_POST
def ask_question(request: HttpRequest) -> HttpResponse:
    """Send a question, with the memories that were ticked as its answers, as a line for `manage.py evaluate`.

    The hub keeps nothing of it.
    """
    evidence = [uuid for one in request.POST.getlist("evidence") if (uuid := as_uuid(one)) is not None]
    question = comparable(request.POST.get("question"))[:MAX_QUESTION_CHARS]
    try:
        line = question_line(operator_access(request), question, evidence)
    except MemoryHubError as error:
        messages.warning(request, say(str(error.detail)))
        return HttpResponseRedirect(reverse("cockpit_ask"))
    headers = {"Content-Disposition": f'attachment; filename="{QUESTION_FILE}"', "Cache-Control": "no-store"}
    return HttpResponse(line, content_type="application/x-ndjson; charset=utf-8", headers=headers)


def known_names(viewer: Access, name: str) -> list[str]:
    """Return identifiers to suggest: the first ones of those that the viewer may see."""
    if not viewer.bound.named():
        return [one for one in known_identifiers(name, SUGGESTED + 1) if one][:SUGGESTED]
    return [one.name for one in memory_counts(viewer, Scope(), name, NameSpan(limit=SUGGESTED))]


def bound_words(viewer: Access) -> str:
    """Say what limits the viewer; empty for nothing."""
    return whose(viewer.bound) if viewer.bound.named() else ""


def answer_of(form: AskForm, viewer: Access) -> dict[str, Any]:
    """Return what the page shows of an answer: results, what is missing, figures; or the problem."""
    access, query = form.access, form.query
    key = form.chosen_key
    asker = gettext("the key %(name)s") % {"name": key.name} if key else gettext("your account")
    try:
        result = memory_search(access, query)
        missing = memories_missing(access, query, [one.memory.pk for one in result.found], viewer)
    except MemoryHubError as error:
        return {"problem": say(str(error.detail))}
    return {
        "answered_at": utcnow(SYSTEM_CLOCK),
        "asker": asker,
        "question": query.query,
        "asked_scope": whose(query.scope),
        "rows": result_rows(result, query, viewer),
        "missing": missing_rows(missing.found, query, viewer, asker),
        "is_complete": missing.is_complete,
        "considered": result.ranking.considered,
        "matched": result.ranking.matched,
        "took_ms": f"{result.took_ms:.1f}",
        "index": result.index,
    }
