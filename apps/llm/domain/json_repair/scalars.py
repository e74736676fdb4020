"""Numbers, keywords and words without quotes in a damaged JSON text (pure)."""

import json
import re
from dataclasses import dataclass

from apps.llm.domain.json_repair.source import DOUBLE_QUOTES, QUOTE_SIGNS, SPACE, Source
from apps.llm.domain.json_repair.types import RepairKind, WorkMeter

_KEYWORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
    **dict.fromkeys(("null", "None", "NULL", "undefined"), "null"),
}
_KEYWORDS_THAT_MAY_BE_CUT = ("true", "false", "null", "True", "False", "None")
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
class BareToken:
    """A value or name without quotes: its spelling in JSON, where reading continues, and what was repaired.

    is_cut: the text ended in it, so there may have been more of it.
    """

    spelled: str
    end: int
    kind: RepairKind | None
    is_cut: bool = False


def find_argument(source: Source, position: int) -> int | None:
    """Return where the argument begins, if a function call such as `callback(` begins here."""
    match = _CALL.match(source.text, position, source.size)
    return match.end() if match else None


def read_bare_name(source: Source, position: int) -> BareToken | None:
    """Return a member's name without quotes, up to its colon."""
    match = _NAME.match(source.text, position, source.size)
    if match is None:
        return None
    name, end = match.group().rstrip(SPACE), match.end()
    if source.char(end) in tuple(DOUBLE_QUOTES):
        end += 1
    return BareToken(json.dumps(name.rstrip("'"), ensure_ascii=False), end, RepairKind.UNQUOTED_KEY)


def read_bare_value(runs: "WordRuns", position: int, *, in_object: bool, in_call: bool) -> BareToken | None:
    """Return a number, a keyword or words without quotes; None where none of them starts."""
    source, end = runs.source, runs.end(position, in_object=in_object)
    if in_call:
        end = min(end, source.first_from(source.find_all(r"\)"), position))
    stop = runs.trimmed(end)
    if stop <= position:
        return None
    first = read_first_scalar(source, position, stop, in_object=in_object)
    if first is not None:
        return first
    words, is_last = source.text[position:stop], stop >= source.size
    scalar = spell_scalar(words, is_cut=is_last)
    if scalar is not None:
        return BareToken(scalar[0], stop, scalar[1], is_cut=is_last and words not in _KEYWORDS)
    is_opened_late = source.char(stop) in tuple(DOUBLE_QUOTES)
    is_cut = source.skip_space(stop) >= source.size
    spelled = json.dumps(words, ensure_ascii=False)
    return BareToken(spelled, stop + is_opened_late, RepairKind.UNQUOTED_VALUE, is_cut=is_cut)


def spell_scalar(word: str, *, is_cut: bool) -> tuple[str, RepairKind | None] | None:
    """Return a number or keyword as JSON spells it, with the repair that took; None for anything else.

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
    if is_cut and len(word) > 1:
        for keyword in _KEYWORDS_THAT_MAY_BE_CUT:
            if keyword.startswith(word):
                return _KEYWORDS[keyword], RepairKind.KEYWORD
    return None


def read_first_scalar(source: Source, position: int, stop: int, *, in_object: bool) -> BareToken | None:
    """Return the number or keyword that the words before `stop` begin with, if another value or member follows it."""
    match = _FIRST_WORD.match(source.text, position, stop)
    rest = match and _REST_OF_WORDS.match(source.text, match.end(), stop)
    if not match or not rest:
        return None
    scalar = spell_scalar(match.group(), is_cut=False)
    if scalar is None:
        return None
    if in_object:
        is_followed = source.is_bare_key(rest.end())
    else:
        following = _FIRST_WORD.match(source.text, rest.end(), stop)
        is_followed = following is not None and spell_scalar(following.group(), is_cut=False) is not None
    return BareToken(scalar[0], match.end(), scalar[1]) if is_followed else None


class WordRuns:
    """Finds the ends of words without quotes; remembers the last run, which may be read word by word."""

    def __init__(self, source: Source, meter: WorkMeter) -> None:
        self.source = source
        self.meter = meter
        self._runs: dict[bool, tuple[int, int]] = {}
        self._trimmed = 0, 0

    def end(self, position: int, *, in_object: bool) -> int:
        """Return where words end: at a delimiter, but in an object not at a comma after which no member starts."""
        start, end = self._runs.get(in_object, (0, 0))
        if not start <= position < end:
            end = self.search(position, in_object=in_object)
            self._runs[in_object] = position, end
        return end

    def trimmed(self, end: int) -> int:
        """Return the end of the words before `end`, without white space and semicolons."""
        known, last = self._trimmed
        if known != end:
            last = self.source.solid_before(end)
            while last >= 0 and self.source.text[last] == ";":
                self.meter.spend()
                last = self.source.solid_before(last)
            self._trimmed = end, last
        return last + 1

    def search(self, position: int, *, in_object: bool) -> int:
        """Return the end of the words from `position` on."""
        source, here = self.source, position
        while True:
            self.meter.spend()
            match = _WORDS.match(source.text, here, source.size)
            end = match.end() if match else here
            if not in_object or source.char(end) != ",":
                return end
            after = source.skip_space(end + 1)
            following = source.char(after)
            if following in ("", ",", *"}]{[/#.") or following in QUOTE_SIGNS:
                return end
            if source.breaks_line(end, after) or source.is_bare_key(after):
                return end
            name = _NAME.match(source.text, after, source.size)
            if name is not None and source.text.startswith('":', name.end()):  # a name whose first quote was forgotten
                return end
            here = end + 1
