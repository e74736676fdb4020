"""Whether two texts speak of two counterparts: an elder and a younger son, this week and next, room 5 and room 6."""

import re

_COUNTERPARTS = """
elder|older|eldest : younger|youngest; left : right; upper|upstairs : lower|downstairs; front : back|rear; first : second
this : next|last; today : tomorrow|yesterday; inside : outside; morning : afternoon|evening
weekdays? : weekends?
summer : winter; north|northern : south|southern; son : daughter; brother : sister; mother|mum|mom : father|dad
husband : wife; nephew : niece; min|minimum : max|maximum; staging|test : production|prod; outbound : return
GET : POST|PUT|DELETE
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
_KIN = "舅叔姑姨伯哥弟姐妹姊兒儿女孫孙"


def are_counterparts(older: str, newer: str) -> bool:
    """Return whether each of two texts names another one of two counterparts, and neither names both."""
    for one, other in _PATTERNS:
        mine = [bool(side.search(older)) for side in (one, other)]
        theirs = [bool(side.search(newer)) for side in (one, other)]
        if sum(mine) == sum(theirs) == 1 and mine != theirs:
            return True
    if have_other_numbers(older, newer):
        return True
    return any(are_other_kin(first, second, older, newer) for first, second in _CHINESE)


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


def are_other_kin(first: str, second: str, older: str, newer: str) -> bool:
    """Return whether two Chinese texts name two relatives, or two weeks, by two characters that exclude each other."""
    for kin in (*_KIN, "週", "周", "個月", "个月"):
        sides = [(f"{first}{kin}" in text, f"{second}{kin}" in text) for text in (older, newer)]
        if sides in ([(True, False), (False, True)], [(False, True), (True, False)]):
            return True
    return False
