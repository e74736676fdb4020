"""Small pictures of what happened lately, as bars, such as the use of keys; each says in words what it shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Prefetch
from django.template.loader import render_to_string
from django.utils.translation import gettext

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.models import ApiKey, KeyDay

# Of a picture of days.
STEP, HEIGHT, LEAST = 8, 28, 3
SHOWN_DAYS = 14


@dataclass(frozen=True)
class Bar:
    """A bar of a picture. x, y, height, width: in its own units. tone: good, bad, or quiet. title: for the mouse."""

    x: int
    y: int
    height: int
    tone: str
    title: str
    width: int = 4


@dataclass(frozen=True)
class Bars:
    """A picture of bars. says: its contents in words, for those who do not see it."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    says: str

    def render(self) -> str:
        """Render the picture."""
        return render_to_string("admin/bars.html", {"bars": self})


def stacked_bars(columns: Iterable[tuple[str, Sequence[tuple[int, str]]]], says: str) -> Bars:
    """Return a column of bars for each day: its title, and counts with their tones, from the bottom up."""
    shown = list(columns)
    highest = max((sum(count for count, _tone in parts) for _title, parts in shown), default=0) or 1
    bars = []
    for place, (title, parts) in enumerate(shown):
        below = 0
        for count, tone in parts:
            if count:
                height = min(max(LEAST, round(HEIGHT * count / highest)), HEIGHT - below)
                bars.append(Bar(place * STEP, HEIGHT - below - height, height, tone, title, STEP - 2))
                below += height
    return Bars(tuple(bars), len(shown) * STEP, HEIGHT, says)


def recent_days() -> Any:
    """Return what a query of keys prefetches for `key_bars`."""
    since = utcnow(SYSTEM_CLOCK).date() - timedelta(days=SHOWN_DAYS - 1)
    return Prefetch("days", KeyDay.objects.filter(day__gte=since).order_by("day"), to_attr="recent_days")


def key_bars(key: ApiKey) -> Bars:
    """Return the uses of a key and, on top of them, its refusals; of a query with `recent_days` or alone."""
    days = getattr(key, "recent_days", None)
    today = utcnow(SYSTEM_CLOCK).date()
    if days is None:
        days = key.days.filter(day__gt=today - timedelta(days=SHOWN_DAYS))
    by_day = {one.day: (one.used, one.refused) for one in days}
    columns = []
    for day in (today - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))):
        used, refused = by_day.get(day, (0, 0))
        named = {"day": day, "used": f"{used:,}", "refused": f"{refused:,}"}
        title = gettext("%(day)s: %(used)s uses, %(refused)s refused") % named
        columns.append((title, ((used, "good"), (refused, "bad"))))
    used, refused = (sum(parts[place][0] for _title, parts in columns) for place in (0, 1))
    words = gettext("Used %(used)s times in %(days)s days, refused %(refused)s times")
    return stacked_bars(columns, words % {"used": f"{used:,}", "days": SHOWN_DAYS, "refused": f"{refused:,}"})
