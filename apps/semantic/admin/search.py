"""The search box over the list of memories: the search of the API, cut where likeness ends."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.db.models import Case, FloatField, Q, QuerySet, Value, When
from django.http import HttpRequest

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.semantic.models import Memory, MemoryStatus
from apps.semantic.search.search import Found, memory_search

TOP_K = 200
# Of what shares no word with the question, only what is at least this near in meaning. Unrelated sentences
# reach a cosine of 0.33 with MiniLM.
MIN_SIMILARITY = 0.35
RELEVANCE = "relevance"


def searched(request: HttpRequest, access: Access, memories: QuerySet[Memory], term: str) -> QuerySet[Memory]:
    """The memories among `memories` that answer a text, each with `relevance`: its score, 0 where none was computed.

    The index holds active memories only: the others are found by the text itself, and every one by its id.
    """
    scores = {found.memory.pk: found.hit.score for found in _found(request, access, memories, term)}
    by_text = Q(content__icontains=term) & ~Q(status=MemoryStatus.ACTIVE)
    chosen = memories.filter(Q(pk__in=scores) | by_text | _by_id(term))
    score = Case(
        *[When(pk=pk, then=Value(score)) for pk, score in scores.items()],
        default=Value(0.0),
        output_field=FloatField(),
    )
    return chosen.annotate(**{RELEVANCE: score})


def _found(request: HttpRequest, access: Access, memories: QuerySet[Memory], term: str) -> Sequence[Found]:
    try:
        result = memory_search(access, SearchQuery(query=term, scope=_scope_of(memories), top_k=TOP_K))
    except MemoryHubError as error:
        messages.error(request, error.detail)
        return []
    return relevant(result.found)


def relevant(found: Sequence[Found]) -> list[Found]:
    """Those worth showing: every memory has a score, but a list should end where the likeness does."""
    best = max((one.hit.score for one in found), default=0.0)
    return [one for one in found if one.hit.score >= best / 2 and _is_like(one)]


def _is_like(one: Found) -> bool:
    return (one.hit.keyword or 0.0) > 0 or (one.hit.similarity or 0.0) >= MIN_SIMILARITY


def _scope_of(memories: QuerySet[Memory]) -> Scope:
    """The one user of filtered memories, so that the search is not crowded out by others; else everybody."""
    if not memories.query.has_filters():
        return Scope()
    users = list(memories.order_by().values_list("user_id", flat=True).distinct()[:2])
    return Scope(user_id=users[0]) if len(users) == 1 else Scope()


def _by_id(term: str) -> Q:
    try:
        return Q(uuid=UUID(term))
    except ValueError:
        return Q(pk__in=[])
