"""What of the memories a context may hold: wishes, what matters most, what answers the message, knowledge in force."""

from collections import Counter
from datetime import datetime
from typing import Any

from apps.context.domain.context import Candidate, ContextQuery, ItemKind, Reason
from apps.core.domain.clock import Clock
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.filters.parse import parse_filter
from apps.core.domain.origin import WriteOrigin
from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.query import SearchQuery
from apps.retrieval.domain.relevance import MIN_RELEVANCE
from apps.rules.domain.statements.read import statements_of
from apps.rules.domain.statements.statement import Mood
from apps.semantic.domain.filters import MEMORY_FIELDS
from apps.semantic.domain.memory import DEFAULT_IMPORTANCE, TAGS_OF_PLACES
from apps.semantic.selectors import Memory
from apps.semantic.services import Found, StandingMemory, memories_standing, memory_search

# Types of memories that are wishes, whatever their sentence is.
WISH_TYPES = frozenset({"instruction", "instructions", "wish", "wishes", "rule"})
# A text with at least so many tokens: of the memories that a search ranks no more can fit.
_LEAST_TOKENS = 12
MAX_FOUND, MAX_STANDING = 200, 60
# A wish is short; a longer text that begins with a command is a document.
MAX_WISH_CHARS = 500


def what_counts(query: ContextQuery) -> Expression:
    """Return what memories must be: those of the project, agent and personality of a query, and those of none.

    As of a moment those that were saved later are left out.
    """
    conditions: list[dict[str, Any]] = [
        {"any": [{name: {"in": [getattr(query, name), ""]}}, {"global": True}]}
        for name in TAGS_OF_PLACES
        if getattr(query, name)
    ]
    if query.as_of is not None:
        conditions.append({"created_at": {"lte": query.as_of.isoformat()}})
    return parse_filter({"all": conditions}, MEMORY_FIELDS) if conditions else EVERYTHING


def standing_candidates(access: Access, scope: Scope, query: ContextQuery, now: datetime) -> list[Candidate]:
    """Return wishes, and what matters most: with a message only what is more important than usual."""
    above = DEFAULT_IMPORTANCE if query.message else -1.0
    where = what_counts(query)
    found = memories_standing(access, scope, MAX_STANDING, now=now, include=query.include, where=where, above=above)
    return [standing_candidate(one, scope) for one in found]


def standing_candidate(one: StandingMemory, scope: Scope) -> Candidate:
    """Return a wish or a fact."""
    memory = one.memory
    if is_wish(memory, scope):
        return candidate(memory, ItemKind.WISH, "A standing wish of the person.", one.confidence, conflict=one.conflict)
    why = f"Important ({memory.importance:.2f}), confidence {one.confidence:.2f}."
    return candidate(memory, ItemKind.FACT, why, one.confidence, conflict=one.conflict)


def is_wish(memory: Memory, scope: Scope) -> bool:
    """Return whether a memory asks something of assistants once and for all.

    What was read in a document asks for nothing, whatever it says, and neither does what is of an owner included
    besides the person; a sentence alone is a wish where the person said it.
    """
    if scope.user_id is not None and memory.user_id != scope.user_id:
        return False
    if memory.managed_by or memory.origin == WriteOrigin.DOCUMENT or len(memory.content) > MAX_WISH_CHARS:
        return False
    if memory.type.casefold() in WISH_TYPES:
        return True
    said = memory.origin == WriteOrigin.PERSON
    return said and any(one.mood is Mood.COMMAND for one in statements_of(memory.content))


def found_candidates(
    access: Access,
    scope: Scope,
    query: ContextQuery,
    clock: Clock,
    left_out: Counter[Reason],
    problems: list[str],
) -> list[Candidate]:
    """Return the memories that answer the message, and the knowledge in force. Raises UnavailableError."""
    where = what_counts(query)
    asked = SearchQuery(
        scope=scope,
        include=query.include,
        query=query.message,
        top_k=min(MAX_FOUND, max(10, query.max_tokens // _LEAST_TOKENS)),
        end=query.as_of,
        asked_at=query.as_of,
        in_force=True,
        min_relevance=MIN_RELEVANCE,
        where=None if where is EVERYTHING else where,
    )
    result = memory_search(access, asked, clock, is_answer=False)
    for reason, filtered in ((Reason.ENDED, "in_force"), (Reason.IRRELEVANT, "min_relevance")):
        left_out[reason] += result.ranking.filtered.get(filtered, 0)
    if result.problem:
        problems.append(result.problem)
    return [answer_candidate(one, scope) for one in result.found]


def answer_candidate(one: Found, scope: Scope) -> Candidate:
    """Return a memory that answers the message."""
    memory = one.memory
    kind = ItemKind.KNOWLEDGE if memory.is_managed else ItemKind.WISH if is_wish(memory, scope) else ItemKind.MEMORY
    likely = "" if one.hit.relevance is None else f" (relevance {one.hit.relevance:.2f})"
    why = f"Answers the message{likely}."
    return candidate(memory, kind, why, one.hit.confidence, conflict=one.conflict, replaced=one.replaced)


def candidate(
    memory: Memory, kind: ItemKind, why: str, confidence: float, *, conflict: Any = None, replaced: Any = None
) -> Candidate:
    """Return a memory as a candidate."""
    return Candidate(
        kind,
        str(memory.uuid),
        memory.user_id,
        memory.content,
        why,
        date=memory.occurred_at or memory.created_at,
        origin=WriteOrigin(memory.origin),
        importance=memory.importance,
        confidence=confidence,
        conflict=conflict.id if conflict else None,
        conflict_with=conflict.other(memory.pk) if conflict and memory.pk in conflict.memories else None,
        replaced_by=replaced.by if replaced else None,
        household_id=memory.household_id,
        persona_id=memory.persona_id,
    )
