"""English statements as frames: who or what, which relation, and what is said of it, in comparable form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from apps.core.domain.caches import SizedCache
from apps.rules.domain.contradiction.quantities import QUANTITY, UNIT_WORDS, read_quantity
from apps.rules.domain.contradiction.text import VALUES, Token, TokenKind, read_tokens
from apps.rules.domain.contradiction.words import SPEAKER
from apps.rules.domain.statements.english_verbs import base_of, is_past_form, relation_of
from apps.rules.domain.statements.statement import Mood, Statement
from apps.rules.domain.wordlists import words

# Contractions, so that the verb in them is found: the end, the words that have it, and what it is short for.
_CONTRACTED = re.compile(
    r"\b(i|we|you|they|he|she|it|that|there|what|who)'(m|re|s|ve|d|ll)\b|\b(?:the )?user's\b", re.IGNORECASE
)
_ENDS = {
    "m": (words("i"), "am"),
    "re": (words("we you they"), "are"),
    "s": (words("he she it that there what who"), "is"),
    "ve": (words("i we you they"), "have"),
    "d": (words("i we you he she it they"), "would"),
    "ll": (words("i we you he she it they"), "will"),
}
_HINTS_OF_NOW = ("days", "moment", "time being", "present")
_THESE_DAYS = re.compile(r"\b(?:these days|nowadays|at the moment|for the time being|at present)\b", re.IGNORECASE)
COPULAS = words("is are am was were be been being")
AUXILIARIES = COPULAS | words(
    """has have had do does did will would can could shall should may might must cant cannot couldnt dont doesnt didnt
    isnt arent wasnt werent wont wouldnt shouldnt hasnt havent hadnt mustnt neednt aint"""
)
_MODALS = AUXILIARIES - COPULAS - {"has", "have", "had", "isnt", "arent", "wasnt", "werent", "hasnt", "havent", "hadnt"}
# Participles that look like the base; verbs before the one that counts.
_SAME_FORMS = words("put set cut run read shut let split spread quit hurt become come")
_LEADING = words("come grow learn begin start get tend")
_ASKED = re.compile(r"^(?:(?:can|could|would|will) you )?(?:please |kindly )?", re.IGNORECASE)
# What no text without quantities, addresses, paths and commands has.
_MARKED = re.compile(r"[\d`@_/\\€$£%°]|\w\.\w")
_SPECIAL = re.compile(
    r"(?P<identifier>`[^`]{1,60}`|[^\s`]{0,100}\w[@_/\\]\w[^\s`,;]*\w|\b[^\W\d]\w+(?:\.[a-z]\w+)+)|" + QUANTITY.pattern,
    re.IGNORECASE,
)
_TURNING_LINKS = words("from to before after with without under over between")
MIN_PARTICIPLE, MAX_ADVERBS = 5, 3
# What no person does: of these the subject is a thing.
_HAPPENING = words("start begin open close end happen expire depart last cost require")
_PRESENT_COPULAS = words("is are am isnt arent")
DETERMINERS = words("the a an my our your his her its their this that these those some any no every each user's")
DEFINITE = words("the my our this your his her its their")
INDEFINITE = words("a an some any another one two three several many few most people somebody someone there")
PREPOSITIONS = words(
    """in on at to for from with by of as into onto over under about through near behind below above beside next off
    until till after before than via without between against toward towards per during since"""
)
# They say when it changed, or that it did, not what.
CUES = words(
    """now nowadays currently just already again instead actually finally meanwhile anymore still recently lately today
    longer since please back eventually soon time being from"""
) - {"from", "time", "being"}
ADVERBS = words("usually always often mostly normally generally typically regularly really very quite only")
_SPEAKER_KEYS = words("speaker")
PRONOUNS = words("he she it they you this that these those")
OWNERS = words("user users")
LIGHT_ADJECTIVES = words("old last whole entire own new current present latest revised updated final")
MAX_TOKENS = 40
_NO_KEYS = SPEAKER | CUES | LIGHT_ADJECTIVES | ADVERBS


@dataclass(frozen=True, eq=False)
class Frame:
    """A clause: its subject, the base of its verb ("" without one), and what follows it.

    group: the words of the verb. setting: the keys of what precedes the subject: "in winter", "at the office".
    is_changed: it is the state that a change led to. is_event: something happened, rather than a state holds.
    state: what it leads to, once that was asked; None where it is one.
    """

    statement: Statement
    tokens: tuple[Token, ...]
    subject: tuple[Token, ...]
    group: tuple[Token, ...]
    verb: str
    rest: tuple[Token, ...]
    setting: frozenset[str] = frozenset()
    is_changed: bool = False
    state: "Frame | None" = field(default=None, init=False, repr=False)

    @property
    def relation(self) -> str:
        """Return the name of what the verb says."""
        return relation_of(self.verb)

    @cached_property
    def is_event(self) -> bool:
        """Return whether the verb says what happened: "moved", "was raised", "have sold", but not "is parked"."""
        if any(token.text in _PRESENT_COPULAS for token in self.group):
            return False
        if self.group and self.group[-1].text in ("had", "did"):
            return True
        if self.verb in _SAME_FORMS and self.group[0].text in ("has", "have", "had", "was", "were", "got"):
            return True
        if self.verb in ("set", "put", "cut", "quit", "let"):
            last = self.group[-1].text if self.group else ""
            return not last.endswith("s") and not any(token.text in _MODALS for token in self.group)
        return any(
            is_past_form(token.text) or (token.text.endswith("ed") and not base_of(token.text))
            for token in self.group
            if token.text not in AUXILIARIES
        )

    @cached_property
    def is_negative(self) -> bool:
        """Return whether the verb is denied, or what follows it: "has no dog", but not "without a break"."""
        near = (*self.subject[:1], *self.group, *self.rest[:2])
        return any(token.negator and token.text != "without" for token in near)

    @cached_property
    def subject_keys(self) -> frozenset[str]:
        """Return what the subject is: its words, values and prepositions; "speaker" for the one who speaks."""
        # "I", "the user", "we", and nothing else.
        others = [one for one in self.subject if one.text not in SPEAKER]
        is_speaker = not self.subject or len(others) < len(self.subject)
        if is_speaker and all(one.text in ("the", *ADVERBS, *CUES) or one.negator for one in others):
            return _SPEAKER_KEYS
        if len(self.subject) == 1 and self.subject[0].text in PRONOUNS:
            return frozenset((self.subject[0].text,))
        links = {token.text for token in self.subject if token.text in _TURNING_LINKS}
        return keys_of(self.subject) | (links if keys_of(self.subject) else set())

    @cached_property
    def content(self) -> frozenset[str]:
        """Return the keys of all words that mean something."""
        return keys_of(self.tokens)

    @cached_property
    def said(self) -> frozenset[str]:
        """Return the keys of what is said of the subject."""
        return keys_of(self.rest)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the keys of the names in it."""
        return frozenset(token.key for token in self.tokens if token.name)

    @property
    def is_definite(self) -> bool:
        """Return whether the subject is a certain one: "the", "my", a name, the speaker, but not "a man"."""
        if not self.subject:
            return True
        return self.subject[0].text not in INDEFINITE and self.subject[0].kind is not TokenKind.NUMBER

    @cached_property
    def subject_words(self) -> frozenset[str]:
        """Return the words and values of the subject, without prepositions."""
        return keys_of(self.subject)

    @cached_property
    def is_doing(self) -> bool:
        """Return whether the verb says what is going on: "is trying", "am looking"."""
        return bool(self.group) and (
            self.group[-1].text.endswith("ing") or any(token.text == "being" for token in self.group)
        )

    @property
    def head(self) -> str:
        """Return the key of the chief noun of the subject: "meeting" in "the team meeting with Ana"."""
        end = next(
            (at for at, token in enumerate(self.subject) if at and token.text in PREPOSITIONS), len(self.subject)
        )
        return next((token.key for token in reversed(self.subject[:end]) if token.is_content), "")

    @property
    def is_named(self) -> bool:
        """Return whether the subject is only a name: "Ana", "Dr Lund"; one capital word may be one."""
        words = [token for token in self.subject if token.is_content]
        if self.verb in _HAPPENING or any(token.text in PREPOSITIONS for token in self.subject[1:]):
            return False
        if words and (base_of(words[0].text) or words[0].text.endswith(("ing", "tion", "ment", "ness"))):
            return False
        if any(token.text in DETERMINERS for token in self.subject) or (
            self.subject[:1] and self.subject[0].text in OWNERS
        ):
            return False
        return all(token.name or token is self.subject[0] for token in words)


