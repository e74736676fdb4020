"""The one text pipeline of the project: from text to the terms that keyword search compares.

1. NFKC; invisible characters are dropped.
2. Tokens, in the manner of UAX #29: words with the apostrophes and dots inside them, numbers with their
   separators, runs of the scripts that are written without spaces. Emoji and punctuation are no tokens.
3. Tokens become words: casefolded, possessives and elisions cut off, "don't" = "dont", accents of Latin
   letters dropped. A compound (`snake_case`, `camelCase`, `mp3`, `2023-05-08`) becomes itself and its parts;
   hyphens and the dots of addresses only separate. A run of Chinese, Japanese, Korean, Thai, Lao, Khmer or
   Burmese becomes its characters and its overlapping pairs.
4. Words become terms: stemmed by the Snowball stemmer of their script, English for Latin letters. In a text
   that is recognised, by its function words, as another language of Latin script, the stem of that language
   follows where it differs. The first one is always there, so a word finds itself whatever the language is.

Rows that store terms store `TEXT_PIPELINE_VERSION` with them; raise it whenever a term changes.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import regex

from apps.retrieval.domain.text.languages import FUNCTION_WORDS, STOPWORDS
from apps.retrieval.domain.text.normal import nfkc
from apps.retrieval.domain.text.numbers import number_words
from apps.retrieval.domain.text.stems import fold, is_latin, language_of_script, stem

TEXT_PIPELINE_VERSION = 2
MAX_WORD_CHARS = 64
MIN_FUNCTION_WORDS = 2

_PAIRED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}ー々〆"
_UNSPACED = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{Nd}}_]--[{_PAIRED}{_UNSPACED}]]"
# A number has at most 16 parts: without a bound, one that a letter follows is read to its end from each part again.
_TOKEN = regex.compile(
    rf"[{_PAIRED}]+|[{_UNSPACED}]+|\p{{Nd}}{{4}}-\p{{Nd}}{{2}}-\p{{Nd}}{{2}}(?=T\p{{Nd}})|\b[A-Za-z](?:\+\+|\#)(?!\w)"
    rf"|\p{{Nd}}++(?:[.,:/\-]\p{{Nd}}++){{0,15}}+(?!{_LETTER})|{_LETTER}++(?:['.]{_LETTER}++)*",
    regex.V1,
)
# The same for ASCII, where the standard library is three times as fast.
_ASCII_TOKEN = re.compile(
    r"\b[A-Za-z](?:\+\+|\#)(?!\w)|\d{4}-\d\d-\d\d(?=T\d)|\d++(?:[.,:/\-]\d++){0,15}+(?![A-Za-z0-9_])"
    r"|[A-Za-z0-9_]++(?:['.][A-Za-z0-9_]++)*",
    re.ASCII,
)
_RUN = regex.compile(rf"[{_PAIRED}]+|[{_UNSPACED}]+", regex.V1)
_CLUSTER = regex.compile(r"\X")
_INVISIBLE = regex.compile(
    "[\u00ad\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_APOSTROPHES = str.maketrans("’‘ʼ＇`´", "''''''")
_INITIALS = regex.compile(r"\p{L}(?:\.\p{L})+")
_ORDINAL = regex.compile(r"(\d+)(?:st|nd|rd|th)", regex.IGNORECASE)
_ELISION = regex.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un|quest|quell)'(\p{L}{2,})")
_CONTRACTED = regex.compile(r"(.+?)'(?:s|m|d|ll|re|ve)", regex.IGNORECASE)
_PLURAL_ACRONYM = regex.compile(r"\p{Lu}{2,}s")
_PART = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lt}\p{Lm}\p{M}]+|\p{Lu}|\p{Nd}+")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


class _Word(NamedTuple):
    """text: casefolded and folded. term: its index term. accented: as written, to be stemmed by a language.

    asked: whether a question uses it, too.
    """

    text: str
    term: str
    accented: str
    asked: bool


class _Token(NamedTuple):
    """What becomes of a token. terms: those of its words, once more. languages: whose function word it is."""

    words: tuple[_Word, ...]
    terms: tuple[str, ...]
    languages: tuple[str, ...]


def words(text: str) -> list[str]:
    """Return the normalised words of a text in order, not stemmed: step 3 of the pipeline. Accepts any str."""
    return [word.text for token in _tokens(text) for word in token.words]


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, with repeats. Accepts any str."""
    tokens = _tokens(text)
    language = _recognise(tokens)
    if language is None:
        return list(chain.from_iterable([token.terms for token in tokens]))
    return [term for token in tokens for word in token.words for term in _terms_in(word, language)]


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question in order, without stopwords unless nothing else is left.

    A run of an unspaced script asks for its pairs only, unless it is one character long.
    """
    tokens = _tokens(text)
    language = _recognise(tokens)
    asked = [word for token in tokens for word in token.words if word.asked]
    telling = [word for word in asked if word.text not in _stopwords(language)]
    found = (term for word in telling or asked for term in _terms_in(word, language))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=1 << 17)
def term_hash(term: str) -> int:
    """Return a stable hash of a term, in [0, 2**64)."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@lru_cache(maxsize=4096)
def _date_terms(day: date) -> tuple[str, ...]:
    spoken = terms(f"{day.day} {_MONTHS[day.month - 1]} {day.year} {_WEEKDAYS[day.weekday()]}")
    return (*spoken, f"{day.year:04}-{day.month:02}-{day.day:02}")


