"""Stems of words, and the letters that count as the same."""

import threading
import unicodedata
from typing import Protocol

import regex
import Stemmer

_MARKS = regex.compile(r"\p{Mn}+")
_LATIN = regex.compile(r"\p{Latin}")
_SCRIPTS = {
    "russian": regex.compile(r"\p{Cyrillic}"),
    "greek": regex.compile(r"\p{Greek}"),
    "arabic": regex.compile(r"\p{Arabic}"),
    "hindi": regex.compile(r"\p{Devanagari}"),
    "armenian": regex.compile(r"\p{Armenian}"),
    "tamil": regex.compile(r"\p{Tamil}"),
}
_MARKED_SCRIPTS = regex.compile(r"[\p{Cyrillic}\p{Arabic}\p{Hebrew}]")
_FOLDED_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŧ": "t"}
)


class _SnowballStemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  (PyStemmer's name)


_local = threading.local()


def fold(word: str) -> str:
    """Return the word without accents (Latin, Greek) and optional marks (Cyrillic, Arabic, Hebrew)."""
    if word.isascii():
        return word
    if _LATIN.search(word) or _SCRIPTS["greek"].search(word):
        bare = _MARKS.sub("", unicodedata.normalize("NFD", word))
        return unicodedata.normalize("NFC", bare).translate(_FOLDED_LETTERS)
    if _MARKED_SCRIPTS.search(word):
        return _MARKS.sub("", word).replace("ё", "е")
    return word


def stemmer_of(word: str) -> str | None:
    """Return the stemmer for a word by its script, English for a Latin letter; None where there is none."""
    if _LATIN.search(word):
        return "english"
    return next((language for language, script in _SCRIPTS.items() if script.search(word)), None)


def stem(word: str, language: str | None) -> str:
    """Return the Snowball stem of a casefolded word; the word itself without a language."""
    if language is None:
        return word
    # PyStemmer's objects are not safe to share between threads.
    stemmers: dict[str, _SnowballStemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    return stemmers[language].stemWord(word) or word