def keys_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the keys of words and values that mean something, without the speaker, cues and light words."""
    return frozenset(
        [
            token.key if token.kind is TokenKind.WORD else key_of_token(token)
            for token in tokens
            if (token.is_content or token.kind is not TokenKind.WORD) and token.text not in _NO_KEYS
        ]
    )


def key_of_token(token: Token) -> str:
    """Return the key of a word, or of a value with its kind, so that "5" the day is not "5" the number."""
    return token.key if token.kind is TokenKind.WORD else f"{token.kind.value}:{token.key}"


def expand(text: str) -> str:
    """Return a text without the contractions of pronouns and verbs, and with "now" for "these days"."""
    lowered = text.lower()
    if any(hint in lowered for hint in _HINTS_OF_NOW):
        text = _THESE_DAYS.sub("now", text)

    def in_full(contracted: re.Match[str]) -> str:
        word = contracted[1]
        if not word:  # the user's things are those of the speaker
            return "my"
        having, full = _ENDS[contracted[2].lower()]
        return f"{word} {full}" if word.lower() in having else contracted[0]

    return _CONTRACTED.sub(in_full, text) if "'" in text else text


@SizedCache("statements", megabytes=1, entry_bytes=2_000, char_bytes=60).remember
def frames_of(statement: Statement) -> tuple[Frame, ...]:
    """Part a statement into frames: one, or one for each of several verbs: "sold the car and bought a bike"."""
    tokens = tuple(tokens_of(statement))[:MAX_TOKENS]
    setting, tokens = part_setting(tokens)
    first = frame_of_tokens(statement, tokens, setting)
    at = next(
        (place for place, token in enumerate(first.rest) if token.text == "and" and continues(first.rest[place + 1 :])),
        None,
    )
    if at is None or not first.verb:
        return (first,)
    split = len(tokens) - len(first.rest) + at
    second = frame_of_tokens(statement, first.subject + tokens[split + 1 :], setting, len(first.subject))
    return frame_of_tokens(statement, tokens[:split], setting), second


def continues(tokens: Sequence[Token]) -> bool:
    """Return whether some words begin with a verb that has the subject of the one before."""
    plain = [token for token in tokens[:3] if token.text not in CUES and token.text not in ADVERBS]
    if len(plain) < 2:
        return False
    first, second = plain[0], plain[1]
    if first.text in AUXILIARIES:
        return True
    is_finite = is_past_form(first.text) or (first.text.endswith("s") and base_of(first.text) != "")
    is_base = bool(base_of(first.text)) and (second.text in DETERMINERS or second.text in PREPOSITIONS)
    return not first.name and (is_finite or is_base) and second.text not in ("and", "or")


def frame_of(statement: Statement) -> Frame:
    """Part a statement into subject, verb and the rest. Accepts any statement."""
    return frames_of(statement)[0]


def frame_of_tokens(
    statement: Statement, tokens: tuple[Token, ...], setting: tuple[Token, ...], begin: int | None = None
) -> Frame:
    """Return the frame of some words. begin: where the verb begins, None where it is not known."""
    start, end = find_verb_group(tokens) if begin is None else find_verb_group(tokens, begin)
    group = tokens[start:end]
    verbs = [base_of(token.text) for token in group if token.text not in AUXILIARIES and base_of(token.text)]
    verb = verbs[-1] if verbs else ""
    if not verb and group:
        others = [token.key for token in group if token.is_content and token.text not in CUES | ADVERBS]
        has = any(token.text in ("has", "have", "had") for token in group)
        has = has and not any(token.text == "been" for token in group)
        verb = others[-1] if others else "have" if has else "be"
    rest = tokens[end:]
    if verbs and group[0].text in _PRESENT_COPULAS and not rest and not group[-1].text.endswith("ing"):
        verb, group, rest = "be", group[:-1], group[-1:]  # "is married", "is closed"
    if not verb:  # "dentist appointment on 12 March"
        link = next((at for at, token in enumerate(tokens) if at and token.text in ("on", "at", "in")), 0)
        if link and link + 1 < len(tokens) and any(token.kind in VALUES for token in tokens[link + 1 : link + 3]):
            return Frame(statement, tokens, tokens[:link], (), "be", tokens[link:], keys_of(setting))
    return Frame(statement, tokens, tokens[:start], group, verb, rest, keys_of(setting))


def tokens_of(statement: Statement) -> list[Token]:
    """Return the words of a statement; what looks like an address, a path or a command is one name."""
    text = expand(statement.body)
    if statement.mood is Mood.COMMAND:
        text = _ASKED.sub("", text)
    start = 0
    tokens: list[Token] = []
    is_plain = not _MARKED.search(text) and UNIT_WORDS.isdisjoint(text.lower().split())
    for found in () if is_plain else _SPECIAL.finditer(text):
        tokens += read_tokens(text[start : found.start()], start == 0)
        name = found["identifier"]
        plain = name.strip("`") if name else ""
        tokens.append(Token(plain, plain.lower(), TokenKind.WORD, name=True) if name else read_quantity(found))
        start = found.end()
    return tokens + read_tokens(text[start:], start == 0)


def part_setting(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Return what precedes the subject, and the rest: "in winter", "the shop opens"; a reason is left out."""
    if not tokens or tokens[0].text not in PREPOSITIONS:
        return (), tokens
    starts = SPEAKER | {"he", "she", "they", "we", "it"} | DEFINITE
    at = next((place for place in range(2, min(8, len(tokens))) if tokens[place].text in starts), None)
    if at is None:
        return (), tokens
    return () if tokens[0].text in ("since", "after", "as") and at < 5 else tokens[:at], tokens[at:]


