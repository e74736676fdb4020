"""Dates that are said relative to the day of a message, in English and Chinese.

A week begins on Monday. "next Friday" is the Friday of the next week, "on Friday" and "this Friday" the coming one;
下週五 is the Friday of the next week, 這週五 that of this week, 週五 the coming one.
"""

import calendar
import re
from datetime import date, timedelta

from apps.rules.domain.statements.chinese_folds import FOLD

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_SHORT_MONTHS = [name[:3] for name in _MONTHS] + ["sept"]
_NUMBERS = dict(
    zip(
        ["a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        (1, 1, *range(1, 11)),
        strict=True,
    )
) | {"couple of": 2}
_HAN_NUMBERS = dict(zip("一二两三四五六七八九十", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10), strict=True))
_HAN_DAYS = dict(zip("一二三四五六日天1234567", (0, 1, 2, 3, 4, 5, 6, 6, 0, 1, 2, 3, 4, 5, 6), strict=True))
_MONTH = "|".join([*_MONTHS, *(f"{name}\\.?" for name in sorted(_SHORT_MONTHS, key=len, reverse=True))])
_UNIT = r"(?P<unit>day|week|month|year)s?"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of)"
ENGLISH_DATE = re.compile(
    r"\b(?:(?P<after>the day after tomorrow)|(?P<day>today|tonight|tomorrow|yesterday)(?:'s)?"
    rf"|in {_COUNT} {_UNIT}(?:'s? time)?"
    rf"|(?P<ago>\d{{1,3}}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of) (?P<ago_unit>day"
    r"|week|month|year)s? ago"
    r"|(?P<which>next|this|last|coming|on|by|every|each|until|till"
    rf"|since) (?P<weekday>{'|'.join(_DAYS)})(?! ?(?:s\b|nights?|mornings? (?:and|or)))\b"
    r"|(?P<span_which>next|this|last|coming) (?P<span>week(?:end)?|month|year)\b"
    rf"|(?:(?P<dom>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})"
    rf"|(?P<month2>{_MONTH}) (?P<dom2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))(?:,? (?P<year>\d{{4}}))?\b)",
    re.IGNORECASE,
)
# Of folded text.
CHINESE_DATE = re.compile(
    r"(?P<day>大后天|后天|明天|明早|明晚|今天|今晚|今早|昨天|昨晚|前天)"
    r"|(?P<which>下下|下个?|上个?|这个?|本)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    r"|(?P<span_which>下下|下个?|上个?|这个?|本)(?P<span>周末|周|星期|礼拜|月)(?![一二三四五六日天])(?:(?P<dom2>\d{1,2})[号日])?"
    r"|(?P<year_word>今年|明年|后年|去年)"
    r"|(?P<count>\d{1,3}|[一二两三四五六七八九十])(?P<unit>天|周|个?星期|个?礼拜|个月|年)(?P<back>前|后)"
    r"|(?:(?P<year>\d{4})年)?(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
    r"(?:(?P<dom>\d{1,2}(?=[号日]?)|(?:[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])(?=[号日]))[号日]?)?(?![份分])"
)
# Days that come every year: the coming one is no more what is meant than any other.
YEARLY = re.compile(
    r"\b(?:birthdays?|born|anniversar(?:y|ies)|name[ -]days?|(?:every|each) year|yearly|annual(?:ly)?)\b"
    r"(?! (?:party|dinner|lunch|brunch|trip|weekend|celebration|barbecue|bbq|meeting|review|concert))"
    r"|(?:生日|纪念日|周年)(?!派对|聚会|会|宴|晚餐|午餐|旅行|蛋糕|活动|庆)|诞辰|忌日|出生|每年",
    re.IGNORECASE,
)
_OFFSETS = {
    "大后天": 3,
    "后天": 2,
    "明天": 1,
    "明早": 1,
    "明晚": 1,
    "今天": 0,
    "今晚": 0,
    "今早": 0,
    "昨天": -1,
    "昨晚": -1,
    "前天": -2,
}
_YEARS = {"今年": 0, "明年": 1, "后年": 2, "去年": -1}
_UNITS = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}


def resolve_dates(text: str, at: date | None) -> str:
    """Return an English sentence with the date in brackets behind each relative one; unchanged without a day.

    A date that names its year, and one that comes every year, stays as it is.
    """
    if at is None:
        return text
    is_yearly = YEARLY.search(text) is not None

    def bracket(found: re.Match[str]) -> str:
        written = found[0]
        if found["which"] and found["which"].lower() in ("every", "each"):
            return written
        if found["year"] or (is_yearly and (found["dom"] or found["dom2"])):
            return written
        resolved = english_date(found, at)
        return f"{written} ({resolved})" if resolved else written

    return ENGLISH_DATE.sub(bracket, text)


