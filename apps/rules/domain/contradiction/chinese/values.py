"""Values in Chinese clauses brought to one form: numbers, units, times of day, weekdays and dates."""

import re
from enum import StrEnum

from apps.core.domain.caches import SizedCache

_DIGITS = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_HALF_DAY = 12 * 60

_N = r"(?:\d{1,4}|[〇零一二两三四五六七八九十]{1,5})"
_PART = "早上|上午|中午|下午|傍晚|晚上|夜里|半夜|凌晨|清晨|今晚|明晚"
MEASURES = (
    "公斤|公里|公分|公尺|公克|毫克|毫升|小时|分钟|个月|星期|人份|平方米|千克"
    "|[个只颗粒天次元块岁年月日号楼层室人名位斤里克步米分秒杯碗瓶台辆间套份本张条场节]"
    "|[课倍度折晚夜遍页章集期级支把件双对群门艘串包袋盒箱成排栋班周坪吨趟行道滴片匹]"
)
_VALUE = re.compile(
    rf"民国(?P<roc>{_N})年(?:(?P<roc_month>{_N})月(?:(?P<roc_day>{_N})[日号])?)?"
    rf"|(?P<year>\d{{4}}|[〇零一二三四五六七八九]{{4}})年(?:(?P<month>{_N})月(?:(?P<day>{_N})[日号])?)?"
    rf"|(?P<iso>\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}})(?!\d)"
    rf"|(?P<only_month>{_N})月(?P<only_day>{_N})[日号]"
    r"|(?<![\d/.])(?P<slash_month>1[0-2]|[1-9])/(?P<slash_day>3[01]|[12]\d|[1-9])(?![\d/])"
    rf"|(?<![\d一二两三四五六七八九十几半])(?:星期|周)(?P<weekday>[一二三四五六日1-7])(?![年岁日]|次)"
    rf"|(?P<part>{_PART})?(?P<hour>{_N})点(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})分?|(?P<sharp>整|钟))?"
    rf"|(?P<clock_part>{_PART})?(?<![\d.:])(?P<clock>\d{{1,2}}:\d\d)(?![\d:])(?P<half_day>am|pm)?"
    rf"|(?P<english_hour>\d{{1,2}})(?P<english_half>am|pm)(?![a-z])"
    rf"|百分之(?P<percent>{_N})"
    r"|(?P<number>(?<![a-z0-9_.#@-])\d[\d,]*(?:\.\d+)?(?=[^a-z0-9_.#@/:-]|$|kg|km|cm|ml))"
    r"(?P<large>[万亿千百])?(?P<unit> ?(?:kg|km|cm|ml))?"
    rf"|(?P<chinese>[一二两三四五六七八九十][〇零一二两三四五六七八九十百千万亿]*)(?P<and_half>个半)?(?=(?:多|几)?(?:{MEASURES})|$)"
    r"|(?P<plain_chinese>[一二两三四五六七八九][十百千万亿][〇零一二两三四五六七八九十百千万亿]*|十[一二三四五六七八九])"
)
_SAME_UNITS = {"kg": "公斤", "千克": "公斤", "km": "公里", "cm": "公分", "厘米": "公分", "ml": "毫升", "块": "元"}
_UNIT = re.compile("千克|厘米|(?<=\\d)块(?!钱)")


TOKEN = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|--\d\d-\d\d|周[1-7]|\d{1,2}[:点]\d\d|\d+(?:\.\d+)?%?|[a-z_][a-z0-9_.@:/#+-]*#?"
    r"|早上|上午|中午|下午|傍晚|晚上|凌晨|.",
    re.DOTALL,
)
_TIME = re.compile(
    r"(?:\d{4}-\d\d(?:-\d\d)?|--\d\d-\d\d|周[1-7]|\d{1,2}[:点]\d\d|早上|上午|中午|下午|傍晚|晚上|夜里|凌晨|清晨|今晚|明晚|周末|平日|假日|\d+月|\d+[号日]|月底|月初|月中|年底|年初|这周|本周|下周|上周"
    r"|下个月|这个月|上个月|明年|今年|明天|后天|今天|每|一周|[前后到至、和的~-])+"
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2})[:点](?P<minute>\d\d)")
_NUMBER = re.compile(r"(?P<about>约|大约|第)?(?P<number>\d+(?:\.\d+)?%?)(?P<measure>[^\d]{0,4})")
_CODE = re.compile(r"[a-z0-9_.@:/#+*$%=&?~-]+")


class ValueKind(StrEnum):
    """The kind of a value."""

    TIME = "time"
    NUMBER = "number"
    CODE = "code"
    WORDS = "words"


