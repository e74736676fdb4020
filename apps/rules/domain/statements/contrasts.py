"""Whether two texts speak of two counterparts, or of occurrences on two days: both hold, whatever they have in common.

An elder and a younger son, this week and next, room 5 and room 6.
"""

import re

from apps.core.domain.caches import SizedCache

_COUNTERPARTS = """
elder|older|eldest : younger|youngest; left : right; upper|upstairs : lower|downstairs; front : back|rear
first : second; this : next|last; today : tomorrow|yesterday; inside : outside; morning : afternoon|evening
weekdays? : weekends?; summer : winter; north|northern : south|southern; son : daughter; brother : sister
mother|mum|mom : father|dad; husband : wife; nephew : niece; min|minimum : max|maximum
before : after; staging|test : production|prod
outbound : return; GET : POST|PUT|DELETE
"""
_CHINESE = ("大小", "這下", "这下", "本下", "上下", "長次", "长次")
_PATTERNS = [
    tuple(re.compile(rf"\b(?:{side.strip()})\b", re.IGNORECASE) for side in pair.split(" : "))
    for pair in re.split(r"[;\n]", _COUNTERPARTS.strip())
]
# A thing with a number or letter of its own.
_NUMBERED = re.compile(
    r"\b(rooms?|bugs?|issues?|tickets?|templates?|versions?|releases?|gates?|lines?|tables?|chapters?|sections?|tanks?|units?"
    r"|phases?|steps?|invoices?|orders?|blocks?|buildings?|halls?|class|group|team|plan|vitamin|option|track|pr|#)"
    r" ?(?:no\.? ?|#)?([A-Z]|\d[\w.]*)\b",
    re.IGNORECASE,
)
_WEEKDAYS = re.compile(
    r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:週|周|星期|禮拜|礼拜)([一二三四五六日天])", re.IGNORECASE
)
# "event 1", "event 2": a noun with a number after it, in texts that are little else.
_ENUMERATED = re.compile(r"(?<![^\W\d])([^\W\d]++)\s?#?(\d+)")
_FEW_WORDS = 5
_KIN = "舅叔姑姨伯哥弟姐妹姊兒儿女孫孙"
_MONTHS = (
    "jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[ée]vr(?:ier)?|mar(?:ch|s|zo)?|märz|apr(?:il)?|avril|may|mai|mayo|june?"
    "|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|ao[uû]t|agosto|sept?(?:ember|embre|iembre)?"
    "|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|de[cz](?:ember|iembre)?|d[ée]c(?:embre)?|enero|febrero|abril"
)
_DAY = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\b\d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of |de )?(?:{_MONTHS})\b"
    rf"|\b(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|\d{{1,2}} ?月 ?\d{{1,2}} ?[日號号]",
    re.IGNORECASE,
)
# What says that the one took the place of the other.
_CHANGED = re.compile(
    r"\b(?:moved?|postponed?|reschedul\w*|brought forward|pushed|put (?:off|back)|delay\w*|cancel\w*|called off"
    r"|instead|chang\w*|correct\w*|actually|sorry|rather than|new date|no longer|misread|mistak\w*|wrong"
    r"|verschoben|verlegt|abgesagt|statt|korrektur|vorgezogen|report[ée]e?|repouss[ée]e?|annul[ée]e?|avanc[ée]e?"
    r"|au lieu|aplaz\w*|anul\w*|adelant\w*|en vez)\b"
    r"|改|延|取消|提前|更正|錯|错|變更|变更|変更|延期|中止|而不是|不是",
    re.IGNORECASE,
)


def are_counterparts(older: str, newer: str) -> bool:
    """Return whether each of two texts names another one of two counterparts, and neither names both."""
    for one, other in _PATTERNS:
        mine = [bool(side.search(older)) for side in (one, other)]
        theirs = [bool(side.search(newer)) for side in (one, other)]
        if sum(mine) == sum(theirs) == 1 and mine != theirs:
            return True
    days, others = weekdays_in(older), weekdays_in(newer)
    if days and others and days.isdisjoint(others):
        return True
    return are_numbered_apart(older, newer) or any(are_other_kin(pair[0], pair[1], older, newer) for pair in _CHINESE)


def are_numbered_apart(older: str, newer: str) -> bool:
    """Return whether two texts name things of one kind by other numbers: room 5, room 6."""
    one, other = numbered_in(older), numbered_in(newer)
    for kind in {kind for kind, _ in one} & {kind for kind, _ in other}:
        names = {name for of, name in one if of == kind}
        if names.isdisjoint({name for of, name in other if of == kind}):
            return True
    if max(len(older.split()), len(newer.split())) > _FEW_WORDS:
        return False
    # Two short texts that name the same thing by different numbers, and say hardly anything else.
    first, second = (dict(_ENUMERATED.findall(text.lower())) for text in (older, newer))
    return any(second[name] != number for name, number in first.items() if name in second)


@SizedCache("numbered things of texts", megabytes=1, entry_bytes=800, char_bytes=4).remember
def numbered_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the things with a number or letter of their own that a text names: ("room", "5")."""
    return frozenset((kind.lower().rstrip("s"), name.upper()) for kind, name in _NUMBERED.findall(text))


def weekdays_in(text: str) -> set[str]:
    """Return the days of the week that a text names."""
    return {"".join(found).lower() for found in _WEEKDAYS.findall(text)}


def are_other_kin(first: str, second: str, older: str, newer: str) -> bool:
    """Return whether two Chinese texts name two relatives, or two weeks, by two characters that exclude each other."""
    for kin in (*_KIN, "週", "周", "個月", "个月"):
        sides = [(f"{first}{kin}" in text, f"{second}{kin}" in text) for text in (older, newer)]
        if sides in ([(True, False), (False, True)], [(False, True), (True, False)]):
            return True
    return False


def days_in(text: str) -> frozenset[str]:
    """Return the days of the calendar that a text names, as written."""
    return frozenset(found.lower().replace(" ", "") for found in _DAY.findall(text))


def are_occurrences_apart(older: str, newer: str) -> bool:
    """Return whether both texts name days, none of them in common, and the newer one says of no change."""
    one, other = days_in(older), days_in(newer)
    return bool(one and other) and one.isdisjoint(other) and not _CHANGED.search(newer)