def find_verb_group(tokens: Sequence[Token], begin: int | None = None) -> tuple[int, int]:
    """Return where the first verb with its auxiliaries, adverbs and negations begins and ends; (0, 0) without one."""
    start = begin
    while start is not None and start + 1 < len(tokens) and tokens[start].text in CUES | ADVERBS:
        start += 1
    if start is None:
        start = next((at for at in range(len(tokens)) if begins_verb(tokens, at)), None)
    if start is None:
        start = next((at for at in range(1, len(tokens)) if may_be_verb(tokens, at)), None)
    if start is None:
        return 0, 0
    end = start + 1
    has_main = tokens[start].text not in AUXILIARIES and not (
        tokens[start].text == "got" and end < len(tokens) and is_past_form(tokens[end].text)
    )
    has_modal = tokens[start].text in _MODALS
    while start and (tokens[start - 1].text in CUES | ADVERBS | {"not", "never"} or is_no_longer(tokens, start - 1)):
        start -= 1
    while end < len(tokens) and not has_main:
        token = tokens[end]
        is_known = bool(base_of(token.text)) and (is_past_form(token.text) or token.text in _SAME_FORMS)
        is_participle = is_known or (token.text.endswith(("ed", "ing")) and len(token.text) > MIN_PARTICIPLE)
        after_modal = has_modal and bool(base_of(token.text))
        if token.text in AUXILIARIES or token.negator or token.text in CUES or token.text.endswith("ly"):
            end += 1
        elif is_participle or after_modal:
            end, has_main = end + 1, True
        else:
            break
    # "come to love", "started to like".
    while (
        end + 1 < len(tokens)
        and tokens[end].text == "to"
        and base_of(tokens[end - 1].text) in _LEADING
        and base_of(tokens[end + 1].text)
    ):
        end += 2
    return start, end