def english_date(found: re.Match[str], at: date) -> str:
    """Return what a match of ENGLISH_DATE means on a day, as ISO 8601 or "week of ..."; "" where it cannot be said."""
    try:
        if found["after"]:
            return str(at + timedelta(days=2))
        if found["day"]:
            return str(at + timedelta(days={"tomorrow": 1, "yesterday": -1}.get(found["day"].lower(), 0)))
        if found["count"]:
            return moved(at, number_of(found["count"]), found["unit"].lower())
        if found["ago"]:
            return moved(at, -number_of(found["ago"]), found["ago_unit"].lower())
        if found["weekday"]:
            which = found["which"].lower()
            day = _DAYS.index(found["weekday"].lower())
            monday = at - timedelta(days=at.weekday())
            if which == "next":
                return str(monday + timedelta(weeks=1, days=day))
            if which in ("last", "since"):
                return str(at - timedelta(days=(at.weekday() - day - 1) % 7 + 1))
            return str(at + timedelta(days=(day - at.weekday()) % 7))
        if found["span"]:
            steps = {"next": 1, "last": -1}.get(found["span_which"].lower(), 0)
            return span_of(found["span"].lower(), steps, at)
        month = 1 + [month[:3] for month in _MONTHS].index((found["month"] or found["month2"]).lower()[:3])
        return str(coming(month, int(found["dom"] or found["dom2"]), at))
    except (ValueError, OverflowError):
        return ""


def resolve_chinese_dates(text: str, at: date | None) -> str:
    """Return a Chinese sentence with the date in brackets behind each relative one; unchanged without a day."""
    if at is None:
        return text
    written, end = [], 0
    folded = text.translate(FOLD)
    is_yearly = YEARLY.search(folded) is not None
    for found in CHINESE_DATE.finditer(folded):
        resolved = "" if found["year"] or (is_yearly and found["dom"]) else chinese_date(found, at)
        if resolved and text[max(0, found.start() - 1) : found.start()] != "每":
            written.append(f"{text[end : found.end()]}（{resolved}）")
            end = found.end()
    return "".join([*written, text[end:]])


def chinese_date(found: re.Match[str], at: date) -> str:
    """Return what a match of CHINESE_DATE means on a day, as ISO 8601 or "...起的一週"; "" where it cannot be said."""
    try:
        if found["day"]:
            return str(at + timedelta(days=_OFFSETS[found["day"]]))
        if found["weekday"]:
            day, which = _HAN_DAYS[found["weekday"]], (found["which"] or "").rstrip("个")
            monday = at - timedelta(days=at.weekday())
            if not which:
                return str(at + timedelta(days=(day - at.weekday()) % 7))
            return str(monday + timedelta(days=day, weeks={"下": 1, "下下": 2, "上": -1}.get(which, 0)))
        if found["span"]:
            steps = {"下": 1, "下下": 2, "上": -1}.get(found["span_which"].rstrip("个"), 0)
            if found["dom2"]:
                year, month = divmod(at.year * 12 + at.month - 1 + steps, 12)
                return str(date(year, month + 1, int(found["dom2"])))
            return span_of({"月": "month", "周末": "weekend"}.get(found["span"], "week"), steps, at)
        if found["year_word"]:
            return str(at.year + _YEARS[found["year_word"]])
        if found["count"]:
            steps = (int(found["count"]) if found["count"].isdigit() else _HAN_NUMBERS[found["count"]]) * (
                -1 if found["back"] == "前" else 1
            )
            return moved(at, steps, _UNITS[found["unit"].removeprefix("个")])
        if not found["dom"]:
            return ""
        return str(coming(han_number(found["month"]), han_number(found["dom"]), at))
    except (ValueError, OverflowError):
        return ""


def han_number(written: str) -> int:
    """Return a number below a hundred, in digits or as in 二十三."""
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.rpartition("十")
    return (10 * _HAN_NUMBERS.get(tens, 1) if ten else 0) + _HAN_NUMBERS.get(ones, 0)


def number_of(word: str) -> int:
    """Return the number that a word or digits say."""
    lowered = word.lower()
    return int(lowered) if lowered.isdigit() else _NUMBERS[lowered.removeprefix("a ") if " " in lowered else lowered]


def span_of(span: str, steps: int, at: date) -> str:
    """Return a week by its Monday, a weekend by its Saturday, a month or a year, some steps from the present one."""
    monday = at - timedelta(days=at.weekday()) + timedelta(weeks=steps)
    if span == "year":
        return str(at.year + steps)
    if span == "month":
        year, month = divmod(at.year * 12 + at.month - 1 + steps, 12)
        return f"{year}-{month + 1:02}"
    return str(monday + timedelta(days=5)) if span == "weekend" else f"{monday}/{(monday + timedelta(days=6)):%m-%d}"


def moved(at: date, count: int, unit: str) -> str:
    """Return a day some days or weeks away, or the month or year that is so far away. Raises OverflowError."""
    if unit in ("day", "week"):
        return str(at + timedelta(days=count * (7 if unit == "week" else 1)))
    if unit == "year":
        return str(at.year + count)
    year, month = divmod(at.year * 12 + at.month - 1 + count, 12)
    return f"{year}-{month + 1:02}"


def coming(month: int, day: int, at: date) -> date:
    """Return the next day of that month and number, today included. Raises ValueError for one that never comes."""
    for year in range(at.year, at.year + 5):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= at:
            return found
    raise ValueError("no such day")
