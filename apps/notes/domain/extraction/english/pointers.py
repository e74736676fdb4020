"""What an English sentence points at outside itself, and whether it can be understood alone."""

import re

from apps.notes.domain.extraction.english import person

MAX_CONTENT_CHARS = 240
# What "it" means is said before it where that many words and characters are.
MIN_WORDS_BEFORE, MIN_CHARS_BEFORE = 4, 12
MAX_VAGUE_WORDS = 8
# A subject that names nothing, and objects that point to something outside the sentence.
_POINTS = re.compile(
    r"(?:it|this|that|these|those|they|he|she|there|here|which|who|what|one|both|some|none|all of (?:it|them)"
    r"|his|her|their|its|you|your)\b",
    re.IGNORECASE,
)
_ENDS_POINTING = re.compile(
    r"\b(?:it|this|that|these|those|them|there|him|her|one|ones|so|too much|same|he|she|they|here)\W*$", re.IGNORECASE
)
_POINTER = re.compile(
    r"\b(?:to|of|in|at|with|on|for|about|from|love|like|enjoy|hate|prefer|want|have|had|use|made|make"
    r"|got) that (?!(?:i|my|we|our|you|the|they|he|she|can|is|are|was|has|have)\b)\w+"
    r"|\b(?:it|they|them|their|its|those|these|such)\b",
    re.IGNORECASE,
)
# What is pointed at is never in the sentence.
_OUTSIDE = re.compile(
    r"(?<!out )(?<!over )\b(?:t?here)\b(?! (?:is|are|was|were)\b)|\bones? (?:to|of my own)\b"
    r"|\bthis (?!(?:year|month|week|weekend|summer|winter|spring|autumn|fall|semester|quarter|season"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|morning|evening|afternoon|project"
    r"|repo|repository|codebase|app|team|january|february|march|april|may|june|july|august|september"
    r"|october"
    r"|november|december|coming)\b)\w+",
    re.IGNORECASE,
)
# What is meant by "it" is said before it, in a clause of its own.
_ANTECEDENT = re.compile(
    r"[,;–-]|\b(?:because|and|but|since|when|so|while|that|who|which|if|where|before|after)\b|\bmy\b", re.IGNORECASE
)
_NEAR_POINTER = re.compile(
    r"\b(?:it|them|him|they|he|she|these|those|this (?!(?:year|month|week|weekend|summer|winter|spring|autumn"
    r"|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday|morning|evening|afternoon|project|repo"
    r"|repository|codebase|app|team)\b)\w+|that (?:one|way|kind|stuff|thing)|you|your|the (?:same|other one"
    r"|above|following))\b",
    re.IGNORECASE,
)
_PERSON_POINTER = re.compile("he|she|him|they|them", re.IGNORECASE)
_PRONOUN = re.compile(r"(he|she)(?='s\b|'ll\b|\b)|(his|her)\b", re.IGNORECASE)
_MALE = re.compile(
    r"\b(?:father|dad|daddy|papa|brother|son|husband|boyfriend|uncle|nephew|grand(?:pa|father|son)|fianc[eé]"
    r"|godfather|landlord)\b",
    re.IGNORECASE,
)
_FEMALE = re.compile(
    r"\b(?:mother|mom|mum|mommy|sister|daughter|wife|girlfriend|aunt|niece|gran(?:dma|ny)?|grand(?:mother"
    r"|daughter)|fianc[eé]e|godmother|landlady)\b",
    re.IGNORECASE,
)
_RELATED = re.compile(
    r"^(?:one of )?(my|our) ((?:[\w-]+ ){0,2}?[\w-]+?)(?:,? ((?-i:[A-Z])[\w-]+))?,?(?='s\b| )", re.IGNORECASE
)
_NAMED = re.compile(r"(?:is|'s) (?:called|named)? ?((?-i:[A-Z])[\w-]+)")
_THIS = re.compile(
    r"^\W*(?:\w+ ){1,3}(?:that|this|it|these|those)\b(?! (?:project|repo|repository|codebase|team|app"
    r"|the|you|i|we|your|my|all|every)\b)",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"\bsome(?:thing|one|where|body)\b", re.IGNORECASE)


def is_complete(content: str) -> bool:
    """Return whether a sentence can be understood without what was said before it."""
    if (
        _OUTSIDE.search(content)
        or len(content) > MAX_CONTENT_CHARS
        or len(content.split()) < 2
        or _POINTS.match(content)
    ):
        return False
    if _VAGUE.search(content) and len(content.split()) <= MAX_VAGUE_WORDS:
        return False
    if _ENDS_POINTING.search(content) and len(content.split()) < 9:
        return False
    outside = _POINTER.search(content)
    if outside and not (_ANTECEDENT.search(content[: outside.start()]) and outside.start() > MIN_CHARS_BEFORE):
        return False
    pointed = _NEAR_POINTER.search(content)
    if pointed is None or len(content[: pointed.start()].split()) > MIN_WORDS_BEFORE:
        return True
    return bool(_PERSON_POINTER.fullmatch(pointed[0]) and _RELATED.match(content))


def is_standing(content: str) -> bool:
    """Return whether an instruction can be understood without what was said before it."""
    return len(content) <= MAX_CONTENT_CHARS and not _ENDS_POINTING.search(content) and not _THIS.search(content)


def refer_to(text: str, person: str) -> str:
    """Return a sentence about "she" with the one person of the sentence before in her place."""
    found = _PRONOUN.match(text) if person else None
    if not found:
        return text
    word = found[0].lower()
    other = _FEMALE if word in ("he", "his") else _MALE
    if other.search(person):
        return text
    name = f"{person}'s" if found[2] else person
    return name + text[found.end() :]


def person_of(content: str) -> str:
    """Return the one person whom a fact is about: "My sister Ana"; "" for the speaker, or for several."""
    found = _RELATED.match(content)
    if not found or not (_MALE.search(found[2]) or _FEMALE.search(found[2]) or person.PEOPLE[1].regex.match(content)):
        return ""
    if found[2].endswith("s") and found[2] not in ("boss",):
        return ""
    named = _NAMED.search(content[found.end() :][:24])
    name = found[3] or (named[1] if named else "")
    return (
        f"{found[1]} {found[2]} {name}".strip().capitalize()
        if not name
        else f"{found[1].capitalize()} {found[2]} {name}"
    )
