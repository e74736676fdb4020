"""What each app knows of people, for pages of several of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import get_user_model

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, Scope
from apps.core.models import ApiKey
from apps.core.selectors import usable_keys
from apps.episodic.selectors import last_events
from apps.notes.selectors import note_counts
from apps.semantic.selectors import PersonFacts, person_facts

MAX_KEYS = 1_000


@dataclass(frozen=True)
class PersonDetails:
    """What is known of a person besides their figures.

    keys: those that can read something of them; None where the caller may not know. last_seen_at: when the last memory
    was saved or the last event happened. has_account: whether an account signs in with a bound to this person.
    """

    facts: PersonFacts
    notes: int
    last_seen_at: datetime | None
    keys: tuple[ApiKey, ...] | None
    has_account: bool


def person_details(access: Access, users: Sequence[str], *, with_keys: bool) -> dict[str, PersonDetails]:
    """Return the details of some people, in a fixed number of statements. with_keys: the caller may know the keys."""
    facts, notes, events = person_facts(access, users), note_counts(access, users), last_events(access, users)
    keys = list(usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")[:MAX_KEYS]) if with_keys else None
    accounts = set(
        get_user_model()
        .objects.filter(account__user_id__in=users, is_active=True)
        .values_list("account__user_id", flat=True)
    )
    return {
        user: PersonDetails(
            facts=facts[user],
            notes=notes.get(user, 0),
            last_seen_at=max(filter(None, (facts[user].last_saved_at, events.get(user))), default=None),
            keys=None if keys is None else tuple(keys_reading(keys, user, facts[user].households)),
            has_account=user in accounts,
        )
        for user in users
    }


def keys_reading(keys: Iterable[ApiKey], user: str, households: Collection[str]) -> Iterable[ApiKey]:
    """Yield the keys that can read something of a person: by no bound, theirs, that of a household, or a grant."""
    for key in keys:
        bound = key.scope
        is_in_bound = bound.intersect(Scope(user)) is not None
        is_in_household = bound.household_id is None or bound.household_id in households
        if user in key.reads or (is_in_bound and is_in_household):
            yield key
