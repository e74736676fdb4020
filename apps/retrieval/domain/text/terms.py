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
   Characters of Traditional Chinese become those of Simplified Chinese, so that either finds the other.

Rows that store terms store `TEXT_PIPELINE_VERSION` with them; raise it whenever a term changes.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import regex

from apps.core.domain.caches import remember_words
from apps.retrieval.domain.text.languages import FUNCTION_WORDS, STOPWORDS
from apps.retrieval.domain.text.normal import nfkc
from apps.retrieval.domain.text.scripts import fold_script
from apps.retrieval.domain.text.stems import fold, stem, stemmer_of

TEXT_PIPELINE_VERSION = 3
MAX_WORD_CHARS = 64
MAX_KEPT_CHARS = 24
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
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_SEPARATOR = re.compile(r"[.,:/\-]")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


class Word(NamedTuple):
    """text: casefolded and folded. term: its index term. accented: as written, to be stemmed by a language.

    asked: whether a question uses it, too.
    """

    text: str
    term: str
    accented: str
    asked: bool


class Token(NamedTuple):
    """A token. terms: of its words, in order. languages: of which it is a function word."""

    words: tuple[Word, ...]
    terms: tuple[str, ...]
    languages: tuple[str, ...]


def words(text: str) -> list[str]:
    """Return the normalised words of a text in order, not stemmed: step 3 of the pipeline. Accepts any str."""
    return words_of(tokenize(text))


def words_of(tokens: Iterable[Token]) -> list[str]:
    """Return the words of the tokens of a text, as `words` does."""
    return [word.text for token in tokens for word in token.words]


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, with repeats. Accepts any str."""
    return terms_of(tokenize(text))


def terms_of(tokens: Sequence[Token]) -> list[str]:
    """Return the index terms of the tokens of a text, as `terms` does."""
    language = recognise_language(tokens)
    if language is None:
        return list(chain.from_iterable([token.terms for token in tokens]))
    return [term for token in tokens for word in token.words for term in terms_in(word, language)]


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question in order, without stopwords unless nothing else is left.

    A run of an unspaced script asks for its pairs only, unless it is one character long.
    """
    return query_terms_of(tokenize(text))


def query_terms_of(tokens: Sequence[Token]) -> list[str]:
    """Return the terms of the tokens of a question, as `query_terms` does."""
    language = recognise_language(tokens)
    asked = [word for token in tokens for word in token.words if word.asked]
    content = [word for word in asked if word.text not in stopwords_of(language)]
    found = (term for word in content or asked for term in terms_in(word, language))
    return list(dict.fromkeys(found))


@remember_words("words", entries=1 << 14, entry_bytes=600)
def term_hash(term: str) -> int:
    """Return a stable hash of a term, in [0, 2**64)."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@lru_cache(maxsize=1024)
def terms_of_day(day: date) -> tuple[str, ...]:
    """Return the terms of a day."""
    spoken = terms(f"{day.day} {_MONTHS[day.month - 1]} {day.year} {_WEEKDAYS[day.weekday()]}")
    return (*spoken, f"{day.year:04}-{day.month:02}-{day.day:02}")


def date_words(moment: date) -> list[str]:
    """Return the terms by which a date (or the calendar day of a datetime, in its own offset) is found.

    8 May 2023 has those of "8", "May", "2023", "Monday" and "2023-05-08".
    """
    return list(terms_of_day(date(moment.year, moment.month, moment.day)))


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text: steps 1 and 2 of the pipeline, each token with its words."""
    text = normalise(text)
    return [read_token(token) for token in token_pattern(text).findall(text)]


def count_words(text: str, enough: int) -> int:
    """Return the number of words of a text; where it is at least `enough`, no more than that is read.

    The number is then that of the words up to the end of the token that was enough.
    """
    text, count = normalise(text), 0
    for found in token_pattern(text).finditer(text):
        count += len(read_token(found[0]).words)
        if count >= enough:
            break
    return count


def normalise(text: str) -> str:
    """Return a text as tokens are read from it: step 1 of the pipeline, with one apostrophe."""
    if not text.isascii():
        return _INVISIBLE.sub("", nfkc(text.translate(_APOSTROPHES)))
    return text.translate(_APOSTROPHES) if "`" in text else text


def token_pattern(text: str) -> re.Pattern[str] | regex.Pattern[str]:
    """Return the pattern of the tokens of a normalised text."""
    return _ASCII_TOKEN if text.isascii() else _TOKEN


def read_token(token: str) -> Token:
    """Return the same as `analyse_token`, which is remembered for short tokens."""
    # Long tokens hardly ever recur, and those of many parts take kilobytes.
    return _cached_token(token) if len(token) <= MAX_KEPT_CHARS else analyse_token(token)


def recognise_language(tokens: Sequence[Token]) -> str | None:
    """Return the language of Latin script, other than English, whose function words prevail; None for no other."""
    distinct = {token.terms: token.languages for token in tokens if token.languages}
    if len(distinct) < MIN_FUNCTION_WORDS:
        return None
    hits = Counter(chain.from_iterable(distinct.values()))
    english = hits.pop("english", 0)
    if not hits:
        return None
    most = max(hits.values())
    if most < MIN_FUNCTION_WORDS or most <= english:
        return None
    return next(language for language in FUNCTION_WORDS if hits[language] == most)


