"""Analysis of a text for the contradiction signal: clauses with their words, values and negations."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from apps.core.domain.caches import SizedCache, remember_words
from apps.retrieval.domain.text.languages import STOPWORDS
from apps.retrieval.domain.text.stems import fold
from apps.rules.domain.contradiction.lexicon import key_of
from apps.rules.domain.contradiction.words import (
    ENDINGS,
    FILLERS,
    IDIOMS,
    LIGHT,
    MONTHS,
    NEGATORS,
    NO_SPEAKERS,
    NUMBER_WORDS,
    NUMBERED,
    PRONOUNS,
    STATES,
    UPDATE_CUES,
    WEEKDAYS,
)
from apps.rules.domain.wordlists import longest_first

# A fact is short; of a long text only this much is compared, so that no text makes a save slow.
MAX_CHARS = 4000
MAX_CLAUSES = 60
MAX_TOKEN_CHARS, MAX_KEPT_CHARS = 64, 24
# What functions find out about a passage is kept with it.
_cache = SizedCache("analysed texts", megabytes=20, entry_bytes=2_000, char_bytes=60)

T = TypeVar("T")

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Long runs of spaces would make the patterns below slow.
_SPACES = re.compile(r"[^\S\n]+")
_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ`´＇", "'"))
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|[\n;。！？]+|(?<=\w)\s+[-–—]+\s+")
_SPEAKER = re.compile(
    r"^ ?((?:[A-Z]|user|assistant|human|system)[\w.'-]{0,40}(?: [A-Z][\w.'-]{0,40}){0,2}): ", re.MULTILINE
)
_CLAUSE_END = re.compile(
    r",\s+|:\s+|\s+[-–—]\s+|\s+(?=(?:but|which|because|so|although|though|while|whereas|since)\b)", re.IGNORECASE
)
_MONTH = longest_first(MONTHS)
_TOKEN = re.compile(
    rf"(?P<date>\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b)"
    r"|(?P<time>\b\d{1,2}:\d\d(?:\s*[ap]\.?m\b\.?)?|\b\d{1,2}\s*[ap]\.?m\b\.?)"
    r"|(?P<number>[$€£]?\d[\d,]*(?:\.\d+)?(?:[-/]\d+)?(?:\s?%|(?:st|nd|rd|th)\b|[^\W\d_]{1,4}\b)?)"
    r"|(?P<word>[^\W_]+(?:'[^\W_]+)*(?:-[^\W_]+)*)",
    re.IGNORECASE,
)
# Slower, so for texts with a "not" only; and quicker, for texts without one and without a digit.
_TOKEN_OR_IDIOM = re.compile(rf"(?P<idiom>\b(?=[bcimnowy])(?:{'|'.join(IDIOMS)})\b)|{_TOKEN.pattern}", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*(?:-[^\W_]+)*")
_DIGIT = re.compile(r"\d")
_NOTS = ("not", "never", "n't", "no ")
_NUMBER = re.compile(r"(?P<unit>[$€£]?)(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<rest>[-/]\d+)?\s?(?P<suffix>.*)", re.DOTALL)
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_NO_NOUNS = (FILLERS | LIGHT | UPDATE_CUES) - NUMBERED
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_POSSESSIVE = re.compile(r"'(?:s|ll|ve|re|d|m)$|'$")
SPEAKER = "speaker"


class TokenKind(StrEnum):
    """The kind of a token."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    WEEKDAY = "weekday"


VALUES = frozenset(TokenKind) - {TokenKind.WORD}


