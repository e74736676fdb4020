"""The last 24 hours as 96 squares of 15 minutes: how many problems there were, and how bad they were."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.monitor.services import series_read

SQUARE = timedelta(minutes=15)
SQUARES = 96
MINUTES = SQUARES * 15
WELL, PROBLEMS, CRITICAL = 0, 1, 2
TONES = {WELL: "good", PROBLEMS: "warn", CRITICAL: "bad", None: "none"}
WORDS = {WELL: _("all well"), PROBLEMS: _("problems"), CRITICAL: _("critical problems"), None: _("no samples")}
OPEN_PROBLEMS, CRITICAL_PROBLEMS = "problems_open", "problems_critical"


@dataclass(frozen=True)
class Square:
    """A quarter of an hour. level: WELL to CRITICAL, None without a sample. problems: the most at once."""

    start: datetime
    level: int | None
    problems: int = 0

    @property
    def tone(self) -> str:
        """Return its colour."""
        return TONES[self.level]

    @property
    def words(self) -> str:
        """Return what a tooltip says."""
        values = {
            "start": clock(self.start),
            "end": clock(self.start + SQUARE),
            "state": WORDS[self.level],
            "count": self.problems,
        }
        if self.problems > 1:
            return gettext("%(start)s to %(end)s: %(state)s, %(count)s at once") % values
        return gettext("%(start)s to %(end)s: %(state)s") % values


@dataclass(frozen=True)
class Minute:
    """One sample: how many problems there were, and how many of them were critical; None where none was taken."""

    at: datetime
    problems: float | None
    critical: float | None = None

    @property
    def level(self) -> int | None:
        """Return how bad it was: 0 for no problem, None where nothing was sampled."""
        if self.problems is None:
            return None
        return CRITICAL if self.critical else PROBLEMS if self.problems else WELL


def clock(at: datetime) -> str:
    """Return a time of the day in the admin's time zone."""
    return date_format(localtime(at), "H:i")


def squares(minutes: Iterable[Minute], now: datetime) -> list[Square]:
    """Return the squares of the last 24 hours, the oldest first."""
    first = (now - timedelta(minutes=now.minute % 15, seconds=now.second, microseconds=now.microsecond)) - (
        SQUARES - 1
    ) * SQUARE
    inside: list[list[Minute]] = [[] for _ in range(SQUARES)]
    for minute in minutes:
        number = (minute.at - first) // SQUARE
        if 0 <= number < SQUARES:
            inside[number].append(minute)
    return [
        Square(
            first + number * SQUARE,
            max((level for one in each if (level := one.level) is not None), default=None),
            max((round(one.problems or 0) for one in each), default=0),
        )
        for number, each in enumerate(inside)
    ]


def well_since(minutes: Sequence[Minute]) -> datetime | None:
    """Return when the last problem of the last day had ended; None where there was none or one goes on."""
    bad = [one.at for one in minutes if one.level]
    if not bad:
        return None
    after = [one.at for one in minutes if one.level == 0 and one.at > bad[-1]]
    return min(after, default=None)


def stretches(shown: Sequence[Square]) -> list[tuple[str, str, str]]:
    """Return neighbouring squares of one level as one row: from, until, and what was wrong; the latest first."""
    rows = []
    for level, group in groupby(shown, key=lambda one: one.level):
        each = list(group)
        most = max(one.problems for one in each)
        words = str(WORDS[level])
        if most > 1:
            words = gettext("%(state)s, up to %(count)s at once") % {"state": words, "count": most}
        rows.append((clock(each[0].start), clock(each[-1].start + SQUARE), words))
    return rows[::-1]


def summary(shown: Sequence[Square]) -> str:
    """Return the day in one sentence."""
    known = [one for one in shown if one.level is not None]
    if not known:
        return gettext("No samples in the last 24 hours.")
    bad = sum(1 for one in known if one.level)
    missing = SQUARES - len(known)
    said = gettext("Problems in %(count)s of 96 quarter-hours.") % {"count": bad}
    if not bad:
        said = gettext("No problem in the last 24 hours.")
    if not missing:
        return said
    unknown = gettext("No samples in %(count)s of 96 quarter-hours.") % {"count": missing}
    return f"{said} {unknown}"


def read_minutes(start: datetime, end: datetime) -> list[Minute]:
    """Return the samples of a day, the oldest first."""
    values = series_read([OPEN_PROBLEMS, CRITICAL_PROBLEMS], start, end, MINUTES)
    critical = dict(values[CRITICAL_PROBLEMS])
    return [Minute(at, problems, critical.get(at)) for at, problems in values[OPEN_PROBLEMS]]
