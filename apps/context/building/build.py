"""Building a context: what is known is read through the doors of its apps, and composed within the budget."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings

from apps.context.building.memories import found_candidates, standing_candidates
from apps.context.building.notes import note_candidates
from apps.context.domain.compose import Composed, compose
from apps.context.domain.context import NOTHING_KNOWN, Candidate, Context, ContextQuery, ItemKind, Reason
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, DeterministicClock, utcnow
from apps.core.domain.errors import InvalidInputError, UnavailableError
from apps.core.domain.scope import Access, Scope
from apps.episodic.domain.window import EventQuery
from apps.episodic.selectors import events_query
from apps.given.domain import given
from apps.given.services import given_note

# What answers a message; the others are there whatever was asked.
ANSWERS = frozenset({ItemKind.MEMORY, ItemKind.KNOWLEDGE, ItemKind.NOTE})
RECENT = timedelta(days=7)
MAX_EVENTS = 20


def context_build(*, access: Access, query: ContextQuery, clock: Clock = SYSTEM_CLOCK) -> Context:
    """Return what an assistant should know for a message or a task, within a budget of tokens.

    Equal questions of a hub in an equal state, as of an equal moment, have equal answers, but for the id.

    Raises InvalidInputError where nothing says whose context it is, ForbiddenError for one who has stopped the caller.
    """
    at = query.as_of or utcnow(clock)
    left_out: Counter[Reason] = Counter()
    problems: list[str] = []
    candidates: list[Candidate] = []
    scope = scope_to_read(access, query.scope)
    if scope is not None:
        candidates = list(gather(access, scope, query, at, left_out, problems))
    composed = compose(candidates, settings.MEMORYHUB.context.shares, query.max_tokens)
    left_out.update(composed.left_out)
    is_known = not query.message or problems or any(one.kind in ANSWERS for one in candidates)
    context = context_of(composed, at, left_out, sentence="" if is_known else NOTHING_KNOWN, problems=problems)
    given_note(access, given.AnswerKind.CONTEXT, [given_item(item.source) for item in context.items], context.id)
    return context


def given_item(one: Candidate) -> given.Item:
    """Return what of an item the log of given answers keeps."""
    place = given.Place(one.user_id, one.household_id, one.persona_id)
    if one.path:
        return given.Item(place, given.ItemKind.NOTE, one.id)
    kind = given.ItemKind.EVENT if one.kind is ItemKind.EVENT else given.ItemKind.MEMORY
    return given.Item(place, kind, UUID(one.id))


def context_of(
    composed: Composed, at: datetime, left_out: Counter[Reason], *, sentence: str, problems: Iterable[str]
) -> Context:
    """Return what fits as a context with an id of its own."""
    counted = {reason: left_out[reason] for reason in Reason}
    return Context(uuid4(), at, composed.items, composed.text, composed.tokens, counted, sentence, tuple(problems))


def scope_to_read(access: Access, asked: Scope) -> Scope | None:
    """Return the scope of a context; None where it is outside the bound of the caller, so that nothing is known.

    It names a person, unless the caller sees only a household or a persona, or asks for one.
    """
    scope = access.for_read(asked)
    if scope is None or scope.named():
        return scope
    if settings.MEMORYHUB.default_user:
        return access.for_read(Scope(settings.MEMORYHUB.default_user))
    raise InvalidInputError("Name the user whose context it is.", attr="user_id", code="required")


def gather(
    access: Access,
    scope: Scope,
    query: ContextQuery,
    at: datetime,
    left_out: Counter[Reason],
    problems: list[str],
) -> Iterable[Candidate]:
    """Yield what a context may hold, of each kind the best first. What cannot be read is a problem, and is missing."""
    clock = DeterministicClock(int(at.timestamp() * 1000))
    found: list[Candidate] = []
    if query.message:
        try:
            found = found_candidates(access, scope, query, clock, left_out, problems)
        except UnavailableError as error:
            problems.append(error.detail)
    answers = {one.id for one in found if one.kind is not ItemKind.WISH}
    yield from (one for one in standing_candidates(access, scope, query, at) if one.id not in answers)
    yield from found
    yield from note_candidates(access, scope, query, problems)
    yield from recent_events(access, scope, query, at, problems)


def recent_events(
    access: Access, scope: Scope, query: ContextQuery, at: datetime, problems: list[str]
) -> list[Candidate]:
    """Return what happened in the last days, the newest first."""
    asked = EventQuery(scope=scope, include=query.include, start=at - RECENT, end=query.as_of, top_k=MAX_EVENTS)
    try:
        events = events_query(access, asked).events
    except UnavailableError as error:
        problems.append(error.detail)
        return []
    return [
        Candidate(
            ItemKind.EVENT,
            str(one.uuid),
            one.key.user_id,
            one.content,
            f"Happened lately ({one.event_type}).",
            date=one.timestamp,
            origin=one.origin,
            importance=one.importance,
            household_id=one.key.household_id,
            persona_id=one.key.persona_id,
        )
        for one in events
    ]
