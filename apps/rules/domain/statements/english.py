"""Reading English sentences: mood, tense, polarity, what they add, change or correct (spec of the conflict engine)."""

import re
from collections.abc import Iterable

from apps.core.domain.caches import SizedCache
from apps.rules.domain import wordlists
from apps.rules.domain.statements import english_words as lists
from apps.rules.domain.statements.english_verbs import is_past_form
from apps.rules.domain.statements.statement import Mood, Statement, Tense

MAX_OPENERS = 4


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of some patterns, whatever the case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


class Cue:
    """Words by which a sentence is read: a pattern, and words without which it cannot match, so that few are tried."""

    def __init__(self, patterns: Iterable[str], triggers: frozenset[str] | None = None) -> None:
        """Take the triggers from the patterns unless they are given: every word in them, with and without an "s?"."""
        listed = tuple(patterns)
        self._pattern = any_of(listed)
        found = re.findall(r"[a-z]+\??", " ".join(listed).lower()) if triggers is None else ()
        self._triggers = triggers or frozenset(
            word for one in found for word in ({one} if one[-1] != "?" else {one[:-1], one[:-2]})
        )

    def search(self, body: str, words: frozenset[str]) -> re.Match[str] | None:
        """Return the first match in a sentence of some words; None without one."""
        return None if words.isdisjoint(self._triggers) else self._pattern.search(body)

    def find_all(self, body: str, words: frozenset[str]) -> list[str]:
        """Return all that matches in a sentence of some words."""
        return [] if words.isdisjoint(self._triggers) else [found[0] for found in self._pattern.finditer(body)]


