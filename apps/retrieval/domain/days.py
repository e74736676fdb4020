"""The words of a row's date in the time zone of a search, where they are stored for the day of its writer."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.postings import Floats, Slots
from apps.retrieval.domain.rows import RowStore
from apps.retrieval.domain.text.terms import term_hash, terms_of_day

_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
# Two changes of a zone's offset are further apart than that, but for a handful a century ago.
_STEP = timedelta(days=7)
_NUMBER = re.compile(r"\d{4}(?:-\d\d-\d\d)?|\d{1,2}", re.ASCII)


_YEAR = [_EPOCH + timedelta(days=number) for number in range(366)]
_SPOKEN = frozenset(word for day in _YEAR for word in terms_of_day(day) if not word[0].isdigit())


def is_date_word(word: str) -> bool:
    """Return whether an index term may be one of a date: a weekday, a month, a day, a year, or all of it."""
    return word in _SPOKEN or _NUMBER.fullmatch(word) is not None


class DaysOfRows:
    """The days on which the rows of a store happened in a zone."""

    def __init__(self, store: RowStore, zone: tzinfo) -> None:
        self._store, self._zone = store, zone

    @cached_property
    def _days(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Slots]:
        """Return the distinct days since the epoch, which of them each dated row has, and its slot.

        Only the words of a date are not lent, so a row with such words is one whose writer said when it happened.
        """
        counts = self._store.word_counts
        dated = np.flatnonzero(self._store.alive & (counts[:, 0] > counts[:, 1]))
        happened = self._store.happened[dated]
        changes, offsets = offsets_of(self._zone)
        local = happened + offsets[np.searchsorted(changes, happened, side="right")]
        days, which = np.unique(np.floor(local / 86_400).astype(np.int64), return_inverse=True)
        return days, which, dated

    def term_weights(self, word: str) -> Floats:
        """Return `RowStore.term_weights` of a word, in which a date has the words of its day in the zone."""
        store = self._store
        slots, counts = store.postings.of(term_hash(word))
        living = store.alive[slots]
        # What is lent is what the row itself says; the rest are words of its writer's day.
        weights = np.zeros((store.size, 2))
        weights[slots[living]] = counts[living, 1:2]
        days, which, dated = self._days
        if len(dated):
            has_word = np.array([word in words_of_day(number) for number in days.tolist()])
            weights[dated[has_word[which]], 0] += 1
        having = np.flatnonzero(weights[:, 0])
        return store.sessions.spread(having, weights[having])


def words_of_day(number: int) -> tuple[str, ...]:
    """Return the terms of a day since the epoch; none beyond the calendar."""
    try:
        return terms_of_day(_EPOCH + timedelta(days=number))
    except OverflowError:
        return ()


@lru_cache(maxsize=64)
def offsets_of(zone: tzinfo) -> tuple[Floats, Floats]:
    """Return the moments from 1900 to 2100 at which the offset of a zone changes, and the offsets around them.

    Seconds; there is one more offset than moments.
    """
    changes: list[float] = []
    moment, offsets = _FIRST, [_offset(_FIRST, zone)]
    while moment < _LAST:
        following = moment + _STEP
        if _offset(following, zone) != offsets[-1]:
            changes.append(_change_between(moment, following, zone))
            offsets.append(_offset(following, zone))
        moment = following
    return np.array(changes, dtype=np.float64), np.array(offsets, dtype=np.float64)


def _offset(moment: datetime, zone: tzinfo) -> float:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset.total_seconds()


def _change_between(before: datetime, after: datetime, zone: tzinfo) -> float:
    """Return the first second with the offset of `after`, in seconds since the epoch."""
    low, high, wanted = int(before.timestamp()), int(after.timestamp()), _offset(after, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(datetime.fromtimestamp(middle, UTC), zone) == wanted:
            high = middle
        else:
            low = middle
    return float(high)
