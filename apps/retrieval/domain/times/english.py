"""Times as English names them. Texts are in small letters."""

import re
from collections.abc import Iterator, Sequence

from apps.retrieval.domain.times.spans import (
    DAYS,
    FIRST,
    LAST,
    SEASONS,
    Moment,
    Reader,
    Span,
    Turn,
    around,
    date_of,
    group_of,
    hours_of,
    months,
    moved,
    share_of,
    span_of,
)

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "several": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "half": 0.5,
}  # fmt: skip
_TURNS = {
    "last": Turn.LAST, "past": Turn.LAST, "previous": Turn.LAST, "this": Turn.THIS, "current": Turn.THIS,
    "next": Turn.NEXT, "coming": Turn.NEXT, "upcoming": Turn.NEXT,
}  # fmt: skip
# Month and day, and how many days. Easter is between 22 March and 25 April, Thanksgiving on a Thursday.
_HOLIDAYS = {
    "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "christmas": (12, 24, 3), "xmas": (12, 24, 3),
    "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1), "new year's": (12, 31, 2), "new year": (12, 31, 2),
    "halloween": (10, 31, 1), "valentine's day": (2, 14, 1), "valentine's": (2, 14, 1), "thanksgiving": (11, 22, 7),
    "easter": (3, 22, 35),
}  # fmt: skip
_RELATIVE_DAYS = {
    "the day before yesterday": -2, "yesterday": -1, "last": -1, "today": 0, "tonight": 0, "this": 0, "tomorrow": 1,
    "the day after tomorrow": 2,
}  # fmt: skip
_PARTS_OF_SPAN = {"early": (0, 1 / 3), "begin": (0, 1 / 3), "start": (0, 1 / 3), "mid": (1 / 3, 2 / 3)}
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3}

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_LAST_MONTH = _MONTH.replace("month", "last")
_AD = r"(?P<year>(?:1\d|20)\d\d)\b(?![%,.:/-]\d)"
_YEAR = rf"(?:{_AD}|(?P<near>last|this|next) year)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: ?(?:-|–|to|and|until|through) ?(?P<until>\d{1,2})(?:st|nd|rd|th)?)?"
_NUMBER = rf"(?P<number>\d{{1,9}}|(?:a )?couple(?: of)?|(?:a )?few|half an?|an?|{'|'.join(_NUMBERS)})"
_UNIT = r"(?P<unit>minute|hour|day|week(?:end)?|month|quarter|year|decade)s?\b"
_TURN = rf"(?P<turn>{'|'.join(_TURNS)})"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_PART = r"(?P<part>morning|afternoon|evening|night)\b"
# After these a word is a time: "may" is a verb, "april" a name, "2021" a number.
_IN = "in|during|since|until|till|around|through|throughout|before|after|of|early|late|mid|back in|end of"
_LEAD = rf"(?P<lead>\b(?:{_IN})[ -])"
_YEAR_LEAD = rf"(?P<lead>\b(?:{_IN}|by|from|between|and|to|over|for|the year|year)[ -])"
_SURE_MONTH = r"(?P<month>january|february|july|september|october|november|december)\b"


def _number(text: str) -> float:
    if text.isdigit():
        return float(text)
    return _NUMBERS[next((word for word in text.split() if word not in ("a", "an", "the", "")), "one")]


def _year(found: re.Match[str], asked: Moment) -> int | None:
    if near := group_of(found, "near"):
        return asked.now.year + _TURNS[near]
    year = group_of(found, "year")
    return int(year) if year else None


def _month_of(found: re.Match[str], group: str = "month") -> int:
    return next(place for place, name in enumerate(_MONTHS, 1) if name.startswith(found[group][:3]))


