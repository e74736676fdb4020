"""English statements in a form in which those that say the same are alike.

They are brought to one way of writing (`notation`) and one phrasing (`phrasings`); what is left are the words that take
part, in order, the values, what is denied, and what is enumerated.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.frames import (
    ADVERBS,
    AUXILIARIES,
    CUES,
    DEFINITE,
    DETERMINERS,
    PREPOSITIONS,
    frame_of,
    tokens_of,
)
from apps.rules.domain.contradiction.lexicon import key_of
from apps.rules.domain.contradiction.restatement.notation import rewrite
from apps.rules.domain.contradiction.restatement.phrasings import family_of, in_one_phrasing, without_opener
from apps.rules.domain.contradiction.text import VALUES, Kind, Token, read_tokens
from apps.rules.domain.contradiction.words import PERSONS, PRONOUNS, words
from apps.rules.domain.contradiction.words import SPEAKER as SPEAKER_WORDS
from apps.rules.domain.statements.english_verbs import base_of, is_past_form
from apps.rules.domain.statements.read import statements_of
from apps.rules.domain.statements.statement import Statement

MAX_CHARS, MAX_CLAUSES = 300, 2
SPEAKER = "speaker"
# Kind with unit, value, and the preposition before it where it turns the meaning.
Value = tuple[str, str, str]
_AGENTS = {"employer": family_of(key_of("company")), "headquarters": family_of(key_of("headquarters"))}
WHEN = frozenset((Kind.DATE, Kind.TIME, Kind.WEEKDAY))
# They turn the meaning of what follows, whatever else is the same.
STRONG = words(
    """from before after against over under above below behind beside between through without until till since than
    up down off out away back into during except near like unlike because while"""
)
_ALIKE = {
    **dict.fromkeys(("to", "into", "onto", "toward", "towards"), "to"),
    **dict.fromkeys(("with", "using", "via"), "with"), **dict.fromkeys(("till", "until"), "until"),
    **dict.fromkeys(("near", "by", "beside"), "by"),
}  # fmt: skip
_AMOUNTS = words("""more most less least few fewer all both only some half too enough almost""")
_PARTICLES = words("""up down off out away back over round around""")
# They concern what follows them.
_POINTING = words("""only all both most few some even""")
# They only hold a sentence together.
_SAYS_NOTHING = (
    DETERMINERS
    | PREPOSITIONS
    | AUXILIARIES
    | CUES
    | ADVERBS
    | SPEAKER_WORDS
    | frozenset(PRONOUNS)
    | words(
        """and or but so that which who whom whose also then as such please own each every one first it itself myself
    himself"""
    )
    | STRONG
)
_TIMES = words("last next yesterday today tomorrow tonight")
_SEPARATOR = re.compile(r",\s*(?:and |or )?|\s(?:and|or|&)\s")
# What is beside others in a list has no verb or preposition of its own.
_NO_ITEM = re.compile(r"\b(?:is|are|was|were|has|have|in|on|at|to|for|from|with|by|of|than|not|no)\b", re.IGNORECASE)
MIN_ITEMS, MAX_ITEM_WORDS = 2, 4


@dataclass(frozen=True, eq=False)
class Part:
    """A word that takes part in a statement. link: the preposition before it, "" for none. at: its position."""

    key: str
    link: str
    at: int
    is_verb: bool
    is_owner: bool
    phrase: int = 0


@dataclass(frozen=True, eq=False)
class Sense:
    """A statement in comparable form.

    parts: its words in order, the speaker among them. values: with units, in order. lists: what it may enumerate, in
    every reading. denied: what follows each negation. amounts: words that must be on both sides. persons: who is meant
    by "I", "she". is_passive: it has a "by" after a participle.
    """

    statement: Statement
    tokens: tuple[Token, ...]
    verb: str
    is_event: bool
    parts: tuple[Part, ...]
    values: tuple[Value, ...]
    lists: frozenset[frozenset[frozenset[str]]]
    denied: tuple[str, ...]
    amounts: Counter[str]
    persons: frozenset[str]
    is_passive: bool

    @property
    def order(self) -> list[str]:
        """Return the words that take part, in order."""
        return [part.key for part in self.parts if part.key != SPEAKER]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the words that take part, without persons."""
        return frozenset(part.key for part in self.parts)


@SizedCache("statements", megabytes=2, entry_bytes=2_000, char_bytes=60).remember
def sense_of(text: str) -> Sense | None:
    """Read a text of one statement, or of two about one thing; None for what cannot be compared."""
    if len(text) > MAX_CHARS:
        return None
    plain = text.strip()
    # As it is written it may have a clause more, "as for tea, ...", but what it asks or supposes stays that.
    written_so = statements_of(without_opener(plain))
    if len(written_so) > MAX_CLAUSES + 1 or not any(one.can_decide for one in written_so):
        return None
    turned = in_one_phrasing(rewrite(without_opener(plain)))
    statements = statements_of(plain if plain.rstrip(" .!") == turned else turned)
    if not 1 <= len(statements) <= MAX_CLAUSES or not all(one.can_decide and not one.additive for one in statements):
        return None
    if any(one.tense is not statements[0].tense or one.language != "en" for one in statements):
        return None
    # A list of names may be read as clauses without verbs.
    are_clauses = " but " in plain or all(frame_of(one).verb for one in statements)
    written = ("; " if are_clauses else ", ").join(one.body.rstrip(" .!") for one in statements)
    body = written if written == turned else in_one_phrasing(written)
    statement = statements[0]
    if statement.body.rstrip(" .!") != body:
        statement = replace(statement, body=body)
    frame, tokens = frame_of(statement), tuple(tokens_of(statement))
    is_share = tokens[:1] and tokens[0].kind is Kind.NUMBER and any(token.text in DEFINITE for token in tokens[:4])
    if not (frame.is_definite or is_share or any(token.text in PERSONS or token.name for token in tokens)):
        return None
    parts = tuple(parts_of(tokens))
    by = any(
        token.text == "by" and any(is_participle(before) for before in tokens[:at]) for at, token in enumerate(tokens)
    )
    return Sense(
        statement=statement,
        tokens=tokens,
        verb=frame.verb,
        is_event=frame.is_event and not is_until_now(tokens),
        parts=parts,
        values=tuple(values_of(tokens)),
        lists=frozenset(lists_of(body)),
        denied=tuple(sorted(denied_in(tokens))),
        amounts=Counter(token.text for token in tokens if is_counted(token)),
        persons=frozenset(part.key for part in parts if part.key in PRONOUNS.values()),
        is_passive=by,
    )


