"""The time that a page of days is about: all, a year, a month or a day, as its address says."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from django.http import Http404
from django.utils.formats import date_format
from django.utils.timezone import get_current_timezone, localdate
from django.utils.translation import gettext as _

from apps.episodic.domain.histogram import days_window
from apps.episodic.domain.window import Window

ALL = "all"
ADDRESS = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
# Years beyond are no one's days; times near the ends of the calendar have no midnight in every zone.
FIRST_YEAR, LAST_YEAR = 1900, 2200


@dataclass(frozen=True)
class Span:
    """Days from the first to the last, both included. address: `all`, `2026`, `2026-11` or `2026-11-23`."""

    address: str
    first: date
    last: date

    @property
    def is_all(self) -> bool:
        """Return whether it is all of time."""
        return self.address == ALL

    @property
    def is_day(self) -> bool:
        """Return whether it is one day."""
        return self.first == self.last

    @property
    def is_month(self) -> bool:
        """Return whether it is one month."""
        return self.address.count("-") == 1

    @property
    def window(self) -> Window:
        """Return its first and its last moment in the person's time zone."""
        return Window() if self.is_all else days_window(self.first, self.last, get_current_timezone())

    @property
    def title(self) -> str:
        """Return what it is called."""
        if self.is_all:
            return _("All your days")
        if self.is_day:
            return date_format(self.first, "DATE_FORMAT")
        return date_format(self.first, "YEAR_MONTH_FORMAT") if self.is_month else str(self.first.year)


def day_span(day: date) -> Span:
    """Return the span of one day."""
    return Span(day.isoformat(), day, day)


def year_span(year: int) -> Span:
    """Return the span of a year."""
    return Span(f"{year:04}", date(year, 1, 1), date(year, 12, 31))


def this_year() -> Span:
    """Return the span of the present year, where the person is."""
    return year_span(localdate().year)


def span_or_404(address: str) -> Span:
    """Return the span that an address names. Raises Http404."""
    if address == ALL:
        return Span(ALL, date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
    found = ADDRESS.fullmatch(address)
    if found is None or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
        raise Http404
    year, month, day = (int(one) if one else None for one in found.groups())
    assert year is not None
    try:
        if month is None:
            return year_span(year)
        if day is None:
            return Span(address, date(year, month, 1), date(year, month, monthrange(year, month)[1]))
        return day_span(date(year, month, day))
    except ValueError:
        raise Http404 from None
