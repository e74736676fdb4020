"""The list of everything that is known of a person, by topic, app, time and state; and forgetting several at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from apps.core.admin.lists import as_uuid
from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, to_datetime, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.semantic.selectors import memory_contents, memory_counts
from apps.semantic.services import (
    KnownFilter,
    KnownState,
    Selection,
    learning_actors,
    memories_delete,
    memories_known,
    memories_restore,
)
from apps.webui.home import PauseForm
from apps.webui.pages import render_page
from apps.webui.person import Person, who
from apps.webui.problems import words_of

# Those that the hub and its samples use; others are shown as their writer named them.
TOPICS = {
    "contact": gettext_lazy("Contacts"),
    "decision": gettext_lazy("Decisions"),
    "event": gettext_lazy("What happened"),
    "fact": gettext_lazy("Facts"),
    "health": gettext_lazy("Health"),
    "instruction": gettext_lazy("Instructions"),
    "person": gettext_lazy("People"),
    "plan": gettext_lazy("Plans"),
    "preference": gettext_lazy("Preferences"),
    "routine": gettext_lazy("Routines"),
    "rule": gettext_lazy("Rules"),
}
PER_PAGE, MAX_QUERY_CHARS = 50, 200
MAX_AT_ONCE, SHOWN = 1_000, 10
# So many digits has a moment in milliseconds that the database can keep.
MAX_DIGITS = 14


def topic_words(name: str) -> str:
    """Return what a topic is called."""
    return str(TOPICS.get(name, name.replace("_", " ")))


@dataclass(frozen=True)
class Arrival:
    """A time in which something arrived: within so many days, or before them."""

    days: int
    is_before: bool = False


SPANS = {"week": Arrival(7), "month": Arrival(30), "year": Arrival(365), "older": Arrival(365, is_before=True)}


class KnownForm(forms.Form):
    """What the list is narrowed down by. Of what it does not offer, a field is as if it were blank."""

    words = forms.CharField(
        label=gettext_lazy("Words"),
        required=False,
        max_length=MAX_QUERY_CHARS,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    topic = forms.ChoiceField(label=gettext_lazy("Topic"), required=False)
    # Names of apps are not translated, by browsers neither.
    app = forms.ChoiceField(label=gettext_lazy("Who said it"), required=False, widget=forms.Select({"translate": "no"}))
    time = forms.ChoiceField(
        label=gettext_lazy("When"),
        required=False,
        choices=(
            ("", gettext_lazy("At any time")),
            ("week", gettext_lazy("In the last 7 days")),
            ("month", gettext_lazy("In the last 30 days")),
            ("year", gettext_lazy("In the last year")),
            ("older", gettext_lazy("More than a year ago")),
        ),
    )
    state = forms.ChoiceField(
        label=gettext_lazy("Show"),
        required=False,
        choices=(
            (KnownState.HOLDS.value, gettext_lazy("Known now")),
            (KnownState.REPLACED.value, gettext_lazy("Replaced")),
            (KnownState.FORGOTTEN.value, gettext_lazy("Forgotten")),
        ),
    )

    def __init__(self, person: Person, data: Any) -> None:
        super().__init__(data)
        topics = [one.name for one in memory_counts(person.access, Scope(), "type")]
        writers = {actor: who(actor, person) for actor in learning_actors(person.access)}
        by_name = sorted(writers.items(), key=lambda one: one[1].casefold())
        self.fields["topic"].choices = [("", _("Every topic")), *((one, topic_words(one)) for one in topics)]  # type: ignore[attr-defined]
        self.fields["app"].choices = [("", _("Everyone")), *by_name]  # type: ignore[attr-defined]

    def wanted(self, now: datetime) -> KnownFilter:
        """Return what the list shows."""
        self.is_valid()
        chosen = self.cleaned_data
        span = SPANS.get(chosen.get("time", ""))
        edge = now - timedelta(days=span.days) if span else None
        return KnownFilter(
            state=KnownState(chosen.get("state") or KnownState.HOLDS),
            words=chosen.get("words", ""),
            topic=chosen.get("topic", ""),
            actor=chosen.get("app", ""),
            since=None if span is None or span.is_before else edge,
            until=edge if span is not None and span.is_before else None,
        )


def known_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the list. Words to look for are content, so they are posted and in no address."""
    data = request.POST if request.method == "POST" else request.GET
    now = utcnow(SYSTEM_CLOCK)
    form = KnownForm(person, data)
    wanted = form.wanted(now)
    page: Any = Paginator(memories_known(person.access, wanted, SYSTEM_CLOCK), PER_PAGE).get_page(data.get("page"))
    context: dict[str, Any] = {
        "form": form,
        "page": page,
        "rows": [
            {"memory": memory, "who": who(memory.saved_by or "", person), "topic": topic_words(memory.type)}
            for memory in page
        ],
        "total": page.paginator.count,
        "state": wanted.state.value,
        "is_narrowed": wanted != KnownFilter(),
        "can_forget": wanted.state is not KnownState.FORGOTTEN and person.look is None,
        "forgotten_at": request.GET.get("forgotten", "") if request.GET.get("forgotten", "").isdecimal() else "",
        "pause_form": PauseForm(),
    }
    return render_page(request, person, "webui/known/page.html", _("Memories"), **context)


