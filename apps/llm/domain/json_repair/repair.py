"""Repairs the JSON that a model wrote badly (pure; spec 002 section 7, corpus of section 12).

The spec's tokenizer drops keywords and escapes and turns apostrophes into quotes; DESIGN section 6 corrects it: the
corpus is the requirement, valid JSON is never changed, and repair keeps the text that was there. So this is a reader
of its own: it reads the text once, keeps a list of what is open, and copies what need not change.

No library is used. json-repair 0.64 builds values and serialises them again, needs time that grows with the
square of the length where strings hold stray quotes, and raises RecursionError at some thousand brackets.

Choices where the spec is silent:
- Valid JSON is returned as it is, at any length; the limit of 50,000 characters is one on repairing.
- Its `maxRepairs` bounds how often a text is read, not how many faults one reading mends: twelve objects with a comma
  too many are one habit. What a repair may take is bounded in steps and in seconds (`WorkMeter`).
- Words alone are not JSON ("not even close to JSON"); words around a JSON value are left out, and a fenced block
  is preferred to brackets in the words before it.
- Several values in a row become one list.
- A name without its value gets null; a string that is cut is closed; a cut `tru` becomes true.
- NaN and Infinity are not JSON; they become strings, so that their text is kept.
- A value in which the text ends is completed and named in `truncated`: "allergic to pea" may have been cut from
  "peanuts". A string whose quote was forgotten before the closers that fit is whole, and so is what a closer is
  missing of.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

from apps.llm.domain.json_repair.parser import Parser
from apps.llm.domain.json_repair.scalars import find_argument, spell_scalar
from apps.llm.domain.json_repair.source import QUOTES, SPACE, Source
from apps.llm.domain.json_repair.types import (
    DEFAULT_REPAIR_CONFIG,
    Repair,
    RepairConfig,
    RepairKind,
    RepairLog,
    RepairRefusal,
    RepairRefusedError,
    WorkMeter,
)

Path = tuple[str | int, ...]
"""Where a value is in a document: names of members and indexes of elements, outermost first."""

_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_ESCAPED_WHOLE = re.compile(r'[{\[](?:\s|\\[nrt])*\\"')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-"
_FENCE = re.compile(r"```[\w+-]{0,40}\s{0,200}(?=[{\[\"'])")
_OPENER = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The outcome for a text: `text` is JSON and `value` its value, or `refusal` says why there is none.

    truncated: the values that the end of the text cut, so that they may say something else than was meant.
    """

    text: str | None
    value: object = None
    repairs: tuple[Repair, ...] = ()
    refusal: RepairRefusal | None = None
    truncated: tuple[Path, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether there is a value (which may be None: JSON's null)."""
        return self.refusal is None

    @property
    def was_valid(self) -> bool:
        """Return whether the text was JSON as given."""
        return self.ok and not self.repairs


def repair_json(text: str, config: RepairConfig = DEFAULT_REPAIR_CONFIG) -> RepairResult:
    """Return the JSON in `text`, repaired where that takes no more than the configured work and time. Never raises.

    The first place that holds JSON, good or bad, counts: a bad one is not left for a fragment inside it.
    """
    try:
        return RepairResult(text, load_strictly(text, max_depth=config.max_depth))
    except ValueError:
        pass
    if len(text) > config.max_length:
        return RepairResult(None, refusal=RepairRefusal.TOO_LONG)
    meter = WorkMeter(len(text), config)
    for start in islice(find_starts(Source(text)), config.max_attempts):
        result = repair_from(text, start, meter, config)
        if result.refusal is not RepairRefusal.NO_JSON:
            return result
    return RepairResult(None, refusal=RepairRefusal.NO_JSON)


def load_strictly(text: str, *, max_depth: int = DEFAULT_REPAIR_CONFIG.max_depth) -> object:
    """Return the value of a JSON text, exactly as RFC 8259 has it.

    Raises ValueError for anything else and for deeper nesting.
    """

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    if nests_deeper(text, max_depth):
        raise ValueError(RepairRefusal.TOO_DEEP)
    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError as error:  # a caller that left little stack
        raise ValueError(RepairRefusal.TOO_DEEP) from error


def nests_deeper(text: str, limit: int) -> bool:
    """Return whether a valid text nests deeper; for others a guess, which only decides who reads them first."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = deepest = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
        sign = match.group()[0]
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest > limit


def repair_from(text: str, start: int, meter: WorkMeter, config: RepairConfig) -> RepairResult:
    """Repair the value that starts at `start`."""
    log = RepairLog()
    try:
        log_text_before(text, start, log)
        if _ESCAPED_WHOLE.match(text, start):
            log.add(RepairKind.STRINGIFIED, start)
            text = _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[0]), text[start:])
            start = 0
        scalar = spell_scalar(text[start:].strip(SPACE), is_cut=False)
        if scalar is not None:
            log.add(scalar[1] or RepairKind.WHITESPACE, start)
            repaired = scalar[0]
        else:
            source = Source(text)
            if text.rstrip(SPACE).endswith("```") and text[:start].rstrip(SPACE + _LETTERS).endswith("```"):
                source.size = len(text[: text.rindex("```")].rstrip(SPACE))  # the value is in a fenced block
            repaired = Parser(source, log, meter, start=start, max_depth=config.max_depth).repaired()
        value = load_strictly(repaired, max_depth=config.max_depth)
        truncated = (path_of_end(repaired),) if log.is_truncated else ()
        return RepairResult(repaired, value, tuple(log.repairs), truncated=truncated)
    except RepairRefusedError as error:
        return RepairResult(None, refusal=error.refusal)
    except ValueError:
        return RepairResult(None, refusal=RepairRefusal.UNREADABLE)


def path_of_end(text: str) -> Path:
    """Return where the last value of a JSON text is; of a name that occurs twice the later member counts."""
    path: list[str | int] = []
    value = json.loads(text, object_pairs_hook=tuple)
    while isinstance(value, list | tuple) and value:
        if isinstance(value, tuple):
            name, value = value[-1]
            path.append(name)
        else:
            path.append(len(value) - 1)
            value = value[-1]
    return tuple(path)


def log_text_before(text: str, start: int, log: RepairLog) -> None:
    """Log what precedes the value: nothing, comments, a fence, or words."""
    source = Source(text)
    here = source.skip_space(0)
    if text[:here].strip(" \t\r\n"):
        log.add(RepairKind.WHITESPACE, 0)
    while here < start:
        end = source.comment_end(here)
        fence = _FENCE.match(text, here)
        if end is None and fence is None:
            log.add(RepairKind.TEXT_BEFORE, here)
            return
        log.add(RepairKind.COMMENT if end else RepairKind.FENCE, here)
        here = source.skip_space(end or (fence.end() if fence else start))


def find_starts(source: Source) -> Iterator[int]:
    """Yield positions at which the value may start, most likely first."""
    here = source.skip_space(0)
    while (end := source.comment_end(here)) is not None:
        here = source.skip_space(end)
    if may_be_root(source, here):
        yield here
        here += 1
    fence = _FENCE.search(source.text, here)
    if fence:
        yield source.skip_space(fence.end())
    yield from (match.start() for match in _OPENER.finditer(source.text, here))


def may_be_root(source: Source, here: int) -> bool:
    """Return whether a value may start here, before anything else of the text."""
    char = source.char(here)
    if not char:
        return False
    if char in "{[":
        return True
    if char in QUOTES and not source.text.startswith("```", here):
        return source.closing_quote(here) is not None or not _OPENER.search(source.text, here)
    argument = find_argument(source, here)
    if argument is not None:
        return source.char(source.skip_ahead(argument)) in ("{", "[", *QUOTES)
    word = source.text[here:].strip(SPACE)
    return word != "-" and spell_scalar(word, is_cut=False) is not None
