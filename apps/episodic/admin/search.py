"""The admin page that searches the timeline of a user: rows and archived segments alike, as the API does."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold import widgets

from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.episodic.admin.columns import count_of, event_row
from apps.episodic.domain.window import MAX_EVENT_TYPES, EventQuery, QueryDiagnostics
from apps.episodic.models import TimelineEvent
from apps.episodic.selectors import events_query
from apps.retrieval.domain.query import Hit, SearchMode

FIRST = ("user_id", "text", "last_days", "top_k")
BLANK: tuple[Any, ...] = (None, "", ["", ""], [None, None])
NUMBERS = (20, 50, 100, 200)
MAX_TEXT_CHARS = 2_000
MAX_DAYS = 36_500
# Why an event of the scope is not shown.
DROPPED = {
    "outside_window": _("outside the window"),
    "event_type": _("of other types"),
    "filter": _("not matching the filter"),
    "beyond_text_limit": _("older than the events that are compared with the text"),
    "not_compared": _("without a word of the text, and not compared by meaning"),
    "no_match": _("without a word of the text"),
    "beyond_top_k": _("beyond the number asked for"),
}
# How a text was compared, and the same where the embedding model did not answer.
COMPARED = {
    SearchMode.HYBRID: _("Compared by words, and the meaning of %(events)s."),
    SearchMode.KEYWORD: _("Compared by words."),
    SearchMode.VECTOR: _("Compared the meaning of %(events)s."),
}
COMPARED_WITHOUT_MODEL = {
    SearchMode.HYBRID: _("Compared by words, and the meaning of %(events)s: the embedding model is not answering."),
    SearchMode.KEYWORD: _("Compared by words: the embedding model is not answering."),
    SearchMode.VECTOR: _("Compared the meaning of %(events)s: the embedding model is not answering."),
}


def text_field(
    label: Words, help_text: Words = "", *, required: bool = False, max_length: int = MAX_IDENTIFIER_CHARS
) -> forms.CharField:
    """Return a field of one line."""
    widget = widgets.UnfoldAdminTextInputWidget()
    return forms.CharField(label=label, help_text=help_text, required=required, max_length=max_length, widget=widget)


def time_field(label: Words) -> forms.SplitDateTimeField:
    """Return a field for an end of the window."""
    widget = widgets.UnfoldAdminSplitDateTimeVerticalWidget()
    return forms.SplitDateTimeField(
        label=label, help_text=_("Instead of the last days."), required=False, widget=widget
    )


class SearchForm(forms.Form):
    """Whose events to find, from when, and about what."""

    user_id = text_field(_("User"), required=True)
    text = text_field(
        _("About"), _("Words and meaning; best matches first. Blank: newest first."), max_length=MAX_TEXT_CHARS
    )
    last_days = forms.FloatField(
        label=_("Happened in the last days"),
        help_text=_("Blank: at any time."),
        required=False,
        min_value=0,
        max_value=MAX_DAYS,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
    )
    top_k = forms.ChoiceField(
        label=_("Maximum number"),
        required=False,
        initial=NUMBERS[0],
        choices=[(number, number) for number in NUMBERS],
        widget=widgets.UnfoldAdminSelectWidget(),
    )
    since = time_field(_("Happened from"))
    until = time_field(_("Happened until"))
    event_types = text_field(
        _("Types"), _("Complete types, separated by commas. Blank: all."), max_length=MAX_TEXT_CHARS
    )
    household_id = text_field(_("Household"), _("Blank: any, or none at all."))
    persona_id = text_field(_("Persona"), _("Blank: any, or none at all."))

    def chosen_first(self) -> list[forms.BoundField]:
        """Return the fields that most searches need."""
        return [field for field in self if field.name in FIRST]

    def chosen_further(self) -> list[forms.BoundField]:
        """Return the fields that narrow a search further."""
        return [field for field in self if field.name not in FIRST]

    def is_narrowed_further(self) -> bool:
        """Return whether to unfold the further fields: one of them is filled in or wrong."""
        return any(field.errors or (self.is_bound and field.data not in BLANK) for field in self.chosen_further())

    def clean_event_types(self) -> tuple[str, ...]:
        types = tuple(filter(None, (one.strip() for one in self.cleaned_data["event_types"].split(","))))
        if len(types) > MAX_EVENT_TYPES:
            raise forms.ValidationError(gettext("At most %(most)s types.") % {"most": MAX_EVENT_TYPES})
        return types

    def query(self) -> EventQuery:
        """Return the query of a valid form."""
        data = self.cleaned_data
        return EventQuery(
            scope=Scope(data["user_id"], data["household_id"] or None, data["persona_id"] or None),
            start=data["since"],
            end=data["until"],
            last_days=data["last_days"],
            top_k=int(data["top_k"] or NUMBERS[0]),
            event_types=data["event_types"],
            text=data["text"] or None,
        )


def search_page(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show the form, and what it finds. Changes nothing."""
    form = SearchForm(request.GET if request.GET else None)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": gettext("Search the timeline"),
        "opts": model_admin.opts,
        "form": form,
        "media": model_admin.media + form.media,
        **(search_context(request, form.query()) if form.is_bound and form.is_valid() else {}),
    }
    return TemplateResponse(request, "episodic/search.html", context)


def search_context(request: HttpRequest, query: EventQuery) -> dict[str, Any]:
    """Return the events found, with links to those that are rows, or the problem with the query."""
    try:
        result = events_query(operator_access(request), query)
    except MemoryHubError as error:
        return {"problem": say(str(error.detail))}
    rows = TimelineEvent.objects.readable().filter(pk__in=[event.arrival for event in result.events])
    pages = {pk: reverse("admin:episodic_timelineevent_change", args=[pk]) for pk in rows.values_list("pk", flat=True)}
    hits: Sequence[Hit | None] = result.hits or [None] * len(result.events)
    return {
        "rows": [
            {**event_row(event), "score": hit and f"{hit.score:.2f}", "page": pages.get(event.arrival)}
            for event, hit in zip(result.events, hits, strict=True)
        ],
        "found": count_of(len(result.events), "event"),
        "order": gettext("newest first") if query.text is None else gettext("best first"),
        "account": list(describe_query(result.diagnostics)),
        "quarantined": result.diagnostics.segments.quarantined,
    }


def describe_query(found: QueryDiagnostics) -> Iterator[str]:
    """Describe how a query came to its events, in sentences whose numbers add up."""
    words = gettext("%(events)s in this scope: %(rows)s as rows, %(archived)s in %(files)s.")
    if found.segments.total:
        words = gettext(
            "%(events)s in this scope: %(rows)s as rows, %(archived)s in %(files)s, of which %(read)s had to be read."
        )
    yield words % {
        "events": count_of(found.scanned, "event"),
        "rows": f"{found.hot:,}",
        "archived": f"{found.archived:,}",
        "files": count_of(found.segments.total, "archived segment"),
        "read": f"{found.segments.read:,}",
    }
    dropped = [f"{count:,} {DROPPED.get(reason, reason)}" for reason, count in found.dropped.items() if count]
    yield gettext("%(shown)s shown; left out: %(left_out)s.") % {
        "shown": f"{found.returned:,}",
        "left_out": ", ".join(dropped) or gettext("none"),
    }
    if found.text is not None:
        compared = COMPARED_WITHOUT_MODEL if found.text.fallback else COMPARED
        yield compared[found.text.mode] % {"events": count_of(found.text.compared_by_meaning, "event")}
    yield gettext("It took %(milliseconds)s ms.") % {"milliseconds": f"{found.took_ms:,.1f}"}