@require_POST
def known_forget(request: HttpRequest, person: Person) -> HttpResponse:
    """Ask whether to forget the memories that were chosen, or all that the list shows; `sure` forgets them."""
    uuids = chosen(request, person)
    back = reverse("webui:known")
    if not uuids:
        messages.warning(request, _("Choose what to forget first."))
        return HttpResponseRedirect(back)
    selection = Selection(Scope(), tuple(uuids))
    if "sure" in request.POST:
        now = SYSTEM_CLOCK.now()
        try:
            done = memories_delete(access=person.access, chosen=selection, clock=DeterministicClock(now))
        except MemoryHubError as error:
            messages.warning(request, words_of(error))
            return HttpResponseRedirect(reverse("webui:known"))
        words = ngettext("One memory is forgotten.", "%(count)s memories are forgotten.", done.deleted)
        messages.success(request, words % {"count": done.deleted})
        return HttpResponseRedirect(f"{reverse('webui:known')}?forgotten={now}")
    counted = memories_delete(access=person.access, chosen=selection, dry_run=True)
    context = {
        "count": counted.matched,
        "left_out": counted.managed + counted.protected,
        "first": list(memory_contents(person.access, uuids[:SHOWN]).values()),
        "more": max(0, len(uuids) - SHOWN),
        "ids": " ".join(str(one) for one in uuids),
        "is_full": len(uuids) == MAX_AT_ONCE,
    }
    return render_page(request, person, "webui/known/forget.html", _("Forget several"), **context)


def chosen(request: HttpRequest, person: Person) -> list[UUID]:
    """Return which memories a form means: those of `ids`, all that its filter shows, or those that are ticked."""
    if "all" in request.POST:
        wanted = KnownForm(person, request.POST).wanted(utcnow(SYSTEM_CLOCK))
        return list(memories_known(person.access, wanted).values_list("uuid", flat=True)[:MAX_AT_ONCE])
    named = request.POST.get("ids", "").split() or request.POST.getlist("memory")
    return list(dict.fromkeys(one for text in named[:MAX_AT_ONCE] if (one := as_uuid(text)) is not None))


@require_POST
def known_bring_back(request: HttpRequest, person: Person) -> HttpResponse:
    """Bring back what was forgotten at once."""
    at, back = request.POST.get("at", ""), HttpResponseRedirect(reverse("webui:known"))
    if not (at.isdecimal() and len(at) < MAX_DIGITS):
        messages.warning(request, _("This can no longer be taken back."))
        return back
    done = memories_restore(access=person.access, at=to_datetime(int(at)))
    words = ngettext("One memory is back.", "%(count)s memories are back.", done.restored)
    messages.success(request, words % {"count": done.restored})
    if done.left:
        words = ngettext(
            "One stays forgotten, since the same was saved again.",
            "%(count)s stay forgotten, since the same was saved again.",
            done.left,
        )
        messages.warning(request, words % {"count": done.left})
    return back
