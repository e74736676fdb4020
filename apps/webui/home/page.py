"""The page *Home*."""

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.notes.domain.compaction.draft import count_facts
from apps.notes.domain.places import MAIN
from apps.notes.selectors import note_get
from apps.semantic.selectors import memory_list
from apps.webui.clear_up.page import waiting
from apps.webui.home.learned import just_learned
from apps.webui.home.pause import PauseForm
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import Person

WEEK = timedelta(days=7)
SHOWN = 8


def home_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what is known of the person."""
    context = {**known(person), **just_learned(person)}
    return render_page(request, person, "webui/home/page.html", _("Home"), pause_form=PauseForm(), **context)


def home_latest(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the live part of the page anew."""
    return render_fragment(request, person, "webui/home/latest.html", **known(person))


def known(person: Person) -> dict[str, Any]:
    """Return how much is known, what was learned within a week, and how much waits to be cleared up."""
    now = utcnow(SYSTEM_CLOCK)
    memories = memory_list(person.access, Scope(), {})
    return {
        "total": memories.count(),
        "facts": facts_in_notes(person),
        "latest": list(memories.filter(created_at__gte=now - WEEK).defer("lexemes")[:SHOWN]),
        "to_clear_up": len(waiting(person)),
        "as_of": now,
    }


def facts_in_notes(person: Person) -> int:
    """Return how many facts the person's MEMORY.md has; none where it cannot be read."""
    try:
        return count_facts(note_get(person.access, person.user_id, MAIN).text or b"")
    except MemoryHubError:
        return 0
