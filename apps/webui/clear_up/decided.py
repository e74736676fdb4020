"""The log of what was decided about two memories that disagree, each with its undoing."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.semantic.selectors import Conflict
from apps.semantic.services import can_be_undone, decided
from apps.webui.actors import who
from apps.webui.differing import differing
from apps.webui.pages import render_page
from apps.webui.person import Person

SHOWN, SHOWN_CHARS = 20, 300


def decided_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what was decided, the newest first."""
    page = Paginator(decided(person.access), SHOWN).get_page(request.GET.get("page"))
    rows = [row_of(person, receipt) for receipt in page]
    return render_page(request, person, "webui/clear_up/decided.html", _("What was decided"), page=page, rows=rows)


def row_of(person: Person, receipt: Conflict) -> dict[str, Any]:
    """Return a decision as the log shows it."""
    old, new = differing(receipt.existing.content, receipt.candidate.content, SHOWN_CHARS)
    is_by_rule = receipt.origin in {"save", "consolidation"}
    return {
        "receipt": receipt,
        "old": old,
        "new": new,
        "words": words_of_outcome(receipt),
        "who": _("A rule of the hub") if is_by_rule and receipt.outcome != "noticed" else decider(person, receipt),
        "at": receipt.reviewed_at if receipt.outcome == "noticed" else receipt.at,
        "can_undo": can_be_undone(receipt),
    }


def decider(person: Person, receipt: Conflict) -> str:
    """Return who decided what no rule did: a model, or a person."""
    if receipt.origin == "judge":
        return _("A chat model")
    return who(receipt.reviewed_by or receipt.actor, person)


def words_of_outcome(receipt: Conflict) -> str:
    """Return in a sentence what was decided."""
    sentences = {
        "noticed": _("Both are true."),
        "kept_both": _("Both are true."),
        "superseded_existing": _("The new one is true; the one before is left out."),
        "kept_existing": _("The one before is true; the new one is left out."),
        "rejected": _("The new one was not taken over."),
        "merged": _("Both became one."),
    }
    return sentences.get(receipt.outcome, "")
