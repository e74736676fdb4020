"""The search box above the list of memories: the ranking of the API, over memories of every status."""

from django.contrib import messages
from django.db.models import Case, FloatField, Q, QuerySet, Value, When
from django.http import HttpRequest

from apps.core.admin.lists import as_uuid
from apps.core.domain.errors import MemoryHubError
from apps.core.pages.sayings import say
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory
from apps.semantic.querysets import MemoryQuerySet
from apps.semantic.search.every_status import memories_rank, relevant_hits

TOP_K = 200
RELEVANCE = "relevance"


def search_memories(request: HttpRequest, memories: MemoryQuerySet, term: str) -> QuerySet[Memory]:
    """Return those of `memories` that match a text, each with `relevance`: its score, 0 where none was computed.

    Whatever their status: what vanished is looked for by its words. Also found are those in which the text occurs as it
    was typed, and the one whose id it is.
    """
    try:
        query = SearchQuery(query=term, top_k=TOP_K)
        found = relevant_hits(memories_rank(memories, query).ranking.hits)
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
