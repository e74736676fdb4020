"""What a repair of JSON reports: kinds of repairs, refusals, limits and the log that counts (pure).

Source: spec 002 section 7, as corrected by DESIGN section 6.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from apps.core.domain.deadline import Deadline

MAX_LENGTH = 50_000
"""Characters beyond which a damaged text is not repaired (spec 002 section 7, maxLength)."""

MAX_ATTEMPTS = 10
"""Readings of one text, each from another place (spec 002 section 7: `maxRepairs` bounds how often its `repair` calls
itself; one reading mends as many faults as it meets)."""

WORK_PER_CHARACTER = 8
WORK_OF_ANY_TEXT = 10_000
"""Steps of all readings together beyond which a text is refused: some times what the worst texts take, and the same on
every machine."""

MAX_SECONDS = 5.0
"""How long a repair may take, whatever the machine does beside it; the worst text takes a fifth of that."""

MAX_DEPTH = 500
"""Levels of nesting beyond which a text is refused: Python's own JSON reader fails at about twice that, and
code that walks the value afterwards needs stack too. The spec is silent."""


@dataclass(frozen=True, slots=True)
class RepairConfig:
    """The limits of a repair."""

    max_length: int = MAX_LENGTH
    max_attempts: int = MAX_ATTEMPTS
    max_depth: int = MAX_DEPTH
    work_per_character: int = WORK_PER_CHARACTER
    work_of_any_text: int = WORK_OF_ANY_TEXT
    max_seconds: float = MAX_SECONDS


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


class RepairRefusal(StrEnum):
    """Why a text was not repaired. `unreadable`: JSON was begun, but something in it has no reading in JSON, such as
    a call with several arguments or a number of more digits than Python reads."""

    TOO_LONG = "too_long"
    TOO_MUCH_WORK = "too_much_work"
    OUT_OF_TIME = "out_of_time"
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
    """The repairs made so far. is_truncated: the text ended inside its last value."""

    repairs: list[Repair] = field(default_factory=list)
    is_truncated: bool = False

    def add(self, kind: RepairKind, position: int) -> None:
        """Log one repair."""
        self.repairs.append(Repair(kind, position))


class WorkMeter:
    """Counts the steps of all readings of one text, and refuses to go on beyond their limit or the deadline."""

    STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 256

    def __init__(self, length: int, config: RepairConfig = DEFAULT_REPAIR_CONFIG) -> None:
        self.spent = 0
        self.limit = config.work_of_any_text + config.work_per_character * length
        self._deadline = Deadline(config.max_seconds)

    def spend(self) -> None:
        """Count a step. Raises RepairRefusedError beyond the limit, and once the time is over."""
        self.spent += 1
        if self.spent > self.limit:
            raise RepairRefusedError(RepairRefusal.TOO_MUCH_WORK)
        if self.spent % self.STEPS_BETWEEN_LOOKS_AT_THE_CLOCK == 0 and self._deadline.expired:
            raise RepairRefusedError(RepairRefusal.OUT_OF_TIME)