@dataclass(frozen=True, slots=True)
class Token:
    """key: the stem of a word, the canonical form of a value. unit: "$", "%", "ms" and the like, "" for none.

    negator: the word denies something. function: a function word. name: looks like a proper name.
    """

    text: str
    key: str
    kind: TokenKind
    unit: str = ""
    negator: bool = False
    function: bool = False
    name: bool = False
    is_content: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Find out once whether it is a content word: it is asked for more often than anything else."""
        object.__setattr__(self, "is_content", self.kind is TokenKind.WORD and not self.function and not self.negator)


@dataclass(frozen=True)
class Clause:
    """A part of a sentence, without the words that a text pipeline would not find."""

    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> frozenset[str]:
        """Return the stems of the content words."""
        return frozenset([token.key for token in self.tokens if token.is_content])

    @cached_property
    def values(self) -> tuple[tuple[int, Token], ...]:
        """Return numbers, dates, times and weekdays with their positions."""
        return tuple([(place, token) for place, token in enumerate(self.tokens) if token.kind is not TokenKind.WORD])

    @cached_property
    def negators(self) -> tuple[int, ...]:
        """Return the positions of the negators."""
        return tuple([place for place, token in enumerate(self.tokens) if token.negator])

    @property
    def words(self) -> str:
        """Return its text, for the evidence."""
        return " ".join(token.text for token in self.tokens)


@dataclass(frozen=True, eq=False)
class Passage:
    """An analysed text. sentences: each with its clauses. speakers: the names before its lines, casefolded.

    made: what functions found out about it, see `once`.
    Compared by identity, so that cache lookups are cheap.
    """

    sentences: tuple[tuple[Clause, ...], ...]
    speakers: frozenset[str] = frozenset()
    made: dict[Callable[["Passage"], object], Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return all clauses in order."""
        return tuple(clause for sentence in self.sentences for clause in sentence)

    @cached_property
    def whole(self) -> Clause:
        """Return the text as one clause."""
        return Clause(tuple(token for clause in self.clauses for token in clause.tokens))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the keys of its proper names."""
        return frozenset(token.key for token in self.whole.tokens if token.name)

    def once(self, make: Callable[["Passage"], T]) -> T:
        """Return the result of a function for the passage, computed once."""
        if make not in self.made:
            self.made[make] = make(self)
        found: T = self.made[make]
        return found

    @cached_property
    def surface(self) -> dict[str, str]:
        """Return the written form of each stem."""
        return {token.key: token.text for token in reversed(self.whole.tokens)}


def is_identifier(clause: Clause, place: int) -> bool:
    """Return whether a number names a thing rather than counts any: "item 17", "room 5", "flight 22 leaves"."""
    token = clause.tokens[place]
    if token.kind is not TokenKind.NUMBER or token.unit or place == 0:
        return False
    before, after = clause.tokens[place - 1], clause.tokens[place + 1 : place + 2]
    if not before.is_content or before.key in _NO_NOUNS:
        return False
    # After the first noun and before an apparent verb.
    is_first = place == 1 or (place == 2 and clause.tokens[0].text == "the")
    if is_first and after and after[0].text.endswith(("s", "ed")):
        return True
    return not (after and after[0].is_content and after[0].text not in STATES)


def analyse(text: str) -> Passage:
    """Analyse a text; code blocks and the part beyond MAX_CHARS are skipped. Accepts any str.

    Passages are cached: each text of an import is compared with many others. A short one takes about 4 KB.
    """
    return read_text(text[:MAX_CHARS])


@_cache.remember
def read_text(text: str) -> Passage:
    """Split a text into sentences with clauses."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    text = _SPACES.sub(" ", _CODE.sub("\n", text))
    sentences: list[tuple[Clause, ...]] = []
    count = 0
    for sentence in _SENTENCE_END.split(text):
        parts = [Clause(tuple(read_tokens(part, not at))) for at, part in enumerate(_CLAUSE_END.split(sentence))]
        clauses = tuple(clause for clause in parts if clause.tokens)[: MAX_CLAUSES - count]
        count += len(clauses)
        if clauses:
            sentences.append(clauses)
    # A word before a colon at the beginning of a line may also name the kind of the note.
    speakers = frozenset(match[1].casefold() for match in _SPEAKER.finditer(text)) - NO_SPEAKERS
    return Passage(tuple(sentences), speakers)


def read_tokens(text: str, is_start: bool) -> list[Token]:
    """Return the tokens of a clause. is_start: of a sentence, where any word has a capital letter."""
    lowered = text.lower()
    has_not = any(mark in lowered for mark in _NOTS)
    found: list[Token] = []
    if not has_not and not _DIGIT.search(text):
        for word in _WORD.findall(text):
            found += read_token("word", word[:MAX_TOKEN_CHARS], is_start and text.startswith(word))
            is_start = False
        return found
    for match in (_TOKEN_OR_IDIOM if has_not else _TOKEN).finditer(text):
        found += read_token(match.lastgroup or "word", match[0][:MAX_TOKEN_CHARS], is_start and match.start() == 0)
    return found


