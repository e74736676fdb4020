"""Repairs the JSON that a model wrote badly (pure; spec 002 section 7, corpus of section 12).

The spec's tokenizer drops keywords and escapes and turns apostrophes into quotes; DESIGN section 6 corrects it: the
corpus is the requirement, valid JSON is never changed, and repair keeps the text that was there. So this is a reader
of its own: it goes over the text once, keeps a list of what is open, and copies what it need not change.

No library stands behind it. json-repair 0.64 builds values and serialises them anew, needs time that grows with
the square of the length where strings hold stray quotes, and raises RecursionError at some thousand brackets.

Choices where the spec is silent:
- Valid JSON is returned as it is, at any length; the limit of 50,000 characters is one on repairing.
- Of the ten repairs, a guess counts each time, a respelling once per kind (`RepairLog`).
- Words alone are not JSON ("not even close to JSON"); words around a JSON value are left out, and a fenced block
  is preferred to brackets in the words before it.
- Several values in a row become one list.
- A name without its value gets null; a string that is cut is closed; a cut `tru` becomes true.
- NaN and Infinity are not JSON; they become strings, so that their text is kept.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

from apps.llm.domain.json_repair.parser import Parser
from apps.llm.domain.json_repair.scalars import read_call, spell_scalar
from apps.llm.domain.json_repair.source import QUOTES, SPACE, Source
from apps.llm.domain.json_repair.types import (
    DEFAULT_REPAIR_CONFIG,
    MAX_STARTS,
    Repair,
    RepairConfig,
    RepairKind,
    RepairLog,
    RepairRefusal,
    RepairRefusedError,
)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What came of a text: `text` is JSON and `value` what it says, or `refusal` says why there is none."""

    text: str | None
    value: object = None
    repairs: tuple[Repair, ...] = ()
    refusal: RepairRefusal | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a value (which may be None: JSON's null)."""
        return self.refusal is None

    @property
    def was_valid(self) -> bool:
        """Whether the text was JSON as given."""
        return self.ok and not self.repairs


def repair_json(text: str, config: RepairConfig = DEFAULT_REPAIR_CONFIG) -> RepairResult:
    """The JSON in `text`, repaired where that takes at most the configured number of repairs. Never raises."""
    try:
        return RepairResult(text, load_strictly(text, max_depth=config.max_depth))
    except ValueError:
        pass
    if len(text) > config.max_length:
        return RepairResult(None, refusal=RepairRefusal.TOO_LONG)
    return _first_success(text, config)


def load_strictly(text: str, *, max_depth: int = DEFAULT_REPAIR_CONFIG.max_depth) -> object:
    """The value of a JSON text, exactly as RFC 8259 has it; ValueError for anything else and for deeper nesting."""
    if _nests_deeper(text, max_depth):
        raise ValueError(RepairRefusal.TOO_DEEP)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:  # a caller that left little stack
        raise ValueError(RepairRefusal.TOO_DEEP) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def _nests_deeper(text: str, limit: int) -> bool:
    """Whether a valid text nests deeper than that; for others a guess, which only decides who reads them first."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = deepest = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
        sign = match.group()[0]
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest > limit


def _first_success(text: str, config: RepairConfig) -> RepairResult:
    """The first place that holds JSON, good or bad: a bad one is not left for a fragment inside it."""
    for start in islice(_starts(Source(text)), MAX_STARTS):
        result = _repaired_from(text, start, config)
        if result.refusal is not RepairRefusal.NO_JSON:
            return result
    return RepairResult(None, refusal=RepairRefusal.NO_JSON)


def _repaired_from(text: str, start: int, config: RepairConfig) -> RepairResult:
    ledger = RepairLog(limit=config.max_repairs)
    try:
        _note_before(text, start, ledger)
        repaired = _repaired_text(text, start, ledger, config)
        return RepairResult(repaired, load_strictly(repaired, max_depth=config.max_depth), tuple(ledger.repairs))
    except RepairRefusedError as error:
        return RepairResult(None, refusal=error.refusal)
    except ValueError:
        return RepairResult(None, refusal=RepairRefusal.UNREADABLE)


_ESCAPED_WHOLE = re.compile(r'[{\[](?:\s|\\[nrt])*\\"')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


def _repaired_text(text: str, start: int, ledger: RepairLog, config: RepairConfig) -> str:
    if _ESCAPED_WHOLE.match(text, start):
        ledger.add(RepairKind.STRINGIFIED, start)
        text = _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[0]), text[start:])
        start = 0
    word = text[start:].strip(SPACE)
    scalar = spell_scalar(word, is_cut=False)
    if scalar is not None:
        ledger.add(scalar[1] or RepairKind.WHITESPACE, start)
        return scalar[0]
    return Parser(_without_closing_fence(text, start), ledger, start=start, max_depth=config.max_depth).repaired()


def _without_closing_fence(text: str, start: int) -> Source:
    """The text up to the fence that ends it, if the value stands in a fenced block."""
    source = Source(text)
    if text.rstrip(SPACE).endswith("```") and text[:start].rstrip(SPACE + _LETTERS).endswith("```"):
        source.size = len(text[: text.rindex("```")].rstrip(SPACE))
    return source


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-"
_FENCE = re.compile(r"```[\w+-]{0,40}\s{0,200}(?=[{\[\"'])")
_OPENER = re.compile(r"[{\[]")


def _note_before(text: str, start: int, ledger: RepairLog) -> None:
    """Note what stands before the value: nothing, comments, a fence, or words."""
    source = Source(text)
    here = source.solid(0)
    if text[:here].strip(" \t\r\n"):
        ledger.add(RepairKind.WHITESPACE, 0)
    while here < start:
        end = source.comment_end(here)
        fence = _FENCE.match(text, here)
        if end is None and fence is None:
            ledger.add(RepairKind.TEXT_BEFORE, here)
            return
        ledger.add(RepairKind.COMMENT if end else RepairKind.FENCE, here)
        here = source.solid(end or (fence.end() if fence else start))


def _starts(source: Source) -> Iterator[int]:
    """Positions at which the value may start, most likely first."""
    here = source.solid(0)
    while (end := source.comment_end(here)) is not None:
        here = source.solid(end)
    char = source.char(here)
    if _may_be_root(source, here, char):
        yield here
        here += 1
    fence = _FENCE.search(source.text, here)
    if fence:
        yield source.solid(fence.end())
    yield from (match.start() for match in _OPENER.finditer(source.text, here))


def _may_be_root(source: Source, here: int, char: str) -> bool:
    if not char:
        return False
    if char in "{[":
        return True
    if char in QUOTES and not source.text.startswith("```", here):
        return source.closing_quote(here) is not None or not _OPENER.search(source.text, here)
    argument = read_call(source, here)
    if argument is not None:
        return source.char(source.ahead(argument)) in ("{", "[", *QUOTES)
    word = source.text[here:].strip(SPACE)
    return word != "-" and spell_scalar(word, is_cut=False) is not None
