"""The page *Home*: what is known and was learned lately, writing a memory, pausing, and the alarms of all pages."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.pauses import pause_begin, pause_end
from apps.monitor.services import recent_problems
from apps.notes.domain.compaction.draft import count_facts
from apps.notes.domain.places import MAIN
from apps.notes.selectors import note_get
from apps.people.selectors import plan_of
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.selectors import memory_list
from apps.semantic.services import learned_lately, learned_undo, memory_save
from apps.webui.clear_up import waiting
from apps.webui.memory.page import found_or_404
from apps.webui.pages import render_fragment, render_page
from apps.webui.person import KEY, Person
from apps.webui.problems import words_of

LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "open": None}
WEEK = timedelta(days=7)
SHOWN = 8
MAX_CONTENT_CHARS = 2_000
SOURCE = "user"
JUST_NOW = timedelta(hours=1)
LEARNED_SHOWN = 3
# Codes of problems, and what a person notices of each. Others are for those who run the hub.
NOTICED = {
    "worker_stopped": gettext_lazy("What your apps report is kept, but it becomes memories only later."),
    "embedding_not_ready": gettext_lazy(
        "Nothing new can be remembered, and questions find only what has the same words."
    ),
    "disk_full": gettext_lazy("The hub has no room left, so new things may not be remembered."),
    "migrations_missing": gettext_lazy("The hub is between two versions, so some things may fail."),
    "index_degraded": gettext_lazy("Saving and searching are slow."),
}


class PauseForm(forms.Form):
    """For how long nothing is remembered."""

    length = forms.ChoiceField(
        label=gettext_lazy("For how long?"),
        choices=(
            ("hour", gettext_lazy("for an hour")),
            ("day", gettext_lazy("for a day")),
            ("week", gettext_lazy("for a week")),
            ("open", gettext_lazy("until I resume")),
        ),
    )


@require_POST
def pause(request: HttpRequest, person: Person) -> HttpResponse:
    """Have nothing remembered of the person for a while; it is so already while everything is about to be forgotten."""
    if plan_of(person.user_id) is not None:
        messages.warning(request, _("Remembering is already off."))
        return HttpResponseRedirect(reverse("webui:privacy"))
    form = PauseForm(request.POST)
    if form.is_valid():
        length = LENGTHS[form.cleaned_data["length"]]
        until = utcnow(SYSTEM_CLOCK) + length if length else None
        pause_begin(user_id=person.user_id, until=until, actor=person.access.actor)
        messages.success(request, _("Paused. Your assistants can read what they know, and save nothing."))
    else:
        messages.warning(request, _("Choose for how long."))
    return HttpResponseRedirect(reverse("webui:home"))


@require_POST
def go_on(request: HttpRequest, person: Person) -> HttpResponse:
    """Have things remembered again; not while everything is about to be forgotten."""
    if plan_of(person.user_id) is not None:
        messages.warning(request, _("Take back the forgetting first."))
        return HttpResponseRedirect(reverse("webui:privacy"))
    pause_end(user_id=person.user_id)
    messages.success(request, _("Your assistants can remember again."))
    return HttpResponseRedirect(reverse("webui:home"))


def home_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show what is known of the person."""
    context = {**known(person), **just_learned(person)}
    return render_page(request, person, "webui/home/page.html", _("Home"), pause_form=PauseForm(), **context)


def known(person: Person) -> dict[str, Any]:
    """Return how much is known, what was learned within a week, and how much waits to be cleared up."""
    now = utcnow(SYSTEM_CLOCK)
    memories = memory_list(person.access, Scope(), {})
    try:
        facts = count_facts(note_get(person.access, person.user_id, MAIN).text or b"")
    except MemoryHubError:  # MEMORY.md cannot be read
        facts = 0
    return {
        "total": memories.count(),
        "facts": facts,
        "latest": list(memories.filter(created_at__gte=now - WEEK).defer("lexemes")[:SHOWN]),
        "to_clear_up": len(waiting(person)),
        "as_of": now,
    }


class FirstMemoryForm(forms.Form):
    """A sentence to remember."""

    content = forms.CharField(label=gettext_lazy("A sentence about you"), max_length=MAX_CONTENT_CHARS)


@require_POST
def tell(request: HttpRequest, person: Person) -> HttpResponse:
    """Save a memory that the person has written."""
    form = FirstMemoryForm(request.POST)
    back = HttpResponseRedirect(reverse("webui:known" if request.POST.get("back") == "known" else "webui:home"))
    if not form.is_valid():
        messages.warning(request, _("Write a sentence of at most 2,000 characters."))
        return back
    draft = MemoryDraft(form.cleaned_data["content"], scope=person.scope, source=SOURCE)
    try:
        memory_save(access=person.access, draft=draft)
    except MemoryHubError as error:
        messages.warning(request, error.detail)
    else:
        messages.success(request, _("Saved. Your assistants find it from now on."))
    return back


def just_learned(person: Person) -> dict[str, Any]:
    """Return what was learned within an hour, the newest first."""
    now = utcnow(SYSTEM_CLOCK)
    found = learned_lately(person.access, now - JUST_NOW, LEARNED_SHOWN)
    return {
        "learned": [
            {"memory": one.memory, "app": one.actor.removeprefix(KEY) if one.actor.startswith(KEY) else ""}
            for one in found
        ],
        "learned_as_of": now,
    }


@require_POST
def learned_take_back(request: HttpRequest, person: Person, uuid: UUID) -> HttpResponse:
    """Forget what was just learned, and bring back what it had replaced."""
    found_or_404(person, uuid)
    try:
        memory = learned_undo(access=person.access, uuid=uuid)
    except MemoryHubError as error:
        messages.warning(request, words_of(error))
    else:
        link = reverse("webui:memory", args=[memory.uuid])
        words = _("Taken back: it is forgotten, and what it had replaced holds again.")
        messages.success(request, format_html('{} <a href="{}">{}</a>', words, link, _("See it")))
    return HttpResponseRedirect(reverse("webui:home"))


def alarms_part(request: HttpRequest) -> dict[str, Any]:
    """Return what a person notices of the problems of the hub, and whether they can do something about it."""
    noticed = [NOTICED[one.code] for one in recent_problems()[0] if one.code in NOTICED]
    return {"noticed": noticed, "runs_hub": request.user.is_staff and request.user.has_perm("core.view_hubprocess")}


def alarms(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the banner again."""
    return render_fragment(request, person, "webui/home/alarms.html", **alarms_part(request))
