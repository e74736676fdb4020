"""Which times a question names (docs/explain/retrieval.md)."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import NamedTuple

from apps.core.domain.zones import start_of
from apps.retrieval.domain.text.normal import nfkc
from apps.retrieval.domain.text.scripts import fold_script
from apps.retrieval.domain.times import chinese, english
from apps.retrieval.domain.times.spans import FIRST, LAST, Moment, Reading, Span, date_of, span_of

# A question is short and names few times: what comes later in a long text, and many dates, say little about it.
MAX_CHARS, MAX_TIMES = 2_000, 8
# So far back a word before a time may begin that changes what it means.
_BEFORE = 40


class NamedTime(NamedTuple):
    """A time that a question names: from `start` to before `end`, in UTC, None where it is open. words: its name."""

    start: datetime | None
    end: datetime | None
    words: str


def read_times(text: str, asked_at: datetime, zone: tzinfo) -> tuple[NamedTime, ...]:
    """Return the times that a text names when it is asked at a moment in a zone. Accepts any text and never raises.

    A name such as "in May" or "on Friday" stands for the last one and the next. What no calendar has is left out.
    """
    text = nfkc(text[:MAX_CHARS])[:MAX_CHARS].replace("’", "'")
    folded = fold_script(text).lower()
    if len(folded) != len(text):  # a few letters become two when they are small
        text = folded
    moment = min(max(asked_at, FIRST.replace(tzinfo=UTC)), LAST.replace(tzinfo=UTC))
    asked = Moment(moment.astimezone(zone).replace(tzinfo=None))
    named: list[NamedTime] = []
    for reading in _readings(folded, asked):
        words = text[reading.begin : reading.end].strip()
        for span in reading.spans:
            start = None if span.start == FIRST else start_of(span.start, zone)
            named.append(NamedTime(start, None if span.end == LAST else start_of(span.end, zone), words))
    return tuple(named)


def _readings(text: str, asked: Moment) -> list[Reading]:
    """Return what a folded text names, in its order."""
    readings: list[Reading] = []
    for one in _find(text, asked):
        before = text[max(0, one.begin - _BEFORE) : one.begin]
        if readings and (joined := _join(readings[-1], one, text)):
            readings[-1] = joined
            continue
        narrowed = _narrow(one, text, before, asked)
        if readings and narrowed.begin < readings[-1].end:  # "the last week of June"
            readings.pop()
        if narrowed.spans:
            readings.append(narrowed)
    return readings


def _find(text: str, asked: Moment) -> list[Reading]:
    """Return the times that stand in a text by themselves, in its order; of overlapping ones the surest."""
    found: list[Reading] = []
    for begin, end, spans in chain(english.find_english(text, asked), chinese.find_chinese(text, asked)):
        if len(found) == MAX_TIMES:
            break
        if all(end <= one.begin or one.end <= begin for one in found):
            found.append(Reading(tuple(span for span in spans if span is not None), begin, end))
    return sorted(found, key=lambda one: one.begin)


def _join(first: Reading, second: Reading, text: str) -> Reading | None:
    """Return the time from one to another, where a text says so."""
    if not first.spans or not second.spans:
        return None
    between, before = text[first.end : second.begin], text[max(0, first.begin - _BEFORE) : first.begin]
    is_english = (to := english.TO.fullmatch(between)) and (not to["and"] or english.BETWEEN.search(before))
    if not is_english and not chinese.TO.fullmatch(between):
        return None
    spans = tuple(span for end in second.spans if (span := _until(first.spans, end)))
    return Reading(spans, first.begin, second.end) if spans else None


def _until(starts: Sequence[Span], end: Span) -> Span | None:
    """Return the span up to the end of another one from the only start, or from the nearest one of a yearly start."""
    if len(starts) == 1:
        return span_of(starts[0].start, end.end)
    first = starts[0].start
    dates = [*starts, *(date_of(year, first.month, first.day) for year in (end.start.year, end.start.year - 1))]
    start = max((date.start for date in dates if date is not None and date.start <= end.start), default=None)
    return span_of(start, end.end)


def _narrow(one: Reading, text: str, before: str, asked: Moment) -> Reading:
    """Return a time as the words around it change it: "the end of", "two weeks before", 之前."""
    spans: list[Span | None] = []
    begin, end = one.begin, one.end
    for span in one.spans:
        if changed := english.narrow_english(span, before, asked):
            begin = one.begin - changed[1]
        elif changed := chinese.narrow_chinese(span, text, one.end, asked):
            end = changed[1]
        spans.append(changed[0] if changed else span)
        if changed and changed[0] and (changed[0].start == FIRST or changed[0].end in (LAST, asked.now)):
            break  # without an end the second one would hold everything
    return Reading(tuple(span for span in spans if span), begin, end)
