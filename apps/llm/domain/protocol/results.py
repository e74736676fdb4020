"""What the output of a model contains: requests to run a tool, and what was refused and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Span = tuple[int, int]


class Protocol(StrEnum):
    """How a model requested a tool; `text` when it requested none. `mcp`: by a call, and not in its output."""

    ABP = "abp"
    VCP = "vcp"
    MCP = "mcp"
    TEXT = "text"


class ProtocolMode(StrEnum):
    """Which protocols are understood. `dual`: ABP first, and VCP when there is no request by ABP (spec 000)."""

    ABP = "abp"
    VCP = "vcp"
    DUAL = "dual"


class Fix(StrEnum):
    """What was repaired or stripped on the way to a request."""

    MARKER = "marker"  # the marker was not written exactly: blanks, invisible characters, case, escapes
    NOISE = "noise"  # words between the markers that are not part of the object
    SEVERAL_OBJECTS = "several_objects"  # more than one JSON object between the markers: the last valid one counts
    JSON = "json"  # the JSON itself was damaged
    HTML_ENTITIES = "html_entities"
    ESCAPED_QUOTES = "escaped_quotes"
    CURLY_QUOTES = "curly_quotes"
    INVISIBLE_CHARACTERS = "invisible_characters"
    MARKDOWN_ESCAPES = "markdown_escapes"
    VALUE_END = "value_end"  # a VCP value was not closed


class RefusalReason(StrEnum):
    """Why something that looks like a request is none."""

    IN_CODE = "in_code"
    IN_QUOTE = "in_quote"
    IN_JSON = "in_json"
    IN_THOUGHT = "in_thought"
    STRAY_END = "stray_end"
    DAMAGED_MARKER = "damaged_marker"
    BAD_NAME = "bad_name"
    NO_NAME = "no_name"
    NO_PARAMETERS = "no_parameters"
    DAMAGED = "damaged"
    NESTED = "nested"
    UNTERMINATED = "unterminated"
    REPEATED = "repeated"
    UNUSABLE = "unusable"
    SUPERSEDED = "superseded"


# Not the model's own words, or no block at all: no failed try to use a protocol, and kept in the text.
SHOWN = frozenset({RefusalReason.IN_CODE, RefusalReason.IN_QUOTE, RefusalReason.IN_JSON, RefusalReason.IN_THOUGHT})
NOT_MEANT = SHOWN | {RefusalReason.STRAY_END}

DETAILS = {
    RefusalReason.IN_CODE: "The block is inside code: an example, not a request.",
    RefusalReason.IN_QUOTE: "The block is inside a quotation: an example, not a request.",
    RefusalReason.IN_JSON: "The block is inside a JSON object, which is data.",
    RefusalReason.IN_THOUGHT: "The block is inside a thought of the model, which asks for nothing.",
    RefusalReason.STRAY_END: "This end marker ends no block.",
    RefusalReason.DAMAGED_MARKER: "The start marker is damaged: `[[ABP_TOOL:name]]` or `<<<[TOOL_REQUEST]>>>`.",
    RefusalReason.BAD_NAME: "A tool name has 1 to 64 letters, digits, `_`, `-` or `.`; the first is a letter or `_`.",
    RefusalReason.NO_NAME: "The block has no pair with the key tool_name.",
    RefusalReason.NO_PARAMETERS: "No JSON object follows the marker.",
    RefusalReason.DAMAGED: "The parameters cannot be read as a JSON object, not even after repair.",
    RefusalReason.NESTED: "The block contains another marker, so its end is ambiguous.",
    RefusalReason.UNTERMINATED: "The end marker or the end of a value is missing.",
    RefusalReason.REPEATED: "A key occurs more than once.",
    RefusalReason.UNUSABLE: "The parameters hold a number that is not finite, an invalid character or too many levels.",
    RefusalReason.SUPERSEDED: "A later block, or one of the preferred protocol, counts instead.",
}


@dataclass(frozen=True)
class ToolRequest:
    """A tool that a model requests. span: the place of its block in the output, [start, end).

    parameters: JSON; every VCP value is text. fixes: what was repaired or stripped, each once. truncated: dotted paths
    of the parameters that end where the output or its block was cut, and so may say something else than was meant.
    """

    protocol: Protocol
    name: str
    parameters: Mapping[str, Any]
    span: Span
    fixes: tuple[Fix, ...] = ()
    truncated: tuple[str, ...] = ()


@dataclass(frozen=True)
class RefusedBlock:
    """A marker or block that is ignored. name: the tool that it names, where that can be read."""

    protocol: Protocol
    name: str | None
    span: Span
    code: RefusalReason

    @property
    def detail(self) -> str:
        """Return the reason as a sentence."""
        return DETAILS[self.code]

    @property
    def was_meant(self) -> bool:
        """Return whether the model meant it as a request."""
        return self.code not in NOT_MEANT


Block = ToolRequest | RefusedBlock


@dataclass(frozen=True)
class BlockRead:
    """A block, and the position at which reading continues.

    cut_inside: it was cut inside its object or value, so what follows on its line may be more of that.
    """

    block: Block
    end: int
    cut_inside: bool = False


@dataclass(frozen=True)
class ParsedOutput:
    """What the output of a model requests.

    requests: at most one, because of several blocks the last valid one counts. protocol: the one it came by.
    text: the output without its blocks; all of it when nothing is requested. refused: in the order of the
    output, at most MAX_REFUSALS of them. refusals: how many for which reason, each block once. fallback: what was used
    instead of the preferred protocol, when that was tried in vain. abp_failed: an ABP block was meant, and none could
    be used.
    """

    protocol: Protocol
    requests: tuple[ToolRequest, ...]
    text: str
    refused: tuple[RefusedBlock, ...]
    refusals: Mapping[RefusalReason, int]
    fallback: Protocol | None
    abp_failed: bool

    @property
    def refused_count(self) -> int:
        """Return how many blocks and markers are ignored."""
        return sum(self.refusals.values())
