"""The page *Ask*: who asks, in which scope and how, and the answer."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name, localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.cockpit.ask.answer import missing_rows, result_rows
from apps.cockpit.pages import render_page
from apps.cockpit.words import whose
from apps.core.admin.kit import operator_access
from apps.core.admin.lists import as_uuid, comparable
from apps.core.db.names import NameSpan
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import IDENTIFIERS, MAX_IDENTIFIER_CHARS, Access, Scope
from apps.core.models import ApiKey
from apps.core.pages.sayings import say
from apps.core.selectors import usable_keys, with_foreign
from apps.retrieval.domain.query import DEFAULT_TOP_K, SearchMode, SearchQuery
from apps.retrieval.domain.relevance import MIN_RELEVANCE
from apps.semantic.selectors import known_identifiers, memory_counts
from apps.semantic.services import memories_missing, memory_search, question_line

MAX_QUESTION_CHARS = 2_000
MAX_SHOWN = 100
MAX_KEYS = 200
SUGGESTED = 50
QUESTION_FILE = "evaluation-question.jsonl"


def askable_keys(request: HttpRequest) -> list[ApiKey]:
    """Return the keys as which a viewer may ask: every one, or those that reach no further than a bound account."""
    viewer, keys = operator_access(request), usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")
    if not viewer.bound.named():
        return list(keys[:MAX_KEYS]) if request.user.has_perm("core.view_apikey") else []
    inside = with_foreign(keys.filter(**viewer.bound.named())[:MAX_KEYS])
    return [
        key
        for key in inside
        if viewer.bound.contains(key.access.bound)
        and all(owner in viewer.reads or viewer.bound.contains(Scope(owner)) for owner in key.access.reads)
    ]


class AskForm(forms.Form):
    """A question, as which key or in which scope it is asked, and the options of the search."""

    question = forms.CharField(
        label=_("Question"), max_length=MAX_QUESTION_CHARS, widget=forms.Textarea(attrs={"rows": 2})
    )
    key = forms.ChoiceField(required=False, label=_("As"))
    user_id = forms.CharField(required=False, label=_("User"), max_length=MAX_IDENTIFIER_CHARS)
    household_id = forms.CharField(required=False, label=_("Household"), max_length=MAX_IDENTIFIER_CHARS)
    persona_id = forms.CharField(required=False, label=_("Persona"), max_length=MAX_IDENTIFIER_CHARS)
    mode = forms.ChoiceField(
        required=False,
        label=_("Find by"),
        choices=[
            (SearchMode.HYBRID.value, _("Meaning and words")),
            (SearchMode.VECTOR.value, _("Meaning only")),
            (SearchMode.KEYWORD.value, _("Words only")),
        ],
    )
    top_k = forms.IntegerField(
        required=False, label=_("Maximum results"), min_value=1, max_value=MAX_SHOWN, initial=DEFAULT_TOP_K
    )
    start = forms.DateTimeField(
        required=False, label=_("Happened from"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    end = forms.DateTimeField(
        required=False, label=_("Happened until"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    relevant = forms.BooleanField(required=False, label=_("Leave out weak matches, as tools of assistants do"))
    granted = forms.BooleanField(required=False, label=_("Include the owners that the key was granted (include)"))

    def __init__(self, *args: Any, viewer: Access, keys: Sequence[ApiKey], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.viewer, self.keys = viewer, {str(key.uuid): key for key in keys}
        field = self.fields["key"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", gettext("no key: only the scope"))] + [
            (uuid, key.name) for uuid, key in self.keys.items()
        ]
        for name in IDENTIFIERS:
            self.fields[name].widget.attrs |= {"list": f"known-{name}", "autocomplete": "off"}

    def clean(self) -> dict[str, Any]:
        """Return the data, with a window that does not end before it begins."""
        data = super().clean() or {}
        if data.get("start") and data.get("end") and data["start"] > data["end"]:
            self.add_error("end", gettext("This is before the start."))
        return data

    @property
    def chosen_key(self) -> ApiKey | None:
        """Return the key as which is asked, None for the scope alone."""
        return self.keys.get(self.cleaned_data["key"])

    @property
    def access(self) -> Access:
        """Return what the question may reach."""
        return self.chosen_key.access if self.chosen_key else self.viewer

    @property
    def query(self) -> SearchQuery:
        """Return the search that `POST /api/semantic/search` would make of the same fields."""
        data = self.cleaned_data
        return SearchQuery(
            scope=Scope(*(data[name] or None for name in IDENTIFIERS)),
            include=self.access.reads if data["granted"] else (),
            query=data["question"],
            mode=SearchMode(data["mode"]) if data["mode"] else None,
            top_k=data["top_k"] or DEFAULT_TOP_K,
            start=data["start"],
            end=data["end"],
            min_relevance=MIN_RELEVANCE if data["relevant"] else None,
            explain=True,
            asked_at=localtime(),
        )


def ask_page(request: HttpRequest) -> HttpResponse:
    """Show the form, and the answer to a posted question: a question is content, so it is in no address."""
    viewer = operator_access(request)
    form = AskForm(request.POST if request.method == "POST" else None, viewer=viewer, keys=askable_keys(request))
    answer = answer_of(form, viewer) if form.is_bound and form.is_valid() else {}
    known = {name: known_names(viewer, name) for name in IDENTIFIERS}
    context = {
        "known": known,
        "bound": whose(viewer.bound) if viewer.bound.named() else "",
        "zone": get_current_timezone_name(),
        **answer,
    }
    return render_page(request, "cockpit/ask.html", gettext("Ask"), form=form, **context)


@require_POST
def ask_question(request: HttpRequest) -> HttpResponse:
    """Send a question, with the memories that were ticked as its answers, as a line for `manage.py evaluate`.

    The hub keeps nothing of it.
    """
    evidence = [uuid for one in request.POST.getlist("evidence") if (uuid := as_uuid(one)) is not None]
    question = comparable(request.POST.get("question"))[:MAX_QUESTION_CHARS]
    try:
        line = question_line(operator_access(request), question, evidence, localtime())
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
        "reranker": say(result.problem),
        "considered": result.ranking.considered,
        "matched": result.ranking.matched,
        "weak": result.ranking.filtered.get("min_relevance", 0),
        "took_ms": f"{result.took_ms:.1f}",
        "index": result.index,
    }
