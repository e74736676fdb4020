"""How keys were used lately, as bars."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.db.models import Prefetch
from django.utils.translation import gettext

from apps.core.admin.bars import Bar, Bars
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.models import ApiKey, KeyDay

SHOWN_DAYS = 14
STEP, HEIGHT, LEAST = 8, 28, 3


def recent_days() -> Any:
    """Return what a query of keys prefetches for `use_bars`."""
    since = utcnow(SYSTEM_CLOCK).date() - timedelta(days=SHOWN_DAYS - 1)
    return Prefetch("days", KeyDay.objects.filter(day__gte=since).order_by("day"), to_attr="recent_days")


def use_bars(days: Iterable[KeyDay], today: date) -> Bars:
    """Return uses and, on top of them, refusals of each of the last SHOWN_DAYS days."""
    by_day = {one.day: (one.used, one.refused) for one in days}
    shown = [today - timedelta(days=back) for back in reversed(range(SHOWN_DAYS))]
    figures = [by_day.get(day, (0, 0)) for day in shown]
    highest = max((used + refused for used, refused in figures), default=0) or 1
    bars = []
    for place, (day, (used, refused)) in enumerate(zip(shown, figures, strict=True)):
        title, below = (
            gettext("%(day)s: %(used)s uses, %(refused)s refused")
            % {"day": day, "used": f"{used:,}", "refused": f"{refused:,}"},
            0,
        )
        for count, tone in ((used, "good"), (refused, "bad")):
            if count:
                height = min(max(LEAST, round(HEIGHT * count / highest)), HEIGHT - below)
                bars.append(Bar(place * STEP, HEIGHT - below - height, height, tone, title, STEP - 2))
                below += height
    return Bars(tuple(bars), SHOWN_DAYS * STEP, HEIGHT, says(figures))


def says(figures: Iterable[tuple[int, int]]) -> str:
    """Return uses and refusals in words."""
    counts = list(figures)
    used, refused = sum(used for used, _ in counts), sum(refused for _, refused in counts)
    words = gettext("Used %(used)s times in %(days)s days, refused %(refused)s times")
    return words % {"used": f"{used:,}", "days": SHOWN_DAYS, "refused": f"{refused:,}"}


def key_bars(key: ApiKey) -> Bars:
    """Return the use of a key, of a query with `recent_days` or alone."""
    days = getattr(key, "recent_days", None)
    today = utcnow(SYSTEM_CLOCK).date()
    if days is None:
        days = key.days.filter(day__gt=today - timedelta(days=SHOWN_DAYS))
    return use_bars(days, today)
