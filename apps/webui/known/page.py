"""The list of everything that is known of a person: searched, by topic, app, time and state."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.semantic.selectors import memory_counts
from apps.semantic.services import KnownFilter, KnownState, learning_actors, memories_known
from apps.webui.actors import who
from apps.webui.home.pause import PauseForm
from apps.webui.known.words import topic_words
from apps.webui.pages import render_page
from apps.webui.person import Person

PER_PAGE, MAX_QUERY_CHARS = 50, 200


@dataclass(frozen=True)
class Span:
    """A time in which something arrived: within so many days, or before them."""

    days: int
    is_before: bool = False


SPANS = {"week": Span(7), "month": Span(30), "year": Span(365), "older": Span(365, is_before=True)}


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
    page = Paginator(memories_known(person.access, wanted, SYSTEM_CLOCK), PER_PAGE).get_page(data.get("page"))
    context: dict[str, Any] = {
        "form": form,
        "page": page,
        "rows": [row_of(person, memory) for memory in page],
        "total": page.paginator.count,
        "state": wanted.state.value,
        "is_narrowed": wanted != KnownFilter(),
        "can_forget": wanted.state is not KnownState.FORGOTTEN and person.look is None,
        "forgotten_at": request.GET.get("forgotten", "") if request.GET.get("forgotten", "").isdecimal() else "",
        "pause_form": PauseForm(),
    }
    return render_page(request, person, "webui/known/page.html", _("Memories"), **context)


def row_of(person: Person, memory: Any) -> dict[str, Any]:
    """Return a memory as the list shows it."""
    return {"memory": memory, "who": who(memory.saved_by or "", person), "topic": topic_words(memory.type)}