def terms_in(word: Word, language: str | None) -> tuple[str, ...]:
    """Return the terms of a word in a text of a language."""
    if language is None or not word.accented:
        return (word.term,)
    other = language_term(word.accented, language)
    return (word.term,) if other == word.term else (word.term, other)


@remember_words("words", entries=1 << 12, entry_bytes=900)
def language_term(accented: str, language: str) -> str:
    """Return the stem of a word in a language of Latin script."""
    return fold(stem(accented, language))


@lru_cache(maxsize=16)
def stopwords_of(language: str | None) -> frozenset[str]:
    """Return the words that a question in a language can do without."""
    return STOPWORDS if language is None else STOPWORDS | function_words(language)


def function_words(language: str) -> frozenset[str]:
    """Return the folded function words of a language."""
    return frozenset(fold(word) for word in FUNCTION_WORDS[language].split())


def analyse_token(token: str) -> Token:
    """Return a token with its words and terms: steps 3 and 4 of the pipeline."""
    if _RUN.match(token):
        found = tuple(run_words(token))
    elif token[0].isdigit() and not any(c.isalpha() for c in token):
        found = tuple(plain_word(word) for word in number_words(token))
    else:
        # A mark without a letter is empty after folding.
        pieces = [token.replace(".", "")]
        if not _INITIALS.fullmatch(token):
            pieces = [piece for chunk in token.split(".") for piece in split_compound(strip_affixes(chunk))]
        found = tuple(word for word in map(make_word, pieces) if word.text)
    languages = _LANGUAGES.get(found[0].text, ()) if len(found) == 1 else ()
    return Token(found, tuple(word.term for word in found), languages)


def run_words(run: str) -> Iterable[Word]:
    """Return the characters of a run and the pairs of neighbours; a question needs only the pairs."""
    clusters = _CLUSTER.findall(run)
    for position, cluster in enumerate(clusters):
        yield Word(cluster, fold_script(cluster), "", len(clusters) == 1)
        if position + 1 < len(clusters):
            pair = cluster + clusters[position + 1]
            yield Word(pair, fold_script(pair), "", True)


def strip_affixes(chunk: str) -> str:
    """Return the word without possessive, contracted verb, elided article and apostrophe; of an ordinal, the number."""
    if "'" not in chunk:
        return chunk[:-2] if _ORDINAL.fullmatch(chunk) else chunk
    contracted = _CONTRACTED.fullmatch(chunk)
    if contracted:
        return contracted[1].replace("'", "")
    elided = _ELISION.fullmatch(chunk)
    return (elided[1] if elided else chunk).replace("'", "")


def split_compound(word: str) -> list[str]:
    """Return a word, followed by its parts when it is a compound."""
    word = word.strip("_")
    if not word or len(word) > MAX_WORD_CHARS:
        return [word] if word else []
    if word.isdigit() or (
        word.isalpha() and (word.islower() or word.istitle() or word.isupper() or bool(_PLURAL_ACRONYM.fullmatch(word)))
    ):
        return [word]
    parts = [part for part in _PART.findall(word) if len(part) > 1 or part.isdigit()]
    return [word] if parts == [word] else [word, *parts]


def make_word(piece: str) -> Word:
    """Return a piece of a token, folded and stemmed."""
    if piece.isdigit():
        return plain_word(number_words(piece)[0])
    accented = piece[:MAX_WORD_CHARS].casefold()
    if piece.isascii():
        return Word(accented, stem(accented, "english"), accented, True)
    accented = unicodedata.normalize("NFC", accented)
    folded = fold(accented)
    language = stemmer_of(folded)
    return Word(folded, stem(folded, language), accented if language == "english" else "", True)


def number_words(token: str) -> list[str]:
    """Return the words of a token of digits and `. , : / -` between them.

    "1,000" = "1000", "3,5" = "3.5", "08" = "8", digits of any script = ASCII digits. Anything with more
    separators becomes itself and its parts, and a date that begins with the year its ISO form: "2023/5/8" ->
    "2023-05-08", "2023", "5", "8".
    """
    token = "".join(str(unicodedata.decimal(c, c)) for c in token)
    if _GROUPED.fullmatch(token):
        token = token.replace(",", "")
    decimal = _DECIMAL.fullmatch(token)
    if decimal:
        return [f"{decimal[1].lstrip('0') or '0'}.{decimal[2]}"]
    parts = [part.lstrip("0") or "0" for part in _SEPARATOR.split(token)]
    year_first = _YEAR_FIRST.fullmatch(token)
    whole = f"{year_first[1]}-{year_first[2]:0>2}-{year_first[3]:0>2}" if year_first else token
    return parts if len(parts) == 1 else [whole, *parts]


def plain_word(text: str) -> Word:
    """Return a word that is its own term."""
    return Word(text[:MAX_WORD_CHARS], text[:MAX_WORD_CHARS], "", True)


_WORDS = {language: function_words(language) for language in FUNCTION_WORDS} | {"english": STOPWORDS}
# The languages of each function word.
_LANGUAGES = {
    word: tuple(language for language, known in _WORDS.items() if word in known)
    for word in sorted(frozenset().union(*_WORDS.values()))
}
_cached_token = remember_words("words", entries=1 << 13, entry_bytes=3_500)(analyse_token)