def number_of(numeral: str) -> int:
    """Return the value of Chinese or Arabic digits: "三十五", "两千零四", "35"."""
    if numeral.isdecimal():
        return int(numeral)
    if not any(char in _UNITS or char in _LARGE for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            total = (total + section + digit) * _LARGE[char]
            section = digit = 0
    return total + section + digit


@SizedCache("Chinese texts", megabytes=0.5).remember
def canonical(plain: str) -> str:
    """Return a folded clause with its values in one form: "下午四点" is "16:00", "五月六号" "--05-06", "三颗" "3颗"."""
    return _UNIT.sub(lambda found: _SAME_UNITS[found[0]], _VALUE.sub(replace_value, plain))


def replace_value(found: re.Match[str]) -> str:
    """Return one form of a value."""
    has = found.groupdict()
    if has["hour"] or has["clock"] or has["english_hour"]:
        return replace_time(found)
    if has["roc"]:
        return date_of(number_of(has["roc"]) + 1911, has["roc_month"], has["roc_day"])
    if has["year"]:
        return date_of(number_of(has["year"]), has["month"], has["day"])
    if has["iso"]:
        year, month, day = re.split("[-/]", has["iso"])
        return date_of(int(year), month, day)
    if has["only_month"]:
        return f"--{number_of(has['only_month']):02}-{number_of(has['only_day']):02}"
    if has["slash_month"]:
        return f"--{int(has['slash_month']):02}-{int(has['slash_day']):02}"
    if has["weekday"]:
        return f"周{'一二三四五六日'.find(has['weekday']) + 1 or has['weekday']}"
    if has["percent"]:
        return f"{number_of(has['percent'])}%"
    return replace_number(has)


def replace_number(has: dict[str, str | None]) -> str:
    """Return one form of a number, with its unit where it is an abbreviation."""
    if has["number"]:
        digits = has["number"].replace(",", "")
        if not has["large"] and not has["unit"]:
            return digits  # 3.10 is another version than 3.1
        value = float(digits) if "." in digits else int(digits)
        value *= {**_UNITS, **_LARGE}.get(has["large"] or "", 1)
        return f"{plain_number(value)}{_SAME_UNITS[has['unit'].strip()]}" if has["unit"] else plain_number(value)
    if has["and_half"]:
        return f"{number_of(has['chinese'] or '')}.5个"
    return str(number_of(has["chinese"] or has["plain_chinese"] or ""))


def plain_number(value: float) -> str:
    """Return a number without a fraction of zero."""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def date_of(year: int, month: str | None, day: str | None) -> str:
    """Return a date as far as it is known."""
    if month is None:
        return f"{year}年"
    known = f"{year}-{number_of(month):02}"
    return f"{known}-{number_of(day):02}" if day else known


def replace_time(found: re.Match[str]) -> str:
    """Return one form of a time of day; "点" instead of ":" where it may be before or after noon."""
    has = found.groupdict()
    part = has["part"] or has["clock_part"] or has["half_day"] or has["english_half"] or ""
    if has["clock"]:
        hour, minute = (int(piece) for piece in has["clock"].split(":"))
    elif has["english_hour"]:
        hour, minute = int(has["english_hour"]), 0
    else:
        hour = number_of(has["hour"])
        minute = number_of(has["minute"]) if has["minute"] else 0
        if has["half"] or has["quarter"]:
            minute = 30 if has["half"] else 15 * number_of(has["quarter"])
        says_more = part or has["half"] or has["quarter"] or has["minute"] or has["sharp"]
        if has["hour"] == "一" and not says_more:
            return found[0]  # "a little"
    if hour > 24 or minute > 59:
        return found[0]
    return clock_of(hour, minute, part, is_sure=bool(part or has["clock"]))


def clock_of(hour: int, minute: int, part: str, is_sure: bool) -> str:
    """Return a time of 24 hours. part: of the day, "" where it is not said."""
    if (
        part in ("下午", "傍晚", "晚上", "今晚", "明晚", "pm", "夜里")
        and hour < 12
        and not (part == "夜里" and hour < 6)
    ) or (part == "中午" and hour < 4):
        hour += 12
    elif part == "am" and hour == 12:
        hour = 0
    mark = ":" if is_sure or hour > 12 else "点"
    return f"{hour % 24}{mark}{minute:02}"


def are_equal(one: str, other: str) -> bool:
    """Return whether two canonical values are the same: 4点00 may be 16:00, 1990-05-20 is --05-20."""
    if one == other:
        return True
    pieces, others = TOKEN.findall(one), TOKEN.findall(other)
    return len(pieces) == len(others) and all(map(may_equal, pieces, others))


def may_equal(one: str, other: str) -> bool:
    """Return whether two tokens are the same, or one says less of the same time."""
    if one == other:
        return True
    if one.startswith("--") != other.startswith("--") and {one[-5:], other[-5:]} == {one[-5:]}:
        return len(one) > 5 < len(other)
    clocks = [_CLOCK.fullmatch(time) for time in (one, other)]
    if "点" in one + other and all(clocks):
        minutes = [int(clock["hour"]) * 60 + int(clock["minute"]) for clock in clocks if clock]
        return (minutes[0] - minutes[1]) % _HALF_DAY == 0
    return False


def kind_of(value: str) -> tuple[ValueKind, str]:
    """Return the kind of a canonical value, and the unit of a number."""
    if _TIME.fullmatch(value):
        return ValueKind.TIME, ""
    found = _NUMBER.fullmatch(value)
    if found:
        return ValueKind.NUMBER, found["measure"] + ("%" if "%" in value else "")
    return (ValueKind.CODE, "") if _CODE.fullmatch(value) else (ValueKind.WORDS, "")
