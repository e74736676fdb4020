"""What is found in the output of a model: requests to run a tool, and what was refused and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Span = tuple[int, int]


class Protocol(StrEnum):
    """How a model asked for a tool; `text` when it asked for none."""

    ABP = "abp"
    VCP = "vcp"
    TEXT = "text"


class ProtocolMode(StrEnum):
    """Which protocols are understood. `dual`: ABP first, and VCP when ABP gives no request (spec 000)."""

    ABP = "abp"
    VCP = "vcp"
    DUAL = "dual"


class Fix(StrEnum):
    """What was repaired or stripped on the way to a request."""

    MARKER = "marker"  # the marker was not written exactly: blanks, invisible characters, case, escapes
    NOISE = "noise"  # words between the markers that belong to nothing
    SEVERAL_OBJECTS = "several_objects"  # more than one JSON object between the markers: the last valid one counts
    JSON = "json"  # the JSON itself was damaged
    HTML_ENTITIES = "html_entities"
    ESCAPED_QUOTES = "escaped_quotes"
    CURLY_QUOTES = "curly_quotes"
    INVISIBLE_CHARACTERS = "invisible_characters"
    MARKDOWN_ESCAPES = "markdown_escapes"
    VALUE_END = "value_end"  # a VCP value was not closed


class Refused(StrEnum):
    """Why something that looks like a request is none."""

    IN_CODE = "in_code"
    IN_QUOTE = "in_quote"
    IN_JSON = "in_json"
    STRAY_END = "stray_end"
    BAD_NAME = "bad_name"
    NO_NAME = "no_name"
    NO_PARAMETERS = "no_parameters"
    DAMAGED = "damaged"
    NESTED = "nested"
    UNTERMINATED = "unterminated"
    REPEATED = "repeated"
    UNUSABLE = "unusable"
    SUPERSEDED = "superseded"


# Not the model's own words to us, or no block at all: no failed try to use a protocol, and left where it stands.
NOT_MEANT = frozenset({Refused.IN_CODE, Refused.IN_QUOTE, Refused.IN_JSON, Refused.STRAY_END})

DETAILS = {
    Refused.IN_CODE: "It stands inside code, where a block is shown, not asked for.",
    Refused.IN_QUOTE: "It stands inside a quotation, where a block is shown, not asked for.",
    Refused.IN_JSON: "It stands inside a JSON object, which is data.",
    Refused.STRAY_END: "An end marker without a block that it could end.",
    Refused.BAD_NAME: "A tool's name is 1 to 64 letters, digits, `_`, `-` or `.`, and begins with a letter or `_`.",
    Refused.NO_NAME: "No pair of the block is called tool_name.",
    Refused.NO_PARAMETERS: "No JSON object follows the marker.",
    Refused.DAMAGED: "The parameters cannot be read as a JSON object, not even after repair.",
    Refused.NESTED: "Another marker stands inside the block, so nobody can say where it ends.",
    Refused.UNTERMINATED: "The end marker or the end of a value is missing.",
    Refused.REPEATED: "A key stands more than once.",
    Refused.UNUSABLE: "The parameters hold a number that is not finite, a character that is none, or too many levels.",
    Refused.SUPERSEDED: "A later block, or one of the protocol that goes first, counts instead.",
}


@dataclass(frozen=True)
class ToolRequest:
    """A tool that a model asks for. span: where its block stands in the output, [start, end).

    parameters: JSON; every VCP value is text. fixes: what was repaired or stripped, each once.
    """

    protocol: Protocol
    name: str
    parameters: Mapping[str, Any]
    span: Span
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """A marker or block that is not acted upon. name: the tool that it names, where that can be read."""

    protocol: Protocol
    name: str | None
    span: Span
    code: Refused

    @property
    def detail(self) -> str:
        """Why, as a sentence."""
        return DETAILS[self.code]

    @property
    def was_meant(self) -> bool:
        """True for a block that a model meant to be acted upon."""
        return self.code not in NOT_MEANT


Block = ToolRequest | Refusal


@dataclass(frozen=True)
class BlockRead:
    """A block, and the position at which reading goes on.

    cut_inside: it was cut inside its object or value, so what follows on its line may be more of that.
    """

    block: Block
    end: int
    cut_inside: bool = False


@dataclass(frozen=True)
class ParsedOutput:
    """What the output of a model asks for.

    requests: at most one, because of several blocks the last valid one counts. protocol: the one it came by.
    text: the output without its blocks; all of the output when nothing is asked for. refused: in the order of the
    output, at most MAX_REFUSALS of `refused_count`. fallback: what answered instead of the protocol that goes
    first, when that was tried in vain.
    """

    protocol: Protocol
    requests: tuple[ToolRequest, ...]
    text: str
    refused: tuple[Refusal, ...]
    refused_count: int
    fallback: Protocol | None
    abp_failed: bool
