"""Short statements of which there can be several: two cousins, two jobs one after the other, morning and evening.

What holds of one of them does not contradict what holds of another, so the evidence is for noticing only.
"""

import re

from apps.rules.domain.contradiction.evidence import Reason

MAX_CHARS = 150

_RELATIONS = """cousin|friend|son|daughter|brother|sister|colleague|coworker|aunt|uncle|neighbou?r|cat|dog|pet|child|kid
    |nephew|niece|student|pupil|classmate|roommate|flatmate|grandson|granddaughter|grandchild|teammate|client|customer
    |patient|horse|rabbit|bird|hamster|grandmother|grandfather"""
# "my cousin", "Ana's older sister", "the twins' dog": somebody has one, and may have another.
_ONE_OF_SEVERAL = re.compile(
    rf"\b(?:my|his|her|their|our|your|its|\w+['’]s|\w+s['’]) (?:\w+ )?({_RELATIONS})\b".replace("\n    ", ""),
    re.IGNORECASE,
)
# What is over may have been so several times.
_PAST = re.compile(r"\b(?:worked|lived|resided|stayed|studied|was|were)\b", re.IGNORECASE)
_TIMES_OF_DAY = re.compile(
    r"\b(?:morning|noon|lunch|lunchtime|afternoon|evening|dinner|night|midnight|breakfast|weekend|weekday|spring|summer"
    r"|autumn|fall|winter)s?\b",
    re.IGNORECASE,
)


def may_both_hold(reason: Reason, first: str, second: str) -> bool:
    """Whether two short statements tell of different ones of several things. Symmetric."""
    if max(len(first), len(second)) > MAX_CHARS:
        return False
    times = [{found.lower() for found in _TIMES_OF_DAY.findall(text)} for text in (first, second)]
    if all(times) and times[0].isdisjoint(times[1]):
        return True
    if reason is Reason.REPLACED and _PAST.search(first) and _PAST.search(second):
        return True
    of = [{found.lower() for found in _ONE_OF_SEVERAL.findall(text)} for text in (first, second)]
    return reason in {Reason.REPLACED, Reason.VALUE, Reason.ATTRIBUTE} and not of[0].isdisjoint(of[1])
