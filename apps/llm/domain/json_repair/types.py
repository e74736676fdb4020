"""What a repair of JSON reports: kinds of repairs, refusals, limits and the log that counts (pure).

Source: spec 002 section 7, as corrected by DESIGN section 6.
"""

from dataclasses import dataclass, field
from enum import StrEnum

MAX_LENGTH = 50_000
"""Characters beyond which a damaged text is not repaired (spec 002 section 7, maxLength)."""

MAX_REPAIRS = 10
"""Repairs beyond which a text is refused (spec 002 section 7, maxRepairs); see `RepairLog` for what counts."""

MAX_DEPTH = 500
"""Levels of nesting beyond which a text is refused: Python's own JSON reader fails at about twice that, and
code that walks the value afterwards needs stack too. The spec is silent."""

MAX_STARTS = 3
"""Places at which a text is tried as JSON, when words precede it. The spec is silent."""


@dataclass(frozen=True, slots=True)
class RepairConfig:
    """The limits of a repair."""

    max_length: int = MAX_LENGTH
    max_repairs: int = MAX_REPAIRS
    max_depth: int = MAX_DEPTH


DEFAULT_REPAIR_CONFIG = RepairConfig()


class RepairKind(StrEnum):
    """What was done to the text."""

    TRAILING_COMMA = "trailing_comma"
    EXTRA_COMMA = "extra_comma"
    MISSING_COMMA = "missing_comma"
    MISSING_COLON = "missing_colon"
    MISSING_KEY = "missing_key"
    MISSING_VALUE = "missing_value"
    UNCLOSED = "unclosed"
    UNCLOSED_STRING = "unclosed_string"
    WRONG_CLOSER = "wrong_closer"
    EXTRA_CLOSER = "extra_closer"
    EXTRA_OPENER = "extra_opener"
    INNER_QUOTE = "inner_quote"
    UNQUOTED_VALUE = "unquoted_value"
    CONCATENATION = "concatenation"
    CALL = "call"
    ELLIPSIS = "ellipsis"
    STRAY = "stray"
    STRINGIFIED = "stringified"
    TEXT_BEFORE = "text_before"
    TEXT_AFTER = "text_after"
    SEVERAL_VALUES = "several_values"
    QUOTES = "quotes"
    UNQUOTED_KEY = "unquoted_key"
    KEYWORD = "keyword"
    NUMBER = "number"
    COMMENT = "comment"
    WHITESPACE = "whitespace"
    CONTROL_CHARACTER = "control_character"
    ESCAPE = "escape"
    FENCE = "fence"
    TUPLE = "tuple"


RESPELLINGS = frozenset(
    {
        RepairKind.SEVERAL_VALUES,
        RepairKind.QUOTES,
        RepairKind.UNQUOTED_KEY,
        RepairKind.KEYWORD,
        RepairKind.NUMBER,
        RepairKind.COMMENT,
        RepairKind.WHITESPACE,
        RepairKind.CONTROL_CHARACTER,
        RepairKind.ESCAPE,
        RepairKind.FENCE,
        RepairKind.TUPLE,
    }
)
"""Another dialect's spelling of the same thing: nothing is guessed, so each kind counts once per text."""


class RepairRefusal(StrEnum):
    """Why a text was not repaired. `unreadable`: JSON was begun, but something in it has no reading in JSON, such as
    a call with several arguments or a number of more digits than Python reads."""

    TOO_LONG = "too_long"
    TOO_MANY_REPAIRS = "too_many_repairs"
    TOO_DEEP = "too_deep"
    NO_JSON = "no_json"
    UNREADABLE = "unreadable"


class RepairRefusedError(Exception):
    """Raised inside the repair only: `repair_json` turns it into a result."""

    def __init__(self, refusal: RepairRefusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair, at a position (0-based) of the given text; in a text that was escaped as a whole, a position
    after `STRINGIFIED` is one of the text without that escaping."""

    kind: RepairKind
    position: int


@dataclass(slots=True)
class RepairLog:
    """The repairs made so far, and the limit on them.

    A guess counts each time. A respelling (`RESPELLINGS`) counts once per kind, however often it occurs: twenty
    single-quoted names are one habit of the writer, and spec 002 section 7 counts no quotes either.
    """

    limit: int = MAX_REPAIRS
    repairs: list[Repair] = field(default_factory=list)
    counted: int = 0
    _habits: set[RepairKind] = field(default_factory=set)

    def add(self, kind: RepairKind, position: int) -> None:
        """Log one repair. Raises RepairRefusedError beyond the limit."""
        self.repairs.append(Repair(kind, position))
        if kind in RESPELLINGS:
            if kind in self._habits:
                return
            self._habits.add(kind)
        self.counted += 1
        if self.counted > self.limit:
            raise RepairRefusedError(RepairRefusal.TOO_MANY_REPAIRS)
