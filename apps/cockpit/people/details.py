"""What each app knows of people, and bars of what was saved for a person, and what happened to them, by week."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.contrib.auth import get_user_model
from django.utils.timezone import localdate, make_aware
from django.utils.translation import gettext

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access, Scope
from apps.core.models import ApiKey
from apps.core.pages.sayings import say
from apps.core.selectors import usable_keys
from apps.episodic.domain.window import EventQuery
from apps.episodic.selectors import events_count, last_events
from apps.notes.selectors import note_counts
from apps.semantic.selectors import PersonFacts, person_facts, saved_by_week

MAX_KEYS = 1_000
WEEKS = 12
# Of the bars, in units of the drawing.
HEIGHT, STEP, WIDTH = 40, 10, 8


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


@dataclass(frozen=True)
class WeekBar:
    """A week. label: for the text beside it. x, y, height: of its bar, as texts in units of the drawing."""

    label: str
    count: int
    x: str
    y: str
    height: str


@dataclass(frozen=True)
class Chart:
    """A row of bars of one scale. problem: why there are none, empty otherwise."""

    title: str
    bars: tuple[WeekBar, ...] = ()
    problem: str = ""

    @property
    def total(self) -> int:
        """Return the sum of all bars."""
        return sum(bar.count for bar in self.bars)


def charts_of(access: Access, user_id: str, today: date | None = None) -> list[Chart]:
    """Return the charts of a person, as far as the caller sees them."""
    monday = (today or localdate()) - timedelta(days=(today or localdate()).weekday())
    weeks = [monday - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    saved = saved_by_week(access, Scope(user_id), start_of(weeks[0]))
    charts = [Chart(gettext("Memories saved"), make_bars({week: saved.get(week, 0) for week in weeks}))]
    try:
        events = {week: count_events(access, user_id, week) for week in weeks}
        charts.append(Chart(gettext("Events by when they happened"), make_bars(events)))
    except MemoryHubError as error:
        charts.append(Chart(gettext("Events by when they happened"), problem=say(str(error.detail))))
    return charts


def count_events(access: Access, user_id: str, week: date) -> int:
    """Return how many events happened to a person in a week."""
    end = start_of(week + timedelta(weeks=1)) - timedelta(microseconds=1)
    return events_count(access, EventQuery(scope=Scope(user_id), start=start_of(week), end=end))


def start_of(day: date) -> datetime:
    """Return the first moment of a day in the admin's time zone."""
    return make_aware(datetime.combine(day, time.min))


def make_bars(counts: dict[date, int]) -> tuple[WeekBar, ...]:
    """Return bars of which the highest fills the drawing."""
    highest = max(counts.values(), default=0) or 1
    bars = []
    for place, (week, count) in enumerate(counts.items()):
        height = max(HEIGHT * count / highest, 1.0) if count else 0.0
        label = gettext("week of %(date)s") % {"date": f"{week:%Y-%m-%d}"}
        bars.append(WeekBar(label, count, f"{place * STEP}", f"{HEIGHT - height:.1f}", f"{height:.1f}"))
    return tuple(bars)
