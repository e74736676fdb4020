"""Durations and points in time as all pages say them: `3 min`, `3 min ago`, `2026-11-23 07:14:02 UTC`."""

from datetime import datetime, timedelta

from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow

MINUTE, HOUR, DAY = 60, 3600, 86_400
MONTH, YEAR = 30.4375 * DAY, 365.25 * DAY


def in_words(duration: timedelta) -> str:
    """Return a duration in its largest units: `40 s`, `3 min`, `2 h 5 min`, `4 days`; a negative one as `0 s`."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < MINUTE:
        return f"{seconds} s"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        minutes = seconds % HOUR // MINUTE
        return f"{seconds // HOUR} h {minutes} min" if minutes else f"{seconds // HOUR} h"
    return days_in_words(seconds // DAY)


def days_in_words(days: int) -> str:
    """Return a number of days: `1 day`, `1,200 days`."""
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": f"{days:,}"}


def in_figures(milliseconds: float) -> str:
    """Return a measured duration in three digits or so: `8.5 ms`, `850 ms`, `12.3 s`; from a minute on in words."""
    if milliseconds < 1_000:
        return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
    if milliseconds < 1_000 * MINUTE:
        return f"{milliseconds / 1_000:,.1f} s"
    return in_words(timedelta(milliseconds=milliseconds))


def roughly(duration: timedelta) -> str:
    """Return a duration in one unit: `40 s`, `3 min`, `2 h`, `4 days`, `5 months`, `2 years`; rounded down."""
    seconds = max(0.0, duration.total_seconds())
    if seconds < HOUR:
        return in_words(duration)
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h"
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
    """Return a point in time to the second with its zone, in the zone of the page: `2026-11-23 07:14:02 UTC`."""
    return date_format(localtime(at), "Y-m-d H:i:s T")


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
