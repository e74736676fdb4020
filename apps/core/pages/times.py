"""Durations and points in time as all pages say them: `3 min`, `3 min ago`, `2026-11-23 07:14:02 UTC`.

Points in time are those of the zone of the page. In UTC, and on pages of operators, they are written as logs have them,
with the zone; on other pages as people write them in the language of the page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name, localtime
from django.utils.translation import gettext, ngettext

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

MINUTE, HOUR, DAY = 60, 3600, 86_400
_AS_LOGS: ContextVar[bool] = ContextVar("times_as_logs", default=False)
MONTH, YEAR = 30.4375 * DAY, 365.25 * DAY


def in_words(duration: timedelta) -> str:
    """Return a duration in its largest units: `40 s`, `3 min`, `2 h 5 min`, `4 days`; a negative one as `0 s`."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < MINUTE:
        return gettext("%(count)s s") % {"count": seconds}
    if seconds < HOUR:
        return gettext("%(count)s min") % {"count": seconds // MINUTE}
    if seconds < DAY:
        hours, minutes = seconds // HOUR, seconds % HOUR // MINUTE
        words = gettext("%(hours)s h %(minutes)s min") if minutes else gettext("%(hours)s h")
        return words % {"hours": hours, "minutes": minutes}
    return days_in_words(seconds // DAY)


def days_in_words(days: int) -> str:
    """Return a number of days: `1 day`, `1,200 days`."""
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": f"{days:,}"}


def in_figures(milliseconds: float) -> str:
    """Return a measured duration in three digits or so: `8.5 ms`, `850 ms`, `12.3 s`; from a minute on in words."""
    if milliseconds < 1_000:
        figure = f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.1f}"
        return gettext("%(count)s ms") % {"count": figure}
    if milliseconds < 1_000 * MINUTE:
        return gettext("%(count)s s") % {"count": f"{milliseconds / 1_000:,.1f}"}
    return in_words(timedelta(milliseconds=milliseconds))


def roughly(duration: timedelta) -> str:
    """Return a duration in one unit: `40 s`, `3 min`, `2 h`, `4 days`, `5 months`, `2 years`; rounded down."""
    seconds = max(0.0, duration.total_seconds())
    if seconds < HOUR:
        return in_words(duration)
    if seconds < DAY:
        return gettext("%(hours)s h") % {"hours": int(seconds // HOUR)}
    if seconds < 2 * MONTH:
        return days_in_words(int(seconds // DAY))
    if seconds < 2 * YEAR:
        months = int(seconds // MONTH)
        return ngettext("%(count)s month", "%(count)s months", months) % {"count": months}
    years = int(seconds // YEAR)
    return ngettext("%(count)s year", "%(count)s years", years) % {"count": years}


def ago(at: datetime, now: datetime) -> str:
    """Return how long before `now` something was: `just now`, `3 min ago`, `5 days ago`."""
    return age(now - at)


def age(duration: timedelta) -> str:
    """Return the same of a duration. What is less than a second old, or to come, is `just now`."""
    if duration < timedelta(seconds=1):
        return gettext("just now")
    return gettext("%(time)s ago") % {"time": roughly(duration)}


def exact(at: datetime) -> str:
    """Return a point in time to the second: `2026-11-23 07:14:02 UTC`; on pages of people as they write it."""
    return date_format(localtime(at), "Y-m-d H:i:s T" if is_as_logs() else "DATETIME_FORMAT")


def to_the_minute(at: datetime) -> str:
    """Return a point in time to the minute: `2026-11-23 07:14 UTC`; on pages of people as they write it."""
    return date_format(localtime(at), "Y-m-d H:i T" if is_as_logs() else "DATETIME_FORMAT")


@contextmanager
def written_as_logs() -> Iterator[None]:
    """Write points in time as logs have them, whatever the zone, until the block ends."""
    token = _AS_LOGS.set(True)
    try:
        yield
    finally:
        _AS_LOGS.reset(token)


def is_as_logs() -> bool:
    """Return whether times are written as logs have them: for operators, and where no zone is known."""
    return _AS_LOGS.get() or get_current_timezone_name() == "UTC"


def time_tag(at: datetime, words: str) -> SafeString:
    """Render words for a point in time, which is shown exactly to who points at them, and said to programs."""
    return format_html('<time datetime="{}" title="{}">{}</time>', localtime(at).isoformat(), exact(at), words)


def moment_tag(at: datetime) -> SafeString:
    """Render a point in time as it is, and how long ago it was to who points at it."""
    words = ago(at, utcnow(SYSTEM_CLOCK))
    return format_html('<time datetime="{}" title="{}">{}</time>', localtime(at).isoformat(), words, exact(at))


def ago_tag(at: datetime, now: datetime | None = None) -> SafeString:
    """Render how long ago something was. now: the moment of the page, instead of the present one."""
    return time_tag(at, ago(at, now or utcnow(SYSTEM_CLOCK)))
