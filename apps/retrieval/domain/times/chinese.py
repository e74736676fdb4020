"""Times as Chinese names them. Texts are folded: in small letters and Simplified characters."""

import re
from collections.abc import Iterator, Sequence

from apps.retrieval.domain.times.spans import (
    FIRST,
    LAST,
    Moment,
    Reader,
    Span,
    Turn,
    date_of,
    group_of,
    hours_of,
    months,
    share_of,
    span_of,
)

_DIGITS = {character: value for value, characters in enumerate(
    ("〇零", "一", "二两", "三", "四", "五", "六", "七", "八", "九")) for character in characters}  # fmt: skip
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_TURNS = {"上上": -2, "上": -1, "上一": -1, "这": 0, "这一": 0, "本": 0, "下": 1, "下一": 1, "下下": 2}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_UNITS = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "周末": "weekend", "月": "month", "季": "quarter", "季度": "quarter", "年": "year",
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_PARTS = {
    "早上": "morning", "早晨": "morning", "上午": "morning", "清晨": "morning", "凌晨": "morning", "早": "morning",
    "中午": "noon", "下午": "afternoon", "傍晚": "evening", "晚上": "evening", "晚间": "evening", "晚": "evening",
    "夜里": "night", "深夜": "night", "半夜": "night", "夜": "night",
}  # fmt: skip
_SHARES = {
    "初": (0, 1 / 3), "上旬": (0, 1 / 3), "中": (1 / 3, 2 / 3), "中旬": (1 / 3, 2 / 3), "底": (2 / 3, 1),
    "末": (2 / 3, 1), "尾": (2 / 3, 1), "下旬": (2 / 3, 1), "上半": (0, 0.5), "下半": (0.5, 1),
}  # fmt: skip
# Month and day, and how many days: of feasts by the moon those on which they can be.
_HOLIDAYS = {
    "春节": (1, 21, 31), "过年": (1, 21, 31), "农历新年": (1, 21, 31), "元旦": (1, 1, 1), "情人节": (2, 14, 1),
    "清明": (4, 3, 4), "端午": (5, 27, 30), "中秋": (9, 7, 32), "国庆": (10, 1, 10), "双十": (10, 10, 1),
    "万圣": (10, 31, 1), "暑假": (7, 1, 62), "寒假": (1, 15, 40), "圣诞": (12, 24, 3), "跨年": (12, 31, 2),
}  # fmt: skip
_N = r"(?P<number>\d{1,9}|[〇零一二两三四五六七八九十百半几数]{1,9})"
_UNIT = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_TURN = rf"(?<![早晚楼])(?P<turn>{'|'.join(sorted(_TURNS, key=len, reverse=True))})"
_PART = rf"(?:的?(?P<part>{'|'.join(_PARTS)}))"
_AD = (
    r"(?:(?:公元|西元)?(?P<year>(?<!\d)(?:1\d|20)\d\d|[一二][〇零一二三四五六七八九]{3})"
    r"|民国(?P<roc>\d{1,3}|[一二三四五六七八九十百]{1,5}))年"
)
_YEAR = rf"(?:(?:{_AD}|(?<![过以之])(?P<near>{'|'.join(_YEARS)})|(?P<back>[两三四五六七八九十\d]{{1,3}})年前)的?)"
_MONTH = r"(?P<month>(?<!\d)(?:1[0-2]|0?[1-9])|十[一二]?|[一二三四五六七八九])月"
_DATE = r"(?P<day>[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
# A number that is no year and no end of one.
_COUNT = rf"(?<![\d〇零一二三四五六七八九])(?!{_AD}){_N}"
_SHARE = r"(?:的?(?P<share>[上中下]旬|[初中底末尾]))"
_HALF = r"(?P<half>上半|下半)年"
_WEEK = r"(?:周|星期|礼拜)"


def _number(text: str) -> float:
    """Return what digits or characters say: 3, 十二, 两百. Of what is left open a usual one: 几 and 数 are three."""
    if text.isdigit() and text.isascii():
        return float(text)
    total = current = 0.0
    for character in text:
        if character in "十百":
            total += (current or 1) * (10 if character == "十" else 100)
            current = 0
        else:
            current += {"半": 0.5, "几": 3, "数": 3}.get(character) or _DIGITS[character]
    return total + current


def _year(found: re.Match[str], asked: Moment) -> int | None:
    if near := group_of(found, "near"):
        return asked.now.year + _YEARS[near]
    if back := group_of(found, "back"):
        return asked.now.year - int(_number(back))
    if roc := group_of(found, "roc"):
        return 1911 + int(_number(roc))
    year = group_of(found, "year")
    return int("".join(str(_DIGITS.get(digit, digit)) for digit in year)) if year else None


def _cut(spans: Sequence[Span | None], share: str) -> list[Span | None]:
    return [span and share_of(span, *_SHARES[share]) if share else span for span in spans]