_AFTER_OPENER = r"[\s,.:;!–—-]*(?:that\s+(?=(?:the|my|our|i|we|he|she|it|they|user)\b))?"
_CORRECTION = re.compile(f"(?:{any_of(lists.CORRECTIONS).pattern}){_AFTER_OPENER}", re.IGNORECASE)
_ANNOUNCEMENT = re.compile(f"(?:{any_of(lists.ANNOUNCEMENTS).pattern}){_AFTER_OPENER}", re.IGNORECASE)
# Of what follows them only the form is a question: "Did I tell you that", "Can you note that".
_ASKED = re.compile(r"(?:did|have) i\b|(?:can|could|would|will) you\b[^?]*\bthat\b", re.IGNORECASE)
_AUXILIARY = wordlists.longest_first(lists.AUXILIARIES)
_PERSON = (
    r"(?:i|you|he|she|it|we|they|there|this|that|these|those|the|a|an|my|your|his|her|its|our|their|any\w*|some\w*)"
)
_INVERTED = re.compile(rf"(?:{_AUXILIARY})\s+{_PERSON}\b|(?:{_AUXILIARY})\s+(?-i:[A-Z])[\w'-]*\b", re.IGNORECASE)
_WH_QUESTION = re.compile(
    r"why not\b|"
    rf"(?:{'|'.join(lists.QUESTION_WORDS)})(?:'s|\s+(?:{_AUXILIARY}|if|about|\w+\s+(?:{_AUXILIARY})))\b",
    re.IGNORECASE,
)
_WONDERS = Cue(
    (
        r"\b(?:wonder(?:s|ing|ed)?|not sure|unsure|don't know|doesn't know|no idea|do you know|forg[eo]t(?:ten)?)"
        r"(?:,)? (?:if|whether|what|where|when|who|which|why|how)\b",
    ),
    lists.WONDER_TRIGGERS,
)
_REQUEST = re.compile(r"(?:can|could|would|will) you\b(?: please| kindly)?\s*", re.IGNORECASE)
_IMPERATIVE = re.compile(
    rf"(?:please|kindly|always|never|from now on,?|don't|do not)\b[\s,]*|(?:{'|'.join(lists.IMPERATIVES)})\s"
    r"(?:me|us|it|them|him|her|a|an|the|my|our|your|this|that|all|only|every|each|any|no|at|in|to|with|more|less|short|long"
    r"|up|down|on|off|for|as)\b",
    re.IGNORECASE,
)
_CONDITION, _DOUBT = Cue(lists.CONDITIONS, lists.CONDITION_TRIGGERS), Cue([lists.DOUBTS], lists.DOUBT_TRIGGERS)
_WISH = Cue(lists.WISHES, lists.WISH_TRIGGERS)
_PLAN = Cue(lists.PLANS, lists.PLAN_TRIGGERS)
_REPORT = Cue([lists.REPORTS], lists.REPORT_TRIGGERS)
_OF_SPEAKER = re.compile(r"(?:i|we|user|the user)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\b(?:think|thinks|guess|believe|suppose|assume|suspect|imagine|heard|pretend)\b", re.IGNORECASE)
_PAST, _CHANGE = Cue(lists.PAST_MARKS, lists.PAST_TRIGGERS), Cue([lists.CHANGE_WORDS], lists.CHANGE_TRIGGERS)
_ADDITIVE = Cue([lists.ADDITIVE_WORDS], lists.ADDITIVE_TRIGGERS)
_BOUND = Cue(lists.BOUNDS, lists.BOUND_TRIGGERS)
_WORD = re.compile("[a-z]+")
_DIGIT = re.compile(r"\d")
_NEGATION = Cue((r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b",))
_FUTURE = Cue((r"\b(?:will|shall|won't|tomorrow)\b|'ll\b",))
_PAST_STATE = Cue(
    (r"\b(?:was|were|lived|worked|resided|stayed|studied|attended|wasn't|weren't|had been)\b",),
    lists.PAST_STATE_TRIGGERS,
)
_PRESENT = Cue(
    (r"\b(?:is|are|am|has|have|does|do|isn't|aren't|hasn't|haven't|doesn't|don't|can|can't|cannot)\b|'(?:s|m|re|ve)\b",)
)
# A past state with one of these is an action on a thing, whose result may hold still: "the TTL was raised".
_PASSIVE = re.compile(r"\b(?:was|were|been|got|became) (?:\w+ly )?(?:just |finally |also )?(\w+)", re.IGNORECASE)
# Participles that describe a person or thing, not an action.
_STATES = wordlists.words("married engaged employed based located called named used interested allergic known supposed")


@SizedCache("statements", megabytes=0.5).remember
def read_english(sentence: str) -> Statement:
    """Read an English sentence. Accepts any str; linear in its length."""
    text = sentence.strip().replace("’", "'")
    body, corrects = strip_openers(text)
    return read_body(sentence, body, corrects)


def read_body(sentence: str, body: str, corrects: bool) -> Statement:
    """Read what a sentence states after its openers."""
    words = frozenset(_WORD.findall(body.lower()))
    holder = holder_of(body, words)
    is_state = bool(_PAST_STATE.search(body, words)) and not is_passive_event(body) and not _PRESENT.search(body, words)
    is_past = bool(_PAST.search(body, words)) or is_state
    tense = Tense.PAST if is_past else Tense.FUTURE if _FUTURE.search(body, words) else Tense.PRESENT
    # It may begin with a bound, or have a year: "In the shop, ...", "in 2019".
    is_adverbial = body[:7].lower().startswith(("in ", "on ", "at ", "for ", "with ", "during ", "by ", "under "))
    begins = lists.MARKED if is_adverbial or _DIGIT.search(body) else frozenset()
    return Statement(
        text=sentence,
        body=body,
        language="en",
        mood=mood_of(body, holder, words),
        tense=tense,
        negative=bool(_NEGATION.search(body, words)),
        additive=bool(_ADDITIVE.search(body, words)),
        corrects=corrects,
        changes=bool(_CHANGE.search(body, words)),
        bounds=tuple(found.lower().strip(" ,") for found in _BOUND.find_all(body, words | begins)),
        holder=holder,
    )


def is_passive_event(body: str) -> bool:
    """Return whether something was done to the subject, which may hold still: "the TTL was raised", "was born in"."""
    return any(
        found[1].lower() not in _STATES
        and (is_past_form(found[1].lower()) or found[1].lower() in ("put", "set", "cut", "let"))
        for found in _PASSIVE.finditer(body)
    )


def strip_openers(text: str) -> tuple[str, bool]:
    """Return a sentence without what only opens it, and whether that was a correction."""
    corrects = False
    for _ in range(MAX_OPENERS):
        found = _CORRECTION.match(text)
        corrects = corrects or bool(found)
        found = found or _ANNOUNCEMENT.match(text)
        if not found or found.end() >= len(text):
            break
        is_asked = _ASKED.match(found[0])
        text = text[found.end() :].rstrip("? ") if is_asked else text[found.end() :]
    return text, corrects


def mood_of(body: str, holder: str, words: frozenset[str]) -> Mood:
    """Return the mood of a sentence without its openers."""
    request = _REQUEST.match(body)
    if request or _IMPERATIVE.match(body):
        return Mood.COMMAND
    if is_question(body, words):
        return Mood.QUESTION
    if _CONDITION.search(body, words) or _DOUBT.search(body, words):
        return Mood.CONDITION
    if holder:
        return Mood.REPORT
    if _WISH.search(body, words):
        return Mood.WISH
    return Mood.PLAN if _PLAN.search(body, words) else Mood.ASSERTION


def is_question(body: str, words: frozenset[str]) -> bool:
    """Return whether a sentence asks something. One that closes with a tag is asserted: "it's at 5, isn't it?"."""
    closed = body.rstrip(" \"')]»”’")
    if closed.endswith(("?", "？")):
        return True
    return is_inverted(body) or bool(_WONDERS.search(body, words))


def is_inverted(body: str) -> bool:
    """Return whether a sentence begins like a question: "is the", "where do"."""
    return bool(_INVERTED.match(body) or _WH_QUESTION.match(body))


def holder_of(body: str, words: frozenset[str]) -> str:
    """Return who is reported to say or think it, "" for no one; the speaker only where that is unsure."""
    found = _REPORT.search(body, words)
    if not found:
        return ""
    if _OF_SPEAKER.match(body) and not re.search(r"['’]s\b", body[: found.start()]):
        return "speaker" if _UNSURE.search(found[0]) else ""
    return body[: found.start()].strip(" ,") or "someone"
