"""The keys that reach what is a person's, as their page shows them: what each may do, and its use."""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.admin.bars import SHOWN_DAYS, Bars, recent_days, stacked_bars
from apps.core.db.memberships import names_of_member
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Permission
from apps.core.models import ApiKey
from apps.core.selectors import actors_of, key_list
from apps.semantic.services import learning_actors, learnt_by_day
from apps.webui.person import Person

WEEK_DAYS = 7


def says_what(key: ApiKey, user_id: str) -> str:
    """Return in a sentence what a key may do with what is a person's."""
    if key.permission == Permission.OPERATOR:
        return _("Manages this hub: it reads and writes what the hub knows about everyone, and creates other keys.")
    is_writing = key.permission == Permission.WRITE
    if key.user_id == user_id:
        if part := key.household_id or key.persona_id:
            said = _("Reads and writes your data in %(part)s.") if is_writing else _("Reads your data in %(part)s.")
            return said % {"part": part}
        return _("Reads and writes your data.") if is_writing else _("Reads your data.")
    if user_id in key.reads:
        return _("Reads your data, because it was shared with it.")
    if key.household_id and not key.persona_id:
        said = _("Reads and writes the data of %(household)s.") if is_writing else _("Reads the data of %(household)s.")
        return said % {"household": key.household_id}
    if key.persona_id:
        writes = _("Reads and writes what the persona %(persona)s knows.")
        reads = _("Reads what the persona %(persona)s knows.")
        return (writes if is_writing else reads) % {"persona": key.persona_id}
    if is_writing:
        return _("Reads and writes what the hub knows about everyone.")
    return _("Reads what the hub knows about everyone.")


def says_whom(key: ApiKey, user_id: str) -> str:
    """Return in a sentence whether a key sees more than this person."""
    if key.user_id == user_id and not key.reads:
        return _("It cannot see other people’s data.")
    if key.user_id == user_id:
        return _("It also sees what others shared with it.")
    if key.user_id:
        return _("It belongs to someone else and can see their data, too.")
    if key.household_id or key.persona_id:
        return _("It also sees what belongs to others there.")
    return _("It also sees what belongs to everyone else here.")


def apps_of(person: Person) -> list[dict[str, Any]]:
    """Return the keys that reach what is the person's, those that were used last first; then those that ended."""
    now = utcnow(SYSTEM_CLOCK)
    learnt = learnt_by_day(person.access, now - timedelta(days=SHOWN_DAYS))
    apps = []
    for key in sorted(
        reaching_keys(person), key=lambda key: (ended(key, now), -(key.last_used_at or key.created_at).timestamp())
    ):
        by_day: Counter[date] = sum((learnt.get(actor, Counter()) for actor in actors_of(key)), Counter())
        week = now.date() - timedelta(days=WEEK_DAYS)
        app = {
            "key": key,
            "what": says_what(key, person.user_id),
            "whom": says_whom(key, person.user_id),
            "learnt": sum(count for day, count in by_day.items() if day > week),
            "bars": bars_of(person, key, by_day, now.date()),
            "is_stopped": person.user_id in key.stopped_by,
            "has_ended": ended(key, now),
        }
        apps.append(app)
    return apps


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


def bars_of(person: Person, key: ApiKey, learnt: Counter[date], today: date) -> Bars:
    """Return the use of a key that is the person's own by days; of any other what it learnt of them.

    How often others use a shared key is nothing that a person is to know.
    """
    if key.user_id == person.user_id:
        used = Counter({one.day: one.used for one in getattr(key, "recent_days", ())})
        total = sum(used.values())
        said = ngettext("Used once in %(days)s days", "Used %(count)s times in %(days)s days", total)
    else:
        used, total = learnt, sum(learnt.values())
        said = ngettext(
            "Learnt one thing about you in %(days)s days", "Learnt %(count)s things about you in %(days)s days", total
        )
    days = [today - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]
    columns = [(f"{day}: {used[day]}", ((used[day], "good"),)) for day in days]
    return stacked_bars(columns, said % {"count": total, "days": SHOWN_DAYS})