def _date(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month, day, until = _month_of(found), int(found["day"]), group_of(found, "until")
    count = max(1, int(until) - day + 1) if until else 1
    return asked.each_year(lambda year: date_of(year, month, day, count), _year(found, asked))


def _numeric(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    year, month, day = int(found["year"]), int(found["month"]), group_of(found, "day")
    if not day:
        return [months(year, month) if 1 <= month <= 12 else None]
    return [date_of(year, month, int(day))]


def _either_way(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    """Return 5/8/2023, which is in May or in August."""
    one, other = int(found["one"]), int(found["other"])
    return [date_of(int(found["year"]), *date) for date in sorted({(one, other), (other, one)})]


def _month(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month = _month_of(found)
    return asked.each_year(lambda year: months(year, month), _year(found, asked), _TURNS.get(group_of(found, "turn")))


def _some_months(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    first, last = _month_of(found), _month_of(found, "last")
    return asked.each_year(lambda year: months(year, first, (last - first) % 12 + 1), _year(found, asked))


def _season(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month = SEASONS.get(found["season"], SEASONS["autumn"])
    return asked.each_year(
        lambda year: months(year, month, 3), _year(found, asked), _TURNS.get(group_of(found, "turn"))
    )


def _holiday(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    date = _HOLIDAYS[found["holiday"]]
    return asked.each_year(lambda year: date_of(year, *date), _year(found, asked), _TURNS.get(group_of(found, "turn")))


def _ago(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    number = _number(found["number"]) + (0.5 if group_of(found, "half") or group_of(found, "more") else 0)
    return [asked.ago(number if found["way"] in ("ago", "back") else -number, found["unit"])]


def _nights_ago(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return [hours_of(asked.ago(_number(group_of(found, "number")) if group_of(found, "number") else 2, "day"), "night")]


def _recent(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    if not group_of(found, "number") and (_TURNS[found["turn"]] is Turn.THIS or found["unit"] == "weekend"):
        return _whole(found, asked)
    number = _number(group_of(found, "number"))
    return [asked.recent(-number if _TURNS[found["turn"]] is Turn.NEXT else number, found["unit"])]


def _whole(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return [asked.whole(found["unit"], _TURNS[found["turn"]])]


def _weekend(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return asked.choose([asked.whole("weekend", step) for step in (-1, 0)])


def _day(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    span = asked.whole("day", _RELATIVE_DAYS[found["day"]])
    return [hours_of(span, "evening" if found["day"] == "tonight" else group_of(found, "part"))]


def _weekday(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    days = asked.weekdays(_WEEKDAYS.index(found["weekday"]), _TURNS.get(group_of(found, "turn")))
    return [hours_of(day, group_of(found, "part")) for day in days]


def _quarter(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    first = 3 * int(found["quarter"]) - 2
    return asked.each_year(lambda year: months(year, first, 3), _year(found, asked))


def _day_of_month(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    year, month, day = asked.now.year, asked.now.month, int(found["day"])
    near = [divmod(year * 12 + month - 1 + step, 12) for step in (-2, -1, 0, 1, 2)]
    return asked.choose([date_of(year, month + 1, day) for year, month in near])


def _present(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return [asked.whole(found["unit"], step) for step in (0, -1)]


def _years(found: re.Match[str], _asked: Moment) -> Sequence[Span | None]:
    return [months(int(found["year"]), 1, 120 if group_of(found, "decade") else 12)]


_READERS: list[tuple[re.Pattern[str], Reader]] = [
    (re.compile(pattern, re.ASCII), reader)
    for pattern, reader in (
        (r"\b(?P<year>(?:1\d|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?![\d/-])", _numeric),
        (r"\b(?P<year>(?:1\d|20)\d\d)-(?P<month>\d\d)(?![\d/-])", _numeric),
        (r"\b(?P<one>\d{1,2})/(?P<other>\d{1,2})/(?P<year>(?:1\d|20)\d\d)(?!\d)", _either_way),
        (r"\b(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>(?:1\d|20)\d\d)(?!\d)", _numeric),
        (rf"\b{_DAY}(?: of)? {_MONTH}(?:,? ?{_YEAR})?", _date),
        (rf"\b{_MONTH} (?:the )?{_DAY}\b(?!:\d)(?:,? ?{_YEAR})?", _date),
        (rf"\b(?:from|between) {_MONTH} (?:to|and|until|through) {_LAST_MONTH}(?:,?(?: of)? {_YEAR})?", _some_months),
        (rf"\b{_MONTH},?(?: of)? {_YEAR}", _month),
        (rf"\b{_SEASON},?(?: of)? {_YEAR}", _season),
        (rf"\b(?!this may){_TURN} {_MONTH}", _month),
        (rf"\b{_TURN} {_SEASON}", _season),
        (rf"(?P<lead>\b(?:in|over|during|since|before|after|until|of) the ){_SEASON}(?! of)", _season),
        (rf"\b(?:{_TURN} )?(?P<holiday>{'|'.join(_HOLIDAYS)})\b(?:,?(?: of)? {_YEAR})?", _holiday),
        (rf"\b{_NUMBER}(?P<half> and a half)? {_UNIT}(?P<more> and a half)? (?P<way>ago|back|from now)\b", _ago),
        (rf"\b{_NUMBER} nights? ago\b|\bthe night before last\b", _nights_ago),
        (rf"\bin {_NUMBER} {_UNIT}'?(?P<way>) time\b", _ago),
        (r"\b(?:the )?(?P<unit>week(?:end)?|month|year) before last\b",
         lambda found, asked: [asked.whole(found["unit"], -2)]),
        (rf"\bthe {_TURN} (?:{_NUMBER} )?{_UNIT}", _recent),
        (rf"\b(?:over|during|within|for) {_TURN} {_NUMBER} {_UNIT}", _recent),
        (rf"\b{_TURN} (?P<unit>week(?:end)?|month|quarter|year|decade)\b", _whole),
        (r"\b(?:over|on|at|during) the weekend\b(?! (?:before|after|of)\b)", _weekend),
        (rf"\b(?P<day>the day (?:before yesterday|after tomorrow)|yesterday|today|tonight|tomorrow)\b(?: {_PART})?",
         _day),
        (rf"\b(?P<day>last|this) {_PART}", _day),
        (rf"\b(?:{_TURN} )?{_WEEKDAY}(?: {_PART})?", _weekday),
        (r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of)(?![ -]\w+day)", _day_of_month),
        (r"(?P<lead>\b(?:beginning|start|middle|end) of )the (?P<unit>week|month|year)\b", _present),
        (rf"\bq(?P<quarter>[1-4])\b(?:,?(?: of)? {_YEAR})?", _quarter),
        (rf"{_YEAR_LEAD}{_AD}(?! ?(?:{'|'.join(DAYS)}|dollar|euro|people|step|word|page|mile|km)s?\b)", _years),
        (r"\bthe (?P<year>(?:1\d|20)\d0)'?(?P<decade>s)\b", _years),
        (rf"{_LEAD}{_MONTH}", _month),
        (rf"\b{_SURE_MONTH}", _month),
    )
]  # fmt: skip
# What comes again and again is no time.
_RECURRING = re.compile(r"\b(?:every|each|any|most|all|some|usual|favou?rite|other)(?: \w+)? $", re.ASCII)
_HINT = re.compile(
    r"[12]\d{3}|\d(?:st|nd|rd|th)\b|\bq[1-4]\b|days?\b|tonight|\bago\b|\bback\b|\bearlier\b|\bnow\b|\btime\b|night|morning|afternoon|evening|summer|winter"
    r"|spring|autumn|\bfall\b|week|month|quarter|year|decade|hour|minute|mas\b|christmas|halloween|valentine|thanksgiving|easter"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.ASCII,
)


def find_english(text: str, asked: Moment) -> Iterator[tuple[int, int, Sequence[Span | None]]]:
    """Yield where a text names a time, and the spans that may be meant; the surest first, and they may overlap."""
    if not _HINT.search(text):
        return
    for pattern, reader in _READERS:
        for found in pattern.finditer(text):
            begin = found.end("lead") if "lead" in pattern.groupindex else found.start()
            if not _RECURRING.search(text, max(0, begin - 24), begin):
                yield begin, found.end(), reader(found, asked)


# What stands before a time and narrows it or turns it into another one.
_PART_BEFORE = re.compile(r"\b(?P<part>early|late|mid|(?:beginning|start|middle|end) of|ending)[ -](?:in )?(?:the )?$")
_PLACE_BEFORE = re.compile(
    rf"\b(?P<place>{'|'.join(_PLACES)}|last) (?P<unit>week|weekend|half|quarter|days) (?:of|in) (?:the )?$"
)
_OFFSET_BEFORE = re.compile(rf"\b(?:the|{_NUMBER}) {_UNIT} (?P<way>before|after|of|following) (?:the )?$")
_UNTIL_BEFORE = re.compile(r"\b(?:before|until|till|prior to|up to) (?:the )?$")
_SINCE_BEFORE = re.compile(r"\b(?P<way>since|after|following) (?:the )?$")
BETWEEN = re.compile(r"\b(?:between|from) (?:the )?$")
TO = re.compile(r" ?(?:(?P<and>and|to)|until|till|through|-|–) ?(?:the )?", re.ASCII)


def narrow_english(span: Span, before: str, asked: Moment) -> tuple[Span | None, int] | None:
    """Return the span that is meant with the words before a time, and how many characters of them; None for no such."""
    if found := _PART_BEFORE.search(before):
        part = found["part"]
        shares = next((shares for word, shares in _PARTS_OF_SPAN.items() if part.startswith(word)), (2 / 3, 1))
        narrowed: Span | None = share_of(span, *shares)
    elif found := _PLACE_BEFORE.search(before):
        narrowed = _place_of(span, found["place"], found["unit"])
    elif found := _OFFSET_BEFORE.search(before):
        narrowed = _offset_from(span, group_of(found, "number"), found["unit"], found["way"])
    elif found := _UNTIL_BEFORE.search(before):
        narrowed = span_of(FIRST, span.start)
    elif found := _SINCE_BEFORE.search(before):
        is_since = found["way"] == "since"
        last = asked.now if is_since and span.start < asked.now else LAST
        narrowed = span_of(span.start if is_since else span.end, last)
    else:
        return None
    return narrowed, len(before) - found.start()


def _place_of(span: Span, place: str, unit: str) -> Span | None:
    """Return the first week of a span, its last half, its first days."""
    length = (span.end - span.start).days
    days = {"half": length / 2, "quarter": length / 4, "days": 4}.get(unit, 7)
    if place == "last":
        return span_of(moved(span.end, -days), span.end)
    start = moved(span.start, _PLACES[place] * days)
    return span_of(start, moved(start, days))


def _offset_from(span: Span, number: str, unit: str, way: str) -> Span | None:
    """Return the span that lies so many units before or after another one, or the one around it."""
    days = DAYS[unit]
    if way == "of":
        return around(span.start + (span.end - span.start) / 2, days)
    sign, edge = (-1, span.start) if way == "before" else (1, span.end)
    if not number or _number(number) == 1:
        other = moved(edge, sign * days)
        return None if other is None else span_of(min(edge, other), max(edge, other))
    middle = moved(edge, sign * _number(number) * days)
    return around(middle, max(days, 1.0))
