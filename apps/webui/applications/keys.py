"""The keys that reach what is a person's, as their page shows them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.http import Http404
from django.utils.translation import ngettext

from apps.core.admin.bars import Bar, Bars
from apps.core.admin.key_use import HEIGHT, LEAST, SHOWN_DAYS, STEP, recent_days
from apps.core.db.memberships import names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.models import ApiKey
from apps.core.selectors import actors_of, key_list
from apps.semantic.services import learning_actors, learnt_by_day
from apps.webui.applications.words import says_what, says_whom
from apps.webui.person import Person

WEEK_DAYS = 7


@dataclass(frozen=True)
class App:
    """A key as a person sees it. what, whom: sentences. learnt: memories of this week. has_ended: it works no more."""

    key: ApiKey
    what: str
    whom: str
    learnt: int
    bars: Bars
    is_stopped: bool
    has_ended: bool


def apps_of(person: Person) -> list[App]:
    """Return the keys that reach what is the person's, those that were used last first; then those that ended."""
    now = utcnow(SYSTEM_CLOCK)
    learnt = learnt_by_day(person.access, now - timedelta(days=SHOWN_DAYS))
    found = [app_of(person, key, learnt, now) for key in reaching_keys(person)]
    return sorted(found, key=lambda app: (app.has_ended, -(app.key.last_used_at or app.key.created_at).timestamp()))


def reaching_keys(person: Person) -> list[ApiKey]:
    """Return the keys that reach what is the person's, and ended ones that wrote of it."""
    homes, personas = (names_of_member(person.user_id, name) for name in ("household_id", "persona_id"))
    writers, now = learning_actors(person.access), utcnow(SYSTEM_CLOCK)

    def reaches(key: ApiKey) -> bool:
        if ended(key, now):
            return may_reach(key) and not writers.isdisjoint(actors_of(key))
        return may_reach(key)

    def may_reach(key: ApiKey) -> bool:
        if person.user_id in (*key.reads, *key.stopped_by):
            return True
        is_there = (not key.household_id or key.household_id in homes) and (
            not key.persona_id or key.persona_id in personas
        )
        return key.user_id == person.user_id or (not key.user_id and is_there)

    return [key for key in key_list().prefetch_related(recent_days()) if reaches(key)]


def ended(key: ApiKey, now: datetime) -> bool:
    """Return whether a key was revoked or has expired."""
    return key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now)


def key_or_404(person: Person, uuid: UUID) -> ApiKey:
    """Return a key that reaches what is the person's. Raises Http404."""
    found = next((key for key in reaching_keys(person) if key.uuid == uuid), None)
    if found is None:
        raise Http404
    return found


def app_of(person: Person, key: ApiKey, learnt: dict[str, Counter[date]], now: datetime) -> App:
    """Return a key as its page shows it. learnt: memories by actor and day."""
    by_day: Counter[date] = sum((learnt.get(actor, Counter()) for actor in actors_of(key)), Counter())
    week = sum(count for day, count in by_day.items() if day > now.date() - timedelta(days=WEEK_DAYS))
    return App(
        key=key,
        what=says_what(key, person.user_id),
        whom=says_whom(key, person.user_id),
        learnt=week,
        bars=bars_of(person, key, by_day, now.date()),
        is_stopped=person.user_id in key.stopped_by,
        has_ended=ended(key, now),
    )


def bars_of(person: Person, key: ApiKey, learnt: Counter[date], today: date) -> Bars:
    """Return the use of a key that is the person's own by days; of any other what it learnt of them.

    How often others use a shared key is nothing that a person is to know.
    """
    if key.user_id == person.user_id:
        used = Counter({one.day: one.used for one in getattr(key, "recent_days", ())})
        return day_bars(used, today, says_used(sum(used.values())))
    return day_bars(learnt, today, says_learnt(sum(learnt.values())))


def says_used(count: int) -> str:
    """Return how often a key was used in the days of the picture."""
    named = {"count": count, "days": SHOWN_DAYS}
    return ngettext("Used once in %(days)s days", "Used %(count)s times in %(days)s days", count) % named


def says_learnt(count: int) -> str:
    """Return how much a key learnt of the person in the days of the picture."""
    named = {"count": count, "days": SHOWN_DAYS}
    return (
        ngettext(
            "Learnt one thing about you in %(days)s days", "Learnt %(count)s things about you in %(days)s days", count
        )
        % named
    )


def day_bars(counts: Counter[date], today: date, says: str) -> Bars:
    """Return counts of the last SHOWN_DAYS days as bars."""
    days = [today - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]
    highest = max((counts[day] for day in days), default=0) or 1
    return Bars(tuple(bars_at(days, counts, highest)), SHOWN_DAYS * STEP, HEIGHT, says)


def bars_at(days: list[date], counts: Counter[date], highest: int) -> Iterable[Bar]:
    """Yield a bar for each day that has a count."""
    for place, day in enumerate(days):
        if count := counts[day]:
            height = max(LEAST, round(HEIGHT * count / highest))
            yield Bar(place * STEP, HEIGHT - height, height, "good", f"{day}: {count}", STEP - 2)