def is_no_longer(tokens: Sequence[Token], at: int) -> bool:
    """Return whether "no longer" begins at a position, or "no more"."""
    return tokens[at].text == "no" and at + 1 < len(tokens) and tokens[at + 1].text in ("longer", "more")


def may_be_verb(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word that is not known may be a verb: "the group rehearses", "the API allows"."""
    token, before = tokens[at], tokens[at - 1]
    is_singular = (before.is_content and not before.text.endswith("s")) or before.kind in VALUES
    if token.name or not token.is_content:
        return False
    known = next((one for one in reversed(tokens[:at]) if one.text not in CUES | ADVERBS), before)
    if known.text in ("i", "we", "they", "you", "user") and at <= MAX_ADVERBS:
        return True
    if len(token.text) < MIN_PARTICIPLE - token.text.endswith("s"):
        return False
    if token.text.endswith("ed"):
        return before.is_content or before.text in SPEAKER
    return is_singular and token.text.endswith("s") and token.text[-2] not in "sui"


def begins_verb(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a verb begins at a position: an auxiliary, or a known verb where a verb can be."""
    token = tokens[at]
    if token.text in AUXILIARIES:
        return at > 0 and tokens[at - 1].text not in ("who", "that", "which")
    if not base_of(token.text) or token.name:
        return False
    following = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if at == 1 and tokens[0].text in ADVERBS:
        return True
    if at == 0:
        is_finite = token.text.endswith("s") or is_past_form(token.text)
        return following not in AUXILIARIES and (
            is_finite or following in DETERMINERS | PREPOSITIONS | {"me", "us", "it"}
        )
    before = tokens[at - 1]
    if token.text.endswith("s") and is_past_form(following):  # "the shares fell"
        return False
    if before.text in DETERMINERS or before.text in PREPOSITIONS or following in AUXILIARIES:
        return False
    # "My work email is": a noun before the verb; "my sister works at", "Ana works at".
    is_next_verb = any(tokens[later].text in AUXILIARIES for later in range(at + 1, min(at + 4, len(tokens))))
    is_after_person = before.text in SPEAKER or before.text in ("he", "she", "it", "they", "you", "who") or before.name
    if is_after_person or before.text in CUES | ADVERBS or before.negator:
        return True
    return not is_next_verb and (token.text.endswith("s") or is_past_form(token.text) or at >= 1)
