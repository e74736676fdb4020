"""Facts in English sentences.

The content of a fact is the sentence of the person, from the clause that says it on, without what only opens it. It is
not brought into another form ("User lives in Oslo"): MEMORY.md is read and edited by the person, their own sentence
is never wrong about what they said, and the conflict engine reads the first person as that of the user.
"""

import re
from collections.abc import Iterable
from datetime import date

from apps.notes.domain.extraction.dates import ENGLISH_DATE, resolve_dates
from apps.notes.domain.extraction.english import about, person, rules
from apps.notes.domain.extraction.english.pointers import (
    MAX_CONTENT_CHARS,
    is_complete,
    is_standing,
    person_of,
    refer_to,
)
from apps.notes.domain.extraction.fact import Category, Pattern, ReadFact
from apps.notes.domain.extraction.prose import has_mask
from apps.rules.domain.statements.english import strip_openers
from apps.rules.domain.statements.english_verbs import base_of
from apps.rules.domain.statements.read import read_sentence
from apps.rules.domain.statements.statement import Mood, Statement

MAX_VALUE_WORDS = 5
_OWN_SUBJECT = re.compile(r"(?:i|i'm|i've|my|we|we're|we've|our)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:and|but|so|also|well|oh|ok(?:ay)?|yes|yeah|yep|no|nope|sure|right|hmm|um|uh|hey|hi|hello|thanks"
    r"|thank you|anyway|because|since|although"
    r"|though|whereas|while|now that|as|like|plus|by the way|btw|fyi|just so you know|for (?:the record|context"
    r"|reference|your information)|as (?:you know|i (?:said|mentioned))"
    r"|(?:please |and |also |do )*(?:remember|note|keep in mind|bear in mind|don't forget|do not forget"
    r"|be aware|know)(?: that)?(?=,? (?:i|my|we|our|the)\b|:)"
    r"|i (?:just )?(?:want|wanted|should|need) (?:you to know|to (?:mention|say|add|let you know"
    r"|tell you))(?: that)?|let me tell you(?: that)?|you should know(?: that)?|did i (?:tell"
    r"|mention)(?: to)?(?: you)?(?: that)?"
    r"|(?:i(?:'ve| have)? )?(?:just )?changed my mind(?: about (?:that|this|it))?"
    r"|honestly|actually|in fact|personally|frankly|to be honest|tbh|in general|generally|basically|luckily"
    r"|fortunately|unfortunately|sadly|finally"
    r"|speaking of which|on another note|one more thing|another thing|first of all|first|second|secondly|also"
    r"|lol|haha|wow|cool|great|nice|awesome|perfect|good"
    r"|the thing is|fun fact|about me|a bit about me|background|context|reminder|note|update|quick update"
    r"|heads up|good news|bad news|news|exciting news|great news|guess what|long time no (?:see|chat"
    r"|talk)|i(?:'m| am) (?:so |really |very )?(?:excited|happy|glad|proud|pleased) to (?:tell you"
    r"|say|share|announce)(?: that)?|(?:i )?(?:just )?wanted to (?:tell you|let you know"
    r"|share)(?: that)?)\b[\s,:.!–—-]*(?:that (?=i\b))?)+",
    re.IGNORECASE,
)
# What a sentence is about, said before it. An order keeps it: it may hold for that alone.
_TOPIC = re.compile(
    r"^(?:for|about|regarding|re|concerning|as for|on|at|in) (?:[\w'-]+ ){0,3}[\w'-]+ ?: +", re.IGNORECASE
)
_REMEMBERS = re.compile(
    r"(?:^|[\s,])(?:(?:please|kindly|can you|could you|also|and) )*(?:remember|keep in mind|bear in mind"
    r"|don't forget|do not forget|take note|make a note|note|save this|store this|memori[sz]e|(?:write"
    r"|jot) (?:this )?down)\b(?! (?:to|when|how|what|if|where|who|why|me|you|the time)\b)",
    re.IGNORECASE,
)
_CLOSER = re.compile(
    r"[\s,]*(?:\b(?:by the way|btw|fyi|lol|haha+|you know|thanks|thank you|please remember(?: (?:it|that"
    r"|this))?|just so you know|i think|i guess|though|tho|actually|right|ok(?:ay)?|remember|xd)|[:;]-?[)(DPp]"
    r"|<3)[\s.!]*$",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"(?:^|\s)/s\b|\b(?:just kidding|j/?k|only joking|just joking|yeah,? right|as if|sarcasm|said no one ever"
    r"|not really|kidding)\b",
    re.IGNORECASE,
)
# Someone else's words, or a part that is played.
_PLAYED = re.compile(
    r"\b(?:pretend|role-?play|act as|imagine|suppose|let's say|hypothetically|for example|e\.g\.|for instance"
    r"|in the (?:story|novel|book|film|movie|game|song|poem)|my character|the character|the narrator|lorem"
    r"|once upon a time)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:please |kindly |can you |could you |will you |would you |i want you to |i need you to "
    r"|i'd like you to |i would like you to |again, )+",
    re.IGNORECASE,
)
_AND = re.compile(
    r",? and (?=(?:i|i'm|i've|we|we're|we've) \w|(?:my|our) (?:[\w'-]+ ){1,4}(?:is|are|has|was|lives"
    r"|works|plays|loves|likes)\b)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:, | - |: |\bso |\band )(?:so |and |but )?(?:what|how|which|where|when|who|why|can|could"
    r"|would|should|will|do|does|did|is there|are there|any|is it|are)\b(?=[^,]*\?)",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\b(?:meant|mean|correction|misspoke|make that|should be|typo|mistyped|scratch that|wrong)\b|^(?:no|wait|oops)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\w (?:is|are|was|has|have|needs?|likes?|must|should|can|can't|cannot|don't|doesn't|do not"
    r"|does not|will|won't|only|always|never|goes|works|lives|wants|costs|uses|starts|ends|opens"
    r"|closes|comes|prefers?|hates?)\b|\w'(?:s|m|re|ve)\b",
    re.IGNORECASE,
)
# Openings that say when, before the subject.
_TIME = re.compile(
    r"^(?:(?:just |only |exactly |about )?(?:yesterday|today|tonight|tomorrow|recently|lately"
    r"|last \w+|this \w+|next \w+|right now|at the moment"
    r"|these days|nowadays|(?:\w+|a few|a couple of) (?:days?|weeks?|months?|years?) ago|in (?:\d{4}"
    r"|\w+ (?:days|weeks|months|years)|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|my (?:free|spare) time|the (?:mornings?|evenings?|summer|winter))"
    r"|back in \d+|since \d{4}|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|after work|before work|at (?:home|work)|for work|every \w+|on weekends|at weekends"
    r"|on the \w+ of \w+|on \w+ \d{1,2}(?:st|nd|rd|th)?),? +)+(?=(?:i|i'm|i've|i'll|we|we're|we'll"
    r"|we've|my|our)\b)",
    re.IGNORECASE,
)
_AUXILIARY = frozenset(["is", "are", "am", "was", "were", "has", "have", "had", "can", "will"])
_BETWEEN = re.compile(r"^[\s,:;–—-]+|[\s,:;–—-]+$")
_ORDERED = rules.INSTRUCTIONS
_STATED = (
    *rules.DECISIONS,
    *person.PLANS[:2],
    *person.PREFERENCES,
    *person.PEOPLE[:2],
    *about.ABOUT,
    *person.PLANS[2:],
    *person.PEOPLE[2:],
)
# Sentences that begin with a word of these cannot be a fact, or ask for one thing now.
_FIRST_WORD = re.compile(r"[\w']+")


class EnglishReader:
    """Reads the sentences of one turn in their order, so that "she" of a sentence is the sister of the one before."""

    def __init__(self, at: date | None) -> None:
        """at: the day of the turn, None where it is not known."""
        self.at = at
        self.person = ""

    def read(self, sentence: str) -> list[ReadFact]:
        """Return the facts of a sentence, in its order."""
        person, self.person = self.person, ""
        text = _CLOSER.sub("", sentence).strip()
        if len(text) < 6 or _JOKE.search(text) or _PLAYED.search(text):
            return []
        remembers = bool(_REMEMBERS.search(text[:80]))
        ordered = find_order(text)
        if ordered:
            return [ordered] if is_standing(ordered.content) else []
        if has_mask(text):
            return []
        corrects = strip_openers(text)[1]
        plain = refer_to(_TOPIC.sub("", _LEAD.sub("", text)), person)
        found = [fact for piece in pieces_of(plain) for fact in self.facts_of(piece, corrects)]
        if not found and remembers and not _REMEMBERS.search(plain):
            found = remembered(plain)
        if not found and corrects and is_value(text, plain):
            return [ReadFact("", Category.ABOUT, sentence, 0.0, "", True, strip_openers(plain)[0].strip(" .!"))]
        if found:
            self.person = person_of(found[-1].content) or (person if person and person in found[-1].content else "")
        return found

    def facts_of(self, text: str, corrects: bool) -> list[ReadFact]:
        """Return the facts of the clauses of a sentence. A clause that is no fact belongs to the one before it."""
        statements = read_sentence(text)
        found: list[ReadFact] = []
        corrects = corrects or any(statement.corrects for statement in statements)
        spans = spans_of(text, statements)
        open_end = False
        for statement, (start, end) in zip(statements, spans, strict=True):
            clause = _LEAD.sub("", _BETWEEN.sub("", text[start:end]))
            begun = match(clause, statement.mood)
            if begun and (not open_end or found[-1].pattern != begun.name or _OWN_SUBJECT.match(clause)):
                found.append(self.make(clause, begun, corrects))
                open_end = True
            elif open_end and statement.mood in (Mood.ASSERTION, Mood.PLAN) and not is_own_sentence(clause):
                # Together with what follows it in the sentence.
                start = text.find(found[-1].quote)
                joined = text[start:end] if start >= 0 else ""
                if 0 < len(joined) <= MAX_CONTENT_CHARS:
                    found[-1] = self.make(joined, _BY_NAME[found[-1].pattern], corrects)
            else:
                open_end = False
        return [fact for fact in found if is_complete(fact.content)]

    def make(self, clause: str, pattern: Pattern, corrects: bool) -> ReadFact:
        """Return the fact that a clause states."""
        return ReadFact(written(clause, self.at), pattern.category, clause, pattern.confidence, pattern.name, corrects)


_BY_NAME = {pattern.name: pattern for pattern in (*_STATED, *_ORDERED, *person.LAST)}


def match(clause: str, mood: Mood) -> Pattern | None:
    """Return the first pattern that a clause of some mood matches."""
    plain = _TIME.sub("", clause)
    for pattern in _STATED:
        if mood in pattern.moods and pattern.regex.match(plain):
            if pattern.needs_date and not has_date(clause):
                continue
            return pattern
    return None


def has_date(clause: str) -> bool:
    """Return whether a clause says when, and not a day that is over."""
    return any(
        not (
            found["ago"]
            or (found["day"] or "").lower() == "yesterday"
            or (found["which"] or found["span_which"] or "").lower() in ("last", "since", "every", "each")
        )
        for found in ENGLISH_DATE.finditer(clause)
    ) or bool(
        re.search(
            r"\b(?:at|by) \d{1,2}(?::\d\d)? ?(?:am|pm)\b|\bin (?:january|february|march|april|may|june|july"
            r"|august|september|october|november|december)\b|\b(?:this|next) (?:summer|winter|spring|autumn"
            r"|fall|semester|quarter)\b|\bin 20\d\d\b",
            clause,
            re.IGNORECASE,
        )
    )


def find_order(text: str) -> ReadFact | None:
    """Return the standing instruction that a sentence is, whatever its clauses."""
    if text.rstrip().endswith("?") and not re.match(r"(?:can|could|will|would) you", text, re.IGNORECASE):
        return None
    plain = _LEAD.sub("", text)
    if not plain:
        return None
    moods = [statement.mood for statement in read_sentence(plain)]
    mood = Mood.COMMAND if Mood.COMMAND in moods else moods[0]
    plain = _REQUEST.sub("", plain)
    for pattern in _ORDERED:
        if mood in pattern.moods and pattern.regex.match(plain):
            return ReadFact(
                written(plain.rstrip("? "), None), pattern.category, plain, pattern.confidence, pattern.name
            )
    return None


def spans_of(text: str, statements: Iterable[Statement]) -> list[tuple[int, int]]:
    """Return where in a sentence the clause of each statement is; all of it where that cannot be said."""
    spans, at = [], 0
    for statement in statements:
        start = text.find(statement.body, at)
        if start < 0:
            spans.append((at if at < len(text) else 0, len(text)))
            continue
        at = start + len(statement.body)
        spans.append((start, at))
    return spans


def is_own_sentence(clause: str) -> bool:
    """Return whether a clause could be a sentence of its own that says nothing more of the one before it."""
    return bool(
        re.match(
            r"(?:so |and |but )?(?:check|look|take a look|see|i|i'm|i've|i'll|my|we|we're|we've|we'll"
            r"|our|you|your|that's|it's|this|that|it|can|could|please"
            r"|what|how|thanks|let)\b",
            clause,
            re.IGNORECASE,
        )
    )


def pieces_of(text: str) -> list[str]:
    """Return the parts of a sentence that could be sentences: before "and I", and before the question at its end."""
    if text.rstrip().endswith("?"):
        asked = _ASKED.search(text)
        text = text[: asked.start()] if asked else text
    pieces, start = [], 0
    for found in _AND.finditer(text):
        # A verb follows the first word of the piece before it, or is drawn together with it.
        first, *others = text[start : found.start()].rpartition(", ")[2].lower().split() or [""]
        if "'" in first or any(word in _AUXILIARY or base_of(word) for word in others):
            pieces.append(text[start : found.start()])
            start = found.end()
    return [piece for piece in (*pieces, text[start:]) if piece.strip()]


def is_value(text: str, plain: str) -> bool:
    """Return whether a correction says nothing but what was meant: "Sorry, I meant Bergen"."""
    return bool(_MEANT.search(text)) and len(plain.split()) <= MAX_VALUE_WORDS and not plain.rstrip().endswith("?")


def remembered(plain: str) -> list[ReadFact]:
    """Return what a person asks to remember where no other pattern knows it."""
    if (
        plain.rstrip().endswith("?")
        or not _STATES.search(plain)
        or any(one.mood in (Mood.QUESTION, Mood.CONDITION) for one in read_sentence(plain))
    ):
        return []
    pattern = person.LAST[0]
    content = written(plain, None)
    return (
        [ReadFact(content, pattern.category, plain, pattern.confidence, pattern.name)] if is_complete(content) else []
    )


def written(clause: str, at: date | None) -> str:
    """Return a clause as a sentence: with a capital letter, an end, and dates in brackets."""
    plain = re.sub(r"^i\b", "I", re.sub(r"\bi(?='|\b(?=\s))", "I", clause.strip(" ,;:–—-")))
    plain = plain[:1].upper() + plain[1:]
    resolved = resolve_dates(plain.rstrip(" .!,;:…"), at)
    return f"{resolved}."
