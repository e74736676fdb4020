"""The list of memories: its tabs, and its search box with the ranking of the API, over memories of every status."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Case, Exists, FloatField, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.admin.lists import as_uuid
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.core.words import Words
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Ingestion, Memory, MemoryStatus
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.search.every_status import memories_rank, relevant_hits

TOP_K = 200
RELEVANCE = "relevance"
PARAMETER = "view"
# What its writer was this sure of, or less.
WEAK = 0.6
ACTIVE = Q(status=MemoryStatus.ACTIVE)
# Value of the parameter -> title of the tab, and which memories it shows.
VIEWS: dict[str, tuple[Words, Q]] = {
    "active": (_("Active"), ACTIVE),
    "past": (_("No longer current"), ~ACTIVE),
    "weak": (_("Weak"), ACTIVE & Q(base_confidence__lte=WEAK)),
    "timeline": (_("From the timeline"), Q(Exists(Ingestion.objects.filter(memory=OuterRef("pk"))))),
    "managed": (_("Managed"), ~Q(managed_by="")),
}


def search_memories(request: HttpRequest, memories: MemoryQuerySet, term: str) -> QuerySet[Memory]:
    """Return those of `memories` that match a text, each with `relevance`: its score, 0 where none was computed.

    Whatever their status: what vanished is looked for by its words. Also found are those in which the text occurs as it
    was typed, and the one whose id it is.
    """
    try:
        query = SearchQuery(query=term, top_k=TOP_K)
        found = relevant_hits(memories_rank(memories, query)[0].hits)
    except MemoryHubError as error:
        messages.error(request, say(str(error.detail)))
        found = []
    scores = {hit.id: hit.score for hit in found}
    matches = Q(pk__in=scores) | Q(content__icontains=term)
    if (uuid := as_uuid(term)) is not None:
        matches |= Q(uuid=uuid)
    score = Case(
        *[When(pk=pk, then=Value(score)) for pk, score in scores.items()],
        default=Value(0.0),
        output_field=FloatField(),
    )
    return memories.filter(matches).annotate(**{RELEVANCE: score})


class ViewFilter(admin.SimpleListFilter):
    """The tab that is open."""

    title, parameter_name = _("view"), PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, str(title)) for name, (title, __) in VIEWS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> QuerySet[Memory]:
        chosen = VIEWS.get(self.value() or "")
        return queryset.filter(chosen[1]) if chosen else queryset


def view_tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the tabs with their query strings; a search goes on in another tab, the page and the order do not."""
    kept = {name: str(value) for name, value in request.GET.items() if name not in {PARAMETER, "p", "o"}}
    present = request.GET.get(PARAMETER, "")
    tabs = []
    for name, title in [("", gettext("All")), *((name, title) for name, (title, __) in VIEWS.items())]:
        query = request.GET.copy()
        query.clear()
        query.update({**kept, **({PARAMETER: name} if name else {})})
        tabs.append({"title": title, "query": query.urlencode(), "is_current": name == present})
    return tabs
