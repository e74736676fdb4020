"""Numbers, keywords and words without quotes in a damaged JSON text (pure)."""

import json
import re
from dataclasses import dataclass

from apps.llm.domain.json_repair.source import DOUBLE_QUOTES, QUOTES, SPACE, Source
from apps.llm.domain.json_repair.types import RepairKind

_KEYWORDS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "True": "true",
    "False": "false",
    "None": "null",
    "TRUE": "true",
    "FALSE": "false",
    "NULL": "null",
    "undefined": "null",
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_UNFINISHED_NUMBER = re.compile(r"-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][+-]?)")
_NUMBER_WITHOUT_ZERO = re.compile(r"(-?)(\.[0-9]+(?:[eE][+-]?[0-9]+)?)")

# Up to a delimiter or the start of a comment; the slashes of `scheme://` start none.
_WORDS = re.compile(rf"(?:[^,\[\]{{}}\n{DOUBLE_QUOTES}/`]|(?<=:)//|/(?![/*])|`(?!``))+")
_FIRST_WORD = re.compile(rf"[^{SPACE},\[\]{{}}{DOUBLE_QUOTES}]+")
_REST_OF_WORDS = re.compile(rf"[{SPACE}]+")
_CALL = re.compile(r"[A-Za-z_$][\w$.]{0,80}[ \t]{0,8}\(")
_NAME = re.compile(rf"(?:[^:,\[\]{{}}\n{DOUBLE_QUOTES}/]|/(?![/*]))+")


@dataclass(frozen=True, slots=True)
class Bare:
    """A value or name without quotes: its spelling in JSON, where reading goes on, and what was repaired."""

    spelled: str
    end: int
    kind: RepairKind | None


def read_call(source: Source, position: int) -> int | None:
    """Where the argument begins, if a function call such as `callback(` stands here."""
    match = _CALL.match(source.text, position, source.size)
    return match.end() if match else None


def read_name(source: Source, position: int) -> Bare | None:
    """A member's name without quotes, up to its colon."""
    match = _NAME.match(source.text, position, source.size)
    if match is None:
        return None
    name, end = match.group().rstrip(SPACE), match.end()
    if source.char(end) in tuple(DOUBLE_QUOTES):
        end += 1
    return Bare(_quoted(name.rstrip("'")), end, RepairKind.UNQUOTED_KEY)


def read_bare(source: Source, position: int, *, in_object: bool, in_call: bool) -> Bare | None:
    """A number, a keyword or words without quotes; None where none of them starts."""
    end = _end_of_words(source, position, in_object=in_object)
    if in_call:
        end = _before_parenthesis(source.text, position, end)
    words = source.text[position:end].rstrip(f"{SPACE};")
    if not words:
        return None
    first = _first_scalar(words, source, position, in_object=in_object)
    if first is not None:
        return first
    stop = position + len(words)
    scalar = spell_scalar(words, is_cut=stop >= source.size)
    if scalar is not None:
        return Bare(scalar[0], stop, scalar[1])
    opened_late = source.char(stop) in tuple(DOUBLE_QUOTES)
    return Bare(_quoted(words), stop + opened_late, RepairKind.UNQUOTED_VALUE)


def spell_scalar(word: str, *, is_cut: bool) -> tuple[str, RepairKind | None] | None:
    """A number or keyword as JSON spells it, with the repair that took; None for anything else.

    A keyword that the end of the text cut (`is_cut`) is completed from its second letter on.
    """
    if _NUMBER.fullmatch(word) or word in ("true", "false", "null"):
        return word, None
    if word in _KEYWORDS:
        return _KEYWORDS[word], RepairKind.KEYWORD
    if _UNFINISHED_NUMBER.fullmatch(word):
        return f"{word}0", RepairKind.NUMBER
    without_zero = _NUMBER_WITHOUT_ZERO.fullmatch(word)
    if without_zero:
        return f"{without_zero[1]}0{without_zero[2]}", RepairKind.NUMBER
    return _completed(word) if is_cut else None


def _completed(word: str) -> tuple[str, RepairKind] | None:
    for keyword in ("true", "false", "null", "True", "False", "None"):
        if len(word) > 1 and keyword.startswith(word):
            return _KEYWORDS[keyword], RepairKind.KEYWORD
    return None


def _end_of_words(source: Source, position: int, *, in_object: bool) -> int:
    """Words go up to a delimiter; in an object they go over a comma after which no member starts."""
    here = position
    while True:
        match = _WORDS.match(source.text, here, source.size)
        end = match.end() if match else here
        if not in_object or source.char(end) != ",":
            return end
        after = source.solid(end + 1)
        if source.char(after) in ("", ",", *"}]{[/#.") or source.char(after) in tuple(QUOTES):
            return end
        if source.breaks_line(end, after) or source.is_bare_key(after) or _is_name_opened_late(source, after):
            return end
        here = end + 1


def _is_name_opened_late(source: Source, position: int) -> bool:
    """Whether a name stands here whose first quote was forgotten: `b":`."""
    match = _NAME.match(source.text, position, source.size)
    return match is not None and source.text.startswith('":', match.end())


def _first_scalar(words: str, source: Source, position: int, *, in_object: bool) -> Bare | None:
    """The number or keyword that `words` begins with, if another value or member follows it without a comma."""
    match = _FIRST_WORD.match(words)
    rest = match and _REST_OF_WORDS.match(words, match.end())
    if not match or not rest:
        return None
    scalar = spell_scalar(match.group(), is_cut=False)
    if scalar is None:
        return None
    after = position + rest.end()
    following = _FIRST_WORD.match(words, rest.end())
    if source.is_bare_key(after) if in_object else following and spell_scalar(following.group(), is_cut=False):
        return Bare(scalar[0], position + match.end(), scalar[1])
    return None


def _before_parenthesis(text: str, position: int, end: int) -> int:
    found = text.find(")", position, end)
    return end if found < 0 else found


def _quoted(words: str) -> str:
    """The words as a JSON string, letters as they were."""
    return json.dumps(words, ensure_ascii=False)
