"""A text as the contradiction signal reads it: clauses with their words, values and negations."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TypeVar

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
    OF_THE_USER,
    PERSONS,
    SINGLE_VALUED,
    STATES,
    UPDATE_CUES,
    WEEKDAYS,
)

# A fact is short; of a long text only this much is compared, so that no text makes a save slow.
MAX_CHARS = 4000
MAX_CLAUSES = 60
# Passages that are kept, so that what they take stays bounded: about 150 MB at the worst, a third of that usually.
SHORT_CHARS, KEPT_SHORT, KEPT_LONG = 400, 1 << 14, 1 << 9
MAX_TOKEN_CHARS = 64

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
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_TOKEN = re.compile(
    rf"(?P<date>\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\b"
    r"|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b)"
    r"|(?P<time>\b\d{1,2}:\d\d(?:\s*[ap]\.?m\b\.?)?|\b\d{1,2}\s*[ap]\.?m\b\.?)"
    r"|(?P<number>[$€£]?\d[\d,]*(?:\.\d+)?(?:[-/]\d+)?(?:\s?%|(?:st|nd|rd|th)\b|[^\W\d_]{1,4}\b)?)"
    r"|(?P<word>[^\W_]+(?:'[^\W_]+)*(?:-[^\W_]+)*)",
    re.IGNORECASE,
)
# Slower, so for texts with a "not" only.
_TOKEN_OR_IDIOM = re.compile(rf"(?P<idiom>\b(?=[bcimnowy])(?:{'|'.join(IDIOMS)})\b)|{_TOKEN.pattern}", re.IGNORECASE)
_NOTS = ("not", "never", "n't", "no ")
_NUMBER = re.compile(r"(?P<unit>[$€£]?)(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<rest>[-/]\d+)?\s?(?P<suffix>.*)", re.DOTALL)
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_NO_NOUNS = (FILLERS | LIGHT | UPDATE_CUES) - NUMBERED
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_POSSESSIVE = re.compile(r"'(?:s|ll|ve|re|d|m)$|'$")


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    WEEKDAY = "weekday"


VALUES = frozenset(Kind) - {Kind.WORD}


@dataclass(frozen=True, slots=True)
class Token:
    """key: the stem of a word, the canonical form of a value. unit: "$", "%", "ms" and the like, "" for none.

    negator: the word denies something. function: a word without meaning of its own. name: looks like a proper name.
    """

    text: str
    key: str
    kind: Kind
    unit: str = ""
    negator: bool = False
    function: bool = False
    name: bool = False

    @property
    def is_content(self) -> bool:
        """True for a word that says something by itself."""
        return self.kind is Kind.WORD and not self.function and not self.negator


@dataclass(frozen=True)
class Clause:
    """A part of a sentence, without the words that a text pipeline would not find."""

    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of its content words."""
        return frozenset([token.key for token in self.tokens if token.is_content])

    @cached_property
    def values(self) -> tuple[tuple[int, Token], ...]:
        """Its numbers, dates, times and weekdays with their positions."""
        return tuple([(place, token) for place, token in enumerate(self.tokens) if token.kind is not Kind.WORD])

    @cached_property
    def negators(self) -> tuple[int, ...]:
        """Where it denies."""
        return tuple([place for place, token in enumerate(self.tokens) if token.negator])

    @cached_property
    def is_anchored(self) -> bool:
        """True when it speaks of someone or something certain: the speaker, an owner, a name, "the deadline".

        "Prefers tea" is about the user.
        """
        if any(token.name or token.text in PERSONS for token in self.tokens):
            return True
        if self.tokens and self.tokens[0].text in OF_THE_USER:
            return True
        return self.is_definite and any(token.is_content and token.key in SINGLE_VALUED for token in self.tokens)

    @property
    def is_definite(self) -> bool:
        """It begins with "the"."""
        return bool(self.tokens) and self.tokens[0].text == "the"

    @property
    def words(self) -> str:
        """Its words, for the evidence."""
        return " ".join(token.text for token in self.tokens)


