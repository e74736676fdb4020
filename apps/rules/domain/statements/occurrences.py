"""Whether two texts speak of occurrences on two days, which both took place whatever else they have in common."""

import re

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


def days_in(text: str) -> frozenset[str]:
    """Return the days of the calendar that a text names, as written."""
    return frozenset(found.lower().replace(" ", "") for found in _DAY.findall(text))


def are_occurrences_apart(older: str, newer: str) -> bool:
    """Return whether both texts name days, none of them in common, and the newer one says of no change."""
    one, other = days_in(older), days_in(newer)
    return bool(one and other) and one.isdisjoint(other) and not _CHANGED.search(newer)
