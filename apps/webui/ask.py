"""The page *Ask*."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope
from apps.core.pages.sayings import say
from apps.retrieval.domain.query import SearchQuery
from apps.retrieval.domain.relevance import MIN_RELEVANCE
from apps.semantic.services import SearchResult, memory_search
from apps.webui.pages import render_page
from apps.webui.person import Person
from apps.webui.problems import words_of

MAX_QUESTION_CHARS = 2_000
SHOWN = 20


class QuestionForm(forms.Form):
    """A question."""

    question = forms.CharField(label=gettext_lazy("What do you want to know?"), max_length=MAX_QUESTION_CHARS)
    weak = forms.BooleanField(required=False)


def ask_page(request: HttpRequest, person: Person) -> HttpResponse:
    """Show the box, and the answer to a posted question: a question is content, so it is in no address."""
    form = QuestionForm(request.POST if request.method == "POST" else None)
    result: SearchResult | None = None
    shows_weak = False
    problem = ""
    if form.is_bound and form.is_valid():
        shows_weak = form.cleaned_data["weak"]
        least = None if shows_weak else MIN_RELEVANCE
        query = SearchQuery(
            scope=Scope(),
            query=form.cleaned_data["question"],
            top_k=SHOWN,
            min_relevance=least,
            asked_at=localtime(),
        )
        try:
            result = memory_search(person.access, query)
            problem = say(result.problem)
        except MemoryHubError as error:
            problem = words_of(error)
    found = [one.memory for one in result.found] if result else []
    context = {
        "form": form,
        "found": found,
        "is_answered": result is not None,
        "problem": problem,
        "weak": result.ranking.filtered.get("min_relevance", 0) if result else 0,
        "shows_weak": shows_weak,
    }
    return render_page(request, person, "webui/ask/page.html", _("Ask"), **context)