def _date(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month, day, until = _month_of(found), int(_number(found["day"])), group_of(found, "until")
    count = max(1, int(_number(until)) - day + 1) if until else 1
    dates = asked.each_year(lambda year: date_of(year, month, day, count), _year(found, asked))
    return [hours_of(date, _PARTS.get(group_of(found, "part"))) for date in dates]


def _month_of(found: re.Match[str]) -> int:
    return int(_number(found["month"]))


def _month(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month = _month_of(found)
    return _cut(asked.each_year(lambda year: months(year, month), _year(found, asked)), group_of(found, "share"))


def _season(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month, turn = _SEASONS[found["season"]], group_of(found, "turn")
    chosen = Turn(max(-1, min(1, _TURNS[turn]))) if turn else None
    return asked.each_year(lambda year: months(year, month, 3), _year(found, asked), chosen)


def _holiday(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    date = _HOLIDAYS[found["holiday"]]
    return asked.each_year(lambda year: date_of(year, *date), _year(found, asked))


def _whole_year(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    year = _year(found, asked)
    assert year is not None
    return _cut([months(year, 1, 12)], group_of(found, "half") or group_of(found, "share"))


def _ago(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    span, part = asked.ago(_number(found["number"]), _UNITS[found["unit"]]), _PARTS.get(group_of(found, "part"))
    return [hours_of(span, part if _UNITS[found["unit"]] == "day" else None)]


def _recent(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return [asked.recent(_number(found["number"]), _UNITS[found["unit"]])]


def _whole(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return _cut([asked.whole(_UNITS[found["unit"]], _TURNS[found["turn"]])], group_of(found, "share"))


def _day(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    day = asked.whole("day", _DAYS[found["day"]])
    return [hours_of(day, _PARTS.get(group_of(found, "part")))]


def _weekday(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    number, turn = min("一二三四五六日天".index(found["weekday"]), 6), group_of(found, "turn")
    days = [asked.weekday(number, _TURNS[turn])] if turn else asked.weekdays(number)
    return [hours_of(day, _PARTS.get(group_of(found, "part"))) for day in days]


def _day_of_month(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    month = asked.whole("month", _TURNS[found["turn"]])
    day = month and date_of(month.start.year, month.start.month, int(_number(found["day"])))
    return [hours_of(day, _PARTS.get(group_of(found, "part")))]


def _weekend(_found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    return asked.choose([asked.whole("weekend", step) for step in (-1, 0)])


def _bare(found: re.Match[str], asked: Moment) -> Sequence[Span | None]:
    """Return the beginning or the end of the month or the year, of which the last one and the next may be meant."""
    shares = _SHARES[found["share"]]
    spans = [asked.whole(_UNITS[found["unit"]], step) for step in (-1, 0, 1)]
    return asked.choose([span and share_of(span, *shares) for span in spans])


_READERS: list[tuple[re.Pattern[str], Reader]] = [
    (re.compile(pattern, re.ASCII), reader)
    for pattern, reader in (
        (rf"{_YEAR}?{_MONTH}{_DATE}(?:[到至~-]{_DATE.replace('day', 'until')})?{_PART}?", _date),
        (rf"{_YEAR}?{_MONTH}(?!天|亮|球|饼)份?{_SHARE}?", _month),
        (rf"{_YEAR}?(?P<holiday>{'|'.join(_HOLIDAYS)})节?", _holiday),
        (rf"{_YEAR}(?P<season>[春夏秋冬])[天季日]?", _season),
        (rf"{_TURN}个?(?P<season>[春夏秋冬])[天季日]?", _season),
        (rf"{_COUNT}个?[多半]?{_UNIT}(?:多|半)?(?:之前|以前|前)(?![面方往]){_PART}?", _ago),
        (rf"{_COUNT}个?[多半]?{_UNIT}(?:以来|来)(?![了到])", _recent),
        (rf"(?:过去|最近|近)这?{_N}个?{_UNIT}", _recent),
        (rf"[前这](?P<number>[几两二三半])个?{_UNIT}", _recent),
        (rf"{_TURN}个?{_WEEK}(?P<weekday>[一二三四五六日天]){_PART}?", _weekday),
        (rf"{_TURN}个?月的?{_DATE}{_PART}?", _day_of_month),
        (r"(?<![上下这本个])周末", _weekend),
        (rf"{_TURN}个?(?P<unit>周末|周|星期|礼拜|月|季度?){_SHARE}?", _whole),
        (rf"{_YEAR}(?:{_HALF}|年?{_SHARE})?", _whole_year),
        (rf"(?<![以之])(?P<day>大前|大后|[前昨今明后])[天日]{_PART}?", _day),
        (r"(?P<day>[昨今明])(?P<part>早|晚|夜)", _day),
        (rf"(?<![\d一二两三四五六七八九十几每]){_WEEK}(?P<weekday>[一二三四五六日天]){_PART}?", _weekday),
        (r"(?<![年月个\d一二三四五六七八九十])(?P<unit>[年月])(?P<share>[初底])", _bare),
    )
]  # fmt: skip
_HINT = re.compile(r"[年月日号天周节诞明春晚早末]|星期|礼拜|小时|钟头|分钟|元旦|端午|中秋|国庆|双十")
# What stands after a time and makes another one of it, and between the two ends of one.
_UNTIL_AFTER = re.compile(r"(?:之前|以前|前)(?![天年面进往途景])")
_SINCE_AFTER = re.compile(r"(?P<since>以来|起)|(?:之后|以后|后)(?![天年面来悔])")
TO = re.compile(r"[到至和与~-]")


def find_chinese(text: str, asked: Moment) -> Iterator[tuple[int, int, Sequence[Span | None]]]:
    """Yield where a text names a time, and the spans that may be meant; the surest first, and they may overlap."""
    if text.isascii() or not _HINT.search(text):
        return
    for pattern, reader in _READERS:
        for found in pattern.finditer(text):
            if "每" not in text[max(0, found.start() - 2) : found.start()]:
                yield *found.span(), reader(found, asked)


def narrow_chinese(span: Span, text: str, end: int, asked: Moment) -> tuple[Span | None, int] | None:
    """Return the span that is meant with the words after a time, and where they end; None for no such."""
    if found := _UNTIL_AFTER.match(text, end):
        return span_of(FIRST, span.start), found.end()
    if found := _SINCE_AFTER.match(text, end):
        start = span.start if found["since"] else span.end
        return span_of(start, asked.now if found["since"] and span.start < asked.now else LAST), found.end()
    return None
