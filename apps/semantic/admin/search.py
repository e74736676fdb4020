"""The search box above the list of memories: the search of the API, without results of low similarity."""

from collections.abc import Sequence

from django.contrib import messages
from django.db.models import Case, FloatField, Q, QuerySet, Value, When
from django.http import HttpRequest

from apps.core.admin.lists import as_uuid
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory, MemoryStatus
from apps.semantic.search.search import Found, memory_search

TOP_K = 200
# A memory that shares no word with the query is shown from this cosine on. Unrelated sentences reach 0.33 with MiniLM.
MIN_SIMILARITY = 0.35
RELEVANCE = "relevance"


def search_memories(request: HttpRequest, access: Access, memories: QuerySet[Memory], term: str) -> QuerySet[Memory]:
    """Return those of `memories` that match a text, each with `relevance`: its score, 0 where none was computed.

    The index holds active memories only: others are found by the text itself, and all by their id.
    """
    # With filters on one user, only that user's memories are searched, so that others do not fill the top.
    users: list[str] = []
    if memories.query.has_filters():
        users = list(memories.order_by().values_list("user_id", flat=True).distinct()[:2])
    scope = Scope(user_id=users[0]) if len(users) == 1 else Scope()
    try:
        query = SearchQuery(query=term, scope=scope, top_k=TOP_K, current_first=False)  # the list is sorted by score
        found = select_relevant(memory_search(access, query).found)
    except MemoryHubError as error:
        messages.error(request, error.detail)
        found = []
    scores = {one.memory.pk: one.hit.score for one in found}
    matches = Q(pk__in=scores) | Q(content__icontains=term) & ~Q(status=MemoryStatus.ACTIVE)
    if (uuid := as_uuid(term)) is not None:
        matches |= Q(uuid=uuid)
    score = Case(
        *[When(pk=pk, then=Value(score)) for pk, score in scores.items()],
        default=Value(0.0),
        output_field=FloatField(),
    )
    return memories.filter(matches).annotate(**{RELEVANCE: score})


def select_relevant(found: Sequence[Found]) -> list[Found]:
    """Return results with a word of the query or a near meaning, down to half of the best score.

    Every memory has a score; without a limit the list would contain all of them.
    """
    best = max((one.hit.score for one in found), default=0.0)
    return [
        one
        for one in found
        if one.hit.score >= best / 2 and ((one.hit.keyword or 0.0) > 0 or (one.hit.similarity or 0.0) >= MIN_SIMILARITY)
    ]
