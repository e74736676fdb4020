"""Whether two texts speak of two counterparts: an elder and a younger son, this week and next, room 5 and room 6."""

import re

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
_ENUMERATED = re.compile(r"([^\W\d]+)\s?#?(\d+)")
_FEW_WORDS = 5
_KIN = "舅叔姑姨伯哥弟姐妹姊兒儿女孫孙"


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
    return have_other_numbers(older, newer) or are_enumerated(older, newer)


def weekdays_in(text: str) -> set[str]:
    """Return the days of the week that a text names."""
    return {"".join(found).lower() for found in _WEEKDAYS.findall(text)}


def have_other_numbers(older: str, newer: str) -> bool:
    """Return whether both name a thing of one kind by its number or letter, and none in common."""
    one, other = (
        {(kind.lower().rstrip("s"), name.upper()) for kind, name in _NUMBERED.findall(text)} for text in (older, newer)
    )
    kinds = {kind for kind, _ in one} & {kind for kind, _ in other}
    return any(
        {name for of, name in one if of == kind}.isdisjoint({name for of, name in other if of == kind})
        for kind in kinds
    )


def are_enumerated(older: str, newer: str) -> bool:
    """Return whether two short texts name the same thing by different numbers, and say hardly anything else."""
    if max(len(older.split()), len(newer.split())) > _FEW_WORDS:
        return False
    one, other = (dict(_ENUMERATED.findall(text.lower())) for text in (older, newer))
    return any(other[name] != number for name, number in one.items() if name in other)


def are_other_kin(first: str, second: str, older: str, newer: str) -> bool:
    """Return whether two Chinese texts name two relatives, or two weeks, by two characters that exclude each other."""
    for kin in (*_KIN, "週", "周", "個月", "个月"):
        sides = [(f"{first}{kin}" in text, f"{second}{kin}" in text) for text in (older, newer)]
        if sides in ([(True, False), (False, True)], [(False, True), (True, False)]):
            return True
    return False
