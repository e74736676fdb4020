"""Who belonged to a household or persona before the hub asked: a review of what is there (DESIGN D24).

Whatever is written now makes its tie or needs one (`core.db.memberships`). What was written before has neither, and
events that are in files alone say so only once their index is loaded. Each tie of which nothing is known is looked at
once: what an operator, a household's own key or an import wrote makes a member; what only an application of the user
itself can have written is foreign, unless nobody else is there.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from django.db import transaction

from apps.accounts.selectors import account_scopes
from apps.core.db.memberships import ties_make
from apps.core.db.user_locks import UserLockedError, hold_users
from apps.core.domain.clock import SYSTEM_CLOCK, Clock, utcnow
from apps.core.domain.errors import UnavailableError
from apps.core.domain.scope import Scope, system_access
from apps.core.models import ApiKey, Membership, MembershipState, tie_of
from apps.core.selectors import KEY_ACTOR
from apps.episodic.selectors import event_parts, row_writers
from apps.semantic.services import memory_scopes, memory_writers

REVIEW_ACTOR = "review"
# Operators. What the hub made itself, such as a memory of an event, says nothing of who belongs where.
OPERATORS = ("admin:", "import", "sample")


class MembershipReview(NamedTuple):
    """How many ties of which nothing was known were looked at, and how many of them are foreign."""

    reviewed: int
    foreign: int


def memberships_review(clock: Clock = SYSTEM_CLOCK) -> MembershipReview:
    """Decide about every user who has something in a household or persona and no tie to it; safe to repeat."""
    there = scopes_there()
    ties = {tie for scope in there for tie in scope.ties()}
    unknown = ties - {tie_of(*row) for row in Membership.objects.values_list("user_id", "household_id", "persona_id")}
    if not unknown:
        return MembershipReview(0, 0)
    writers = writers_by_tie(unknown)
    keys = list(ApiKey.objects.all())
    bounds = [*(key.scope for key in keys), *account_scopes()]
    named = {tie for bound in bounds for tie in bound.ties()}
    alone = alone_there(ties, bounds)
    foreign = {
        tie
        for tie in unknown
        if tie not in named
        and tie not in alone
        and not may_say(keys, tie, writers[tie])
        and could_have_written(keys, tie)
    }
    for state, found in ((MembershipState.MEMBER, unknown - foreign), (MembershipState.FOREIGN, foreign)):
        for tie in sorted(found, key=str):
            keep(tie, state, clock)
    return MembershipReview(len(unknown), len(foreign))


def scopes_there() -> set[Scope]:
    """Return the exact scopes in which there is something, those of files as far as their index is loaded."""
    found = memory_scopes() | row_writers().keys()
    try:
        return found | event_parts(system_access(REVIEW_ACTOR)).keys()
    except UnavailableError:
        return found


def writers_by_tie(ties: Collection[Scope]) -> Mapping[Scope, set[str]]:
    """Return the actors who wrote what users have in households and personas."""
    users = {str(tie.user_id) for tie in ties}
    writers: dict[Scope, set[str]] = defaultdict(set)
    for found in (memory_writers(users), row_writers(users)):
        for scope, actors in found.items():
            for tie in scope.ties():
                writers[tie] |= actors
    return writers


def alone_there(ties: Iterable[Scope], bounds: Iterable[Scope]) -> set[Scope]:
    """Return the ties to what nobody else has anything in, and no key or account is bound to: they reach no one."""
    people: dict[tuple[tuple[str, str], ...], set[Scope]] = defaultdict(set)
    for tie in ties:
        people[tuple(tie.ends().items())].add(tie)
    taken = {end for bound in bounds for end in bound.ends().items()}
    return {tie for (end,), there in people.items() if len(there) == 1 and end not in taken for tie in there}


def may_say(keys: Iterable[ApiKey], tie: Scope, actors: Iterable[str]) -> bool:
    """Return whether one of these actors could say that the user belongs there, as with a key that is not theirs."""
    names = set()
    for actor in actors:
        if actor.startswith(KEY_ACTOR):
            names.add(actor.removeprefix(KEY_ACTOR))
        elif actor.startswith(OPERATORS):
            return True
    named = [key for key in keys if not names.isdisjoint({key.name, *key.former_names})]
    end = tie.ends().items()
    return any(not key.scope.named() or (not key.user_id and key.scope.ends().items() >= end) for key in named)


def could_have_written(keys: Iterable[ApiKey], tie: Scope) -> bool:
    """Return whether there ever was a key that is bound to the user and not to this household or persona."""
    theirs = [key for key in keys if key.user_id == tie.user_id]
    return any(not key.scope.ends().items() >= tie.ends().items() for key in theirs)


@transaction.atomic
def keep(tie: Scope, state: MembershipState, clock: Clock) -> None:
    """Keep what was decided, unless someone said something meanwhile, or the user is being forgotten."""
    try:
        hold_users([str(tie.user_id)])
    except UserLockedError:
        return
    ties_make([tie], made_by=REVIEW_ACTOR, made_at=utcnow(clock), accepts=False, state=state)