@dataclass(frozen=True, eq=False)
class Passage:
    """An analysed text. sentences: each with its clauses. speakers: whose turns its lines are, casefolded.

    Compared by identity, so that caches find it cheaply.
    """

    sentences: tuple[tuple[Clause, ...], ...]
    speakers: frozenset[str] = frozenset()

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses in order."""
        return tuple(clause for sentence in self.sentences for clause in sentence)

    @cached_property
    def whole(self) -> Clause:
        """The text as one clause."""
        return Clause(tuple(token for clause in self.clauses for token in clause.tokens))

    @cached_property
    def names(self) -> frozenset[str]:
        """The keys of its proper names."""
        return frozenset(token.key for token in self.whole.tokens if token.name)

    def once(self, make: Callable[["Passage"], T]) -> T:
        """What a function finds in the passage, which it is asked once."""
        key = f"{make.__module__}.{make.__name__}"
        if key not in self.__dict__:
            self.__dict__[key] = make(self)
        found: T = self.__dict__[key]
        return found

    @cached_property
    def surface(self) -> dict[str, str]:
        """How the words were written, by stem."""
        return {token.key: token.text for token in reversed(self.whole.tokens)}


def is_identifier(clause: Clause, place: int) -> bool:
    """ "item 17", "room 5", "flight 22 leaves": the number at a place names a thing rather than counting any."""
    token = clause.tokens[place]
    if token.kind is not Kind.NUMBER or token.unit or place == 0:
        return False
    before, after = clause.tokens[place - 1], clause.tokens[place + 1 : place + 2]
    if not before.is_content or before.key in _NO_NOUNS:
        return False
    return _is_subject(clause, place) or not (after and _is_counted(after[0]))


def _is_subject(clause: Clause, place: int) -> bool:
    """The number stands after the first noun and before what looks like a verb."""
    starts = place == 1 or (place == 2 and clause.tokens[0].text == "the")
    following = clause.tokens[place + 1 : place + 2]
    return starts and bool(following) and following[0].text.endswith(("s", "ed"))


def _is_counted(token: Token) -> bool:
    return token.is_content and token.text not in STATES


def analysed(text: str) -> Passage:
    """Read a text; code blocks and what lies beyond MAX_CHARS are skipped. Accepts any str.

    Passages are kept: of an import each text is compared with many others. A short one takes some 4 KB.
    """
    return _short(text) if len(text) <= SHORT_CHARS else _long(text[:MAX_CHARS])


def _read_text(text: str) -> Passage:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    text = _SPACES.sub(" ", _CODE.sub("\n", text))
    sentences, count = [], 0
    for part in _SENTENCE_END.split(text):
        clauses = tuple(clause for clause in _clauses(part) if clause.tokens)[: MAX_CLAUSES - count]
        count += len(clauses)
        if clauses:
            sentences.append(clauses)
    return Passage(tuple(sentences), _speakers(text))


_short = lru_cache(maxsize=KEPT_SHORT)(_read_text)
_long = lru_cache(maxsize=KEPT_LONG)(_read_text)


def _speakers(text: str) -> frozenset[str]:
    """Those before a colon at the beginning of a line, unless it says what kind of note this is."""
    return frozenset(match[1].casefold() for match in _SPEAKER.finditer(text)) - NO_SPEAKERS


def _clauses(sentence: str) -> Iterator[Clause]:
    first = True
    for part in _CLAUSE_END.split(sentence):
        yield Clause(tuple(_tokens(part, first)))
        first = False


def _tokens(text: str, at_start: bool) -> Iterator[Token]:
    lowered = text.lower()
    pattern = _TOKEN_OR_IDIOM if any(mark in lowered for mark in _NOTS) else _TOKEN
    for match in pattern.finditer(text):
        yield from _read(match.lastgroup or "word", match[0][:MAX_TOKEN_CHARS], at_start and match.start() == 0)


@lru_cache(maxsize=1 << 15)
def _read(kind: str, text: str, at_start: bool) -> tuple[Token, ...]:
    return tuple(_READERS[kind](text, at_start))


def _read_date(text: str, _at_start: bool) -> Iterable[Token]:
    iso = _ISO.fullmatch(text)
    if iso:
        return [Token(text, f"{int(iso[2])}-{int(iso[3])}", Kind.DATE)]
    month = next((MONTHS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in MONTHS), None)
    numbers = [int(digits) for digits in re.findall(r"\d+", text)]
    return [Token(text, f"{month}-{numbers[0]}" if month else "/".join(map(str, numbers[:2])), Kind.DATE)]


def _read_time(text: str, _at_start: bool) -> Iterable[Token]:
    return [Token(text, re.sub(r"[\s.]", "", text.lower()), Kind.TIME)]


def _read_number(text: str, _at_start: bool) -> Iterable[Token]:
    match = _NUMBER.fullmatch(text)
    assert match is not None
    digits = match["digits"].replace(",", "").rstrip(".")
    suffix = match["suffix"].lower()
    unit = "" if suffix in _ORDINALS else suffix
    return [Token(text, f"{float(digits):g}{match['rest'] or ''}", Kind.NUMBER, unit=match["unit"] or unit)]


def _read_word(text: str, at_start: bool) -> Iterable[Token]:
    whole = text.lower().replace("'", "")
    if whole in NEGATORS or (whole.endswith("nt") and text.lower().endswith("n't")):
        return [Token(whole, whole, Kind.WORD, negator=True)]
    parts = _POSSESSIVE.sub("", text).split("-")
    unsure = at_start and not text.endswith("'s")
    return [_word(part, unsure and place == 0) for place, part in enumerate(parts) if part]


def _word(text: str, at_start: bool) -> Token:
    plain = fold(text.casefold().replace("'", ""))
    if plain in WEEKDAYS:
        return Token(plain, WEEKDAYS[plain], Kind.WEEKDAY)
    if plain in NUMBER_WORDS:
        return Token(plain, f"{float(NUMBER_WORDS[plain]):g}", Kind.NUMBER, function=plain in ("one", "first"))
    if plain in STOPWORDS or plain in ENDINGS or not plain:
        return Token(plain, plain, Kind.WORD, function=True)
    return Token(plain, key_of(plain), Kind.WORD, name=text[0].isupper() and not at_start)


def _read_idiom(text: str, _at_start: bool) -> Iterable[Token]:
    plain = " ".join(text.casefold().split())
    return [Token(plain, plain, Kind.WORD, function=True)]


_READERS = {"idiom": _read_idiom, "date": _read_date, "time": _read_time, "number": _read_number, "word": _read_word}