def is_counted(token: Token) -> bool:
    """Return whether a word without content of its own must be on both sides: "more", "up", "everything", "why not"."""
    if token.text in _AMOUNTS or token.text in _PARTICLES:
        return True
    return token.function and token.kind is Kind.WORD and token.text not in _SAYS_NOTHING


def is_until_now(tokens: Sequence[Token]) -> bool:
    """Return whether something began and holds still: "has lived here since 2019"."""
    texts = {token.text for token in tokens}
    return bool(texts & {"has", "have"}) and bool(texts & {"since", "for"})


def is_participle(token: Token) -> bool:
    """Return whether a word may be a participle."""
    return is_past_form(token.text) or token.text.endswith("ed")


def parts_of(tokens: Sequence[Token]) -> Iterator[Part]:
    """Yield the words that take part, each with the preposition before it."""
    link, phrase = "", 0
    has_user = any(token.text in ("user", "users") for token in tokens)
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        person = PRONOUNS.get(token.text, "")
        if person in ("he", "she", "they") and has_user:
            person = SPEAKER
        if person:
            is_own = token.text in DETERMINERS
            link = link if is_own else ""
            phrase += 1
            yield Part(person, link, at, False, is_own, phrase)
        elif token.text in PREPOSITIONS or token.text in STRONG:
            link, phrase = token.text, phrase + 1
        elif token.text in AUXILIARIES or token.negator:
            link, phrase = "", phrase + 1
        elif token.function:
            link, phrase = "" if token.text in DETERMINERS and before not in PREPOSITIONS else link, phrase + 1
        elif token.is_content or token.kind in VALUES:
            is_noun = before in DETERMINERS or token.name or token.text in _TIMES
            is_verb = bool(base_of(token.text)) and not is_noun
            if is_verb:
                link, phrase = "" if before not in PREPOSITIONS else link, phrase + 1
            phrase += token.text in _TIMES or token.kind in WHEN
            if token.is_content:
                yield Part(key_of_part(token), _ALIKE.get(link, link), at, is_verb, False, phrase)
            phrase += is_verb


def key_of_part(token: Token) -> str:
    """Return the key of a word; who does something is not what is done: "manager", "manages"."""
    is_agent = token.text.endswith(("er", "ers", "or", "ors")) and not token.key.endswith(("er", "or"))
    return _AGENTS.get(token.text, token.text.removesuffix("s")) if is_agent else family_of(token.key)


def values_of(tokens: Sequence[Token]) -> Iterator[Value]:
    """Yield unit, value and the preposition before it, where it turns the meaning."""
    for at, token in enumerate(tokens):
        if token.kind in VALUES and not token.function:
            before = tokens[at - 1].text if at else ""
            digits = token.text.replace(",", "")
            key = digits if digits.isdigit() else token.key
            is_turned = before in STRONG | ({"in"} if token.unit in ("s", "months") else set()) and not (
                before == "after" and token.unit in ("s", "months")
            )
            yield f"{token.kind.value} {token.unit}", key, _ALIKE.get(before, before) if is_turned else ""


def denied_in(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield what follows each negation, and each "only"."""
    for at, token in enumerate(tokens):
        if token.negator or token.text in _POINTING:
            following = [key_of_part(after) for after in tokens[at + 1 :] if after.is_content]
            yield " ".join(("not" if token.negator else token.text, *following[: 2 if token.negator else 1]))


def lists_of(body: str) -> Iterator[frozenset[frozenset[str]]]:
    """Yield every reading of what a text enumerates: "a canoe, a tent and a stove".

    What precedes the list is before its first item, what follows it after its last one; how much, is not known.
    """
    parts = [part for part in _SEPARATOR.split(body) if part.strip()]
    if len(parts) < MIN_ITEMS or any(_NO_ITEM.search(part) for part in parts[1:-1]):
        return
    inner = [item_of(part) for part in parts[1:-1]]
    first, last = words_of(_NO_ITEM.split(parts[0])[-1]), words_of(_NO_ITEM.split(parts[-1])[0])
    for begin in range(max(0, len(first) - MAX_ITEM_WORDS), len(first)):
        for end in range(1, min(MAX_ITEM_WORDS, len(last)) + 1):
            items = (frozenset(first[begin:]), *inner, frozenset(last[:end]))
            if sum(map(len, items)) == len(frozenset().union(*items)):
                yield frozenset(items)


def item_of(part: str) -> frozenset[str]:
    """Return the keys of an item of a list."""
    return frozenset(words_of(part))


def words_of(part: str) -> list[str]:
    """Return the keys of the words and values of a part, in order."""
    found = (token for token in read_tokens(part, False) if token.is_content or token.kind in VALUES)
    return [key_of_part(token) if token.is_content else token.key for token in found]
