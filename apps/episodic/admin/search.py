"""The admin's page that searches the timeline of a user: rows and archived segments alike, as the API does."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold import widgets

from apps.core.admin.kit import operator_access
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import MAX_IDENTIFIER_CHARS, Scope
from apps.episodic.admin.columns import event_row
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.window import MAX_EVENT_TYPES, EventQuery, QueryDiagnostics, QueryResult, TextDiagnostics
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
    "outside_window": "outside the window",
    "event_type": "of other types",
    "beyond_text_limit": "older than those that are compared with a text",
    "not_compared": "without a word of the text, and not compared by meaning",
    "no_match": "without a word of the text",
    "beyond_top_k": "beyond the number asked for",
}


def _line(label: str, help_text: str = "", *, required: bool = False, longest: int = MAX_IDENTIFIER_CHARS) -> Any:
    return forms.CharField(
        label=label,
        help_text=help_text,
        required=required,
        max_length=longest,
        widget=widgets.UnfoldAdminTextInputWidget(),
    )


def _moment(label: str, help_text: str = "") -> Any:
    widget = widgets.UnfoldAdminSplitDateTimeVerticalWidget()
    return forms.SplitDateTimeField(label=label, help_text=help_text, required=False, widget=widget)


class SearchForm(forms.Form):
    """Whose events, of when, and about what."""

    user_id = _line("User", required=True)
    text = _line("About", "Words and meaning; the best come first. Blank: the newest.", longest=MAX_TEXT_CHARS)
    last_days = forms.FloatField(
        label="Happened in the last days",
        help_text="Blank: whenever.",
        required=False,
        min_value=0,
        max_value=MAX_DAYS,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
    )
    top_k = forms.ChoiceField(
        label="How many at most",
        required=False,
        initial=NUMBERS[0],
        choices=[(number, number) for number in NUMBERS],
        widget=widgets.UnfoldAdminSelectWidget(),
    )
    since = _moment("Happened from", "Instead of the last days.")
    until = _moment("Happened until", "Instead of the last days.")
    event_types = _line("Types", "Whole types with commas between them. Blank: all.", longest=MAX_TEXT_CHARS)
    household_id = _line("Household", "Blank: of all of them, and of none.")
    persona_id = _line("Persona", "Blank: of all of them, and of none.")

    def chosen_first(self) -> list[forms.BoundField]:
        """What most searches need."""
        return [field for field in self if field.name in FIRST]

    def chosen_further(self) -> list[forms.BoundField]:
        """What narrows a search further."""
        return [field for field in self if field.name not in FIRST]

    def is_narrowed_further(self) -> bool:
        """Whether those are to be seen: something was entered there, or is wrong there."""
        return any(field.errors or (self.is_bound and field.data not in BLANK) for field in self.chosen_further())

    def clean_event_types(self) -> tuple[str, ...]:
        types = tuple(filter(None, (one.strip() for one in self.cleaned_data["event_types"].split(","))))
        if len(types) > MAX_EVENT_TYPES:
            raise forms.ValidationError(f"At most {MAX_EVENT_TYPES} types.")
        return types

    def query(self) -> EventQuery:
        """What a valid form asks for."""
        given = self.cleaned_data
        return EventQuery(
            scope=Scope(given["user_id"], given["household_id"] or None, given["persona_id"] or None),
            start=given["since"],
            end=given["until"],
            last_days=given["last_days"],
            top_k=int(given["top_k"] or NUMBERS[0]),
            event_types=given["event_types"],
            text=given["text"] or None,
        )


def search_page(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The form, and what it finds. Changes nothing."""
    form = SearchForm(request.GET if request.GET else None)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Search the timeline",
        "opts": model_admin.opts,
        "form": form,
        "media": model_admin.media + form.media,
        **(_answer(request, form.query()) if form.is_bound and form.is_valid() else {}),
    }
    return TemplateResponse(request, "episodic/search.html", context)


def _answer(request: HttpRequest, query: EventQuery) -> dict[str, Any]:
    try:
        result = events_query(operator_access(request), query)
    except MemoryHubError as error:
        return {"problem": error.detail}
    return {
        "rows": list(_rows(result)),
        "found": f"{len(result.events):,} event{'' if len(result.events) == 1 else 's'}",
        "order": "the newest first" if query.text is None else "the best first",
        "account": list(account_words(result.diagnostics)),
        "quarantined": result.diagnostics.segments.quarantined,
    }


def _rows(result: QueryResult) -> Iterator[dict[str, Any]]:
    pages = _pages(result.events)
    hits: Sequence[Hit | None] = result.hits or [None] * len(result.events)
    for event, hit in zip(result.events, hits, strict=True):
        yield {**event_row(event), "score": hit and f"{hit.score:.2f}", "page": pages.get(event.arrival)}


def _pages(events: Iterable[EventRecord]) -> dict[int, str]:
    """The addresses of the pages of those that are rows."""
    hot = TimelineEvent.objects.readable().filter(pk__in=[event.arrival for event in events])
    return {pk: reverse("admin:episodic_timelineevent_change", args=[pk]) for pk in hot.values_list("pk", flat=True)}


def account_words(diagnostics: QueryDiagnostics) -> Iterator[str]:
    """How a query came to its events, in sentences whose numbers add up."""
    one = diagnostics
    yield f"{_events(one.scanned)} in this scope: {one.hot:,} as rows, {one.archived:,} in {_files(one)}."
    dropped = [f"{count:,} {DROPPED.get(reason, reason)}" for reason, count in one.dropped.items() if count]
    yield f"{one.returned:,} shown; left out: {', '.join(dropped) or 'none'}."
    if one.text is not None:
        yield _text_words(one.text)
    yield f"It took {one.took_ms:,.1f} ms."


def _events(count: int) -> str:
    return f"{count:,} event{'' if count == 1 else 's'}"


def _files(diagnostics: QueryDiagnostics) -> str:
    files = diagnostics.segments
    total = f"{files.total:,} archived segment{'' if files.total == 1 else 's'}"
    return f"{total}, of which {files.read:,} had to be read" if files.total else total


def _text_words(account: TextDiagnostics) -> str:
    meaning = f"the meaning of {_events(account.compared_by_meaning)}"
    compared = {
        SearchMode.HYBRID: f"Compared by words, and {meaning}",
        SearchMode.KEYWORD: "Compared by words",
        SearchMode.VECTOR: f"Compared {meaning}",
    }[account.mode]
    return f"{compared}: the embedding model does not answer." if account.fallback else f"{compared}."