def read_token(kind: str, text: str, is_first: bool) -> tuple[Token, ...]:
    """Return the tokens of a match; a word with hyphens has several. Short ones are remembered."""
    return (_known_tokens if len(text) <= MAX_KEPT_CHARS else make_tokens)(kind, text, is_first)


def make_tokens(kind: str, text: str, is_first: bool) -> tuple[Token, ...]:
    """Return the same as `read_token`."""
    match kind:
        case "date":
            return (Token(text, date_key(text), TokenKind.DATE),)
        case "time":
            return (Token(text, time_key(text), TokenKind.TIME),)
        case "number":
            return (read_number(text),)
        case "idiom":
            plain = " ".join(text.casefold().split())
            return (Token(plain, plain, TokenKind.WORD, function=True),)
    whole = text.lower().replace("'", "")
    if whole in NEGATORS or (whole.endswith("nt") and text.lower().endswith("n't")):
        return (Token(whole, whole, TokenKind.WORD, negator=True),)
    parts = _POSSESSIVE.sub("", text).split("-")
    is_unsure = is_first and not text.endswith("'s")
    return tuple(read_word(part, is_unsure and place == 0) for place, part in enumerate(parts) if part)


_known_tokens = remember_words("words", entries=1 << 13, entry_bytes=3_500)(make_tokens)


def time_key(text: str) -> str:
    """Return a time of day on the clock of 24 hours: "3 pm" and "15:00" are one."""
    hours, minutes = [*map(int, re.findall(r"\d+", text)), 0][:2]
    half = re.search(r"[ap]", text.lower())
    if half:
        hours = hours % 12 + 12 * (half[0] == "p")
    return f"{hours}:{minutes:02d}"


def date_key(text: str) -> str:
    """Return month and day of a date, or its first two numbers."""
    iso = _ISO.fullmatch(text)
    if iso:
        return f"{int(iso[2])}-{int(iso[3])}"
    month = next((MONTHS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in MONTHS), None)
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    return f"{month}-{numbers[0]}" if month else "/".join(map(str, numbers[:2]))


def read_number(text: str) -> Token:
    """Return the token of a number with its unit."""
    match = _NUMBER.fullmatch(text)
    assert match is not None
    digits = match["digits"].replace(",", "").rstrip(".")
    suffix = match["suffix"].lower()
    unit = "" if suffix in _ORDINALS else suffix
    return Token(text, f"{float(digits):g}{match['rest'] or ''}", TokenKind.NUMBER, unit=match["unit"] or unit)


def read_word(text: str, is_first: bool) -> Token:
    """Return the token of a word. is_first: of its sentence, so that a capital letter is no sign of a name."""
    plain = fold(text.casefold().replace("'", ""))
    if plain in WEEKDAYS:
        return Token(plain, WEEKDAYS[plain], TokenKind.WEEKDAY)
    if plain in NUMBER_WORDS:
        return Token(plain, f"{float(NUMBER_WORDS[plain]):g}", TokenKind.NUMBER, function=plain in ("one", "first"))
    if plain in STOPWORDS or plain in ENDINGS or not plain:
        return Token(plain, plain, TokenKind.WORD, function=True)
    return Token(plain, key_of(plain), TokenKind.WORD, name=text[0].isupper() and not is_first)


TIMES = VALUES - {TokenKind.NUMBER}


def are_of_others(first: Clause, second: Clause) -> bool:
    """Return whether two statements are about different persons: "I" in one, "she" in the other."""
    one, other = person_of(first), person_of(second)
    return bool(one and other) and one != other


def person_of(clause: Clause) -> str:
    """Return the person of the first pronoun, "" without any."""
    return next((PRONOUNS[token.text] for token in clause.tokens if token.text in PRONOUNS), "")


def differ_beside(first: Clause, second: Clause) -> bool:
    """Return whether each statement has a content word that the other one lacks."""
    said = FILLERS | LIGHT | UPDATE_CUES
    return bool(first.content - second.content - said) and bool(second.content - first.content - said)


def times_of(clause: Clause) -> frozenset[str]:
    """Return the keys of the dates, times and weekdays of a clause."""
    return frozenset(token.key for _, token in clause.values if token.kind in TIMES)


def numbers_of(clause: Clause) -> frozenset[str]:
    """Return the keys of the other numbers of a clause."""
    return frozenset(token.key for _, token in clause.values if token.kind is TokenKind.NUMBER and not token.function)