def date_words(moment: date) -> list[str]:
    """Return the terms by which a date (or the calendar day of a datetime, in its own offset) is found.

    8 May 2023 has those of "8", "May", "2023", "Monday" and "2023-05-08".
    """
    return list(_date_terms(date(moment.year, moment.month, moment.day)))


def _normalise(text: str) -> str:
    if text.isascii():
        return text.translate(_APOSTROPHES) if "`" in text else text
    return _INVISIBLE.sub("", nfkc(text.translate(_APOSTROPHES)))


def _tokens(text: str) -> list[_Token]:
    text = _normalise(text)
    found = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)
    # Long tokens would fill the cache with what never comes again.
    return [_token(token) if len(token) <= MAX_WORD_CHARS else _analyse(token) for token in found]


def _recognise(tokens: Iterable[_Token]) -> str | None:
    """Return the language of Latin script, other than English, whose function words prevail; None for no other."""
    distinct = {token.terms: token.languages for token in tokens if token.languages}
    hits = Counter(chain.from_iterable(distinct.values()))
    english = hits.pop("english", 0)
    best = max(FUNCTION_WORDS, key=lambda language: hits[language])
    return best if hits[best] >= MIN_FUNCTION_WORDS and hits[best] > english else None


def _terms_in(word: _Word, language: str | None) -> tuple[str, ...]:
    if language is None or not word.accented:
        return (word.term,)
    other = _language_term(word.accented, language)
    return (word.term,) if other == word.term else (word.term, other)


@lru_cache(maxsize=1 << 16)
def _language_term(accented: str, language: str) -> str:
    return fold(stem(accented, language))


@lru_cache(maxsize=16)
def _stopwords(language: str | None) -> frozenset[str]:
    return STOPWORDS if language is None else STOPWORDS | _function_words(language)


def _function_words(language: str) -> frozenset[str]:
    return frozenset(fold(word) for word in FUNCTION_WORDS[language].split())


def _languages_by_word() -> dict[str, tuple[str, ...]]:
    table = {language: _function_words(language) for language in FUNCTION_WORDS} | {"english": STOPWORDS}
    every = sorted(frozenset().union(*table.values()))
    return {word: tuple(language for language, known in table.items() if word in known) for word in every}


def _analyse(token: str) -> _Token:
    found = tuple(_words_of(token))
    languages = _LANGUAGES.get(found[0].text, ()) if len(found) == 1 else ()
    return _Token(found, tuple(word.term for word in found), languages)


def _words_of(token: str) -> Iterable[_Word]:
    if _RUN.match(token):
        return _run_words(token)
    if token[0].isdigit() and not any(c.isalpha() for c in token):
        return [_plain_word(word) for word in number_words(token)]
    # A mark without a letter folds away.
    return [word for word in map(_word, _pieces(token)) if word.text]


def _run_words(run: str) -> Iterable[_Word]:
    """Return the characters of a run and the pairs of neighbours; a question needs only the pairs."""
    clusters = _CLUSTER.findall(run)
    for position, cluster in enumerate(clusters):
        yield _Word(cluster, cluster, "", len(clusters) == 1)
        if position + 1 < len(clusters):
            pair = cluster + clusters[position + 1]
            yield _Word(pair, pair, "", True)


def _pieces(token: str) -> list[str]:
    """Return the words of a token of letters: itself, and the parts of a compound."""
    if _INITIALS.fullmatch(token):
        return [token.replace(".", "")]
    return [piece for chunk in token.split(".") for piece in _compound(_cut(chunk))]


def _cut(chunk: str) -> str:
    """Return the word without possessive, contracted verb, elided article and apostrophe; of an ordinal, the number."""
    if "'" not in chunk:
        return chunk[:-2] if _ORDINAL.fullmatch(chunk) else chunk
    contracted = _CONTRACTED.fullmatch(chunk)
    if contracted:
        return contracted[1].replace("'", "")
    elided = _ELISION.fullmatch(chunk)
    return (elided[1] if elided else chunk).replace("'", "")


def _compound(word: str) -> list[str]:
    word = word.strip("_")
    if not word or len(word) > MAX_WORD_CHARS or _is_simple(word):
        return [word] if word else []
    parts = [part for part in _PART.findall(word) if len(part) > 1 or part.isdigit()]
    return [word] if parts == [word] else [word, *parts]


def _is_simple(word: str) -> bool:
    if not word.isalpha():
        return word.isdigit()
    return word.islower() or word.istitle() or word.isupper() or bool(_PLURAL_ACRONYM.fullmatch(word))


def _word(piece: str) -> _Word:
    if piece.isdigit():
        return _plain_word(number_words(piece)[0])
    accented = piece[:MAX_WORD_CHARS].casefold()
    if piece.isascii():
        return _Word(accented, stem(accented, "english"), accented, True)
    accented = unicodedata.normalize("NFC", accented)
    folded = fold(accented)
    if is_latin(folded):
        return _Word(folded, stem(folded, "english"), accented, True)
    return _Word(folded, stem(folded, language_of_script(folded)), "", True)


def _plain_word(text: str) -> _Word:
    return _Word(text[:MAX_WORD_CHARS], text[:MAX_WORD_CHARS], "", True)


_LANGUAGES = _languages_by_word()
_token = lru_cache(maxsize=1 << 16)(_analyse)
