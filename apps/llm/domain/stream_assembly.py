"""Assembles the pieces of a streamed answer into JSON (spec 002 section 8, as corrected by DESIGN section 6).

States: awaiting_start -> in_chunk -> awaiting_close -> complete, and error from any of them.

Choices where the spec is silent or contradicts itself:
- Its code never enters `awaiting_close`; its diagram does, when the text is a whole JSON document. The diagram is
  followed. More text after the document leads back to `in_chunk` (white space does not), so that the outcome depends
  on the text alone and never on where the chunks were cut.
- `awaiting_close` ends in an error when no stop event came within `CLOSE_TIMEOUT_MS`; the error result carries the
  text, which is a whole document that the caller may still use.
- Repair at the stop event is `repair_json`, which closes what is open in the order in which it was opened.
- A text is parsed once mid-stream, when its outermost bracket first closes, not at every chunk: chunks cost their
  own length.
- A state that is left by an error or by the stop event accepts nothing more.

A stream lives in one process, so the assembler is an object, guarded by a lock, and not a stored state.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import RLock
from typing import Literal

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.domain.json_repair.repair import Path, load_strictly, repair_json
from apps.llm.domain.json_repair.types import Repair, RepairRefusal

MAX_BUFFER_SIZE = 100_000
"""Characters of one answer (spec 002 section 8, maxBufferSize)."""

CLOSE_TIMEOUT_MS = 5_000
"""How long a whole document waits for its stop event. The spec names no time."""


@dataclass(frozen=True, slots=True)
class AssemblyConfig:
    """The limits of an assembly."""

    max_buffer_size: int = MAX_BUFFER_SIZE
    close_timeout_ms: int = CLOSE_TIMEOUT_MS


DEFAULT_ASSEMBLY_CONFIG = AssemblyConfig()


class AssemblyState(StrEnum):
    """The state of an assembly."""

    AWAITING_START = "awaiting_start"
    IN_CHUNK = "in_chunk"
    AWAITING_CLOSE = "awaiting_close"
    COMPLETE = "complete"
    ERROR = "error"


class AssemblyError(StrEnum):
    """Why an assembly failed."""

    UNEXPECTED_EVENT = "unexpected_event"
    BUFFER_OVERFLOW = "buffer_overflow"
    CLOSE_TIMEOUT = "close_timeout"
    INVALID_JSON = "invalid_json"
    STREAM_ERROR = "stream_error"
    NO_STOP = "no_stop"


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream: `delta` carries content, `error` a message."""

    type: Literal["start", "delta", "stop", "error"]
    content: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The result of an event. `buffer` is set with everything but `continue`; of a `complete` it is valid JSON with
    the value `value`, in which `truncated` says what the end of the text cut. `refusal` says why a text with the error
    `invalid_json` was not repaired."""

    type: Literal["continue", "complete_object", "complete", "error"]
    buffer: str = ""
    value: object = None
    can_validate: bool = False
    was_repaired: bool = False
    repairs: tuple[Repair, ...] = ()
    truncated: tuple[Path, ...] = ()
    chunk_count: int = 0
    error: AssemblyError | None = None
    message: str = ""
    refusal: RepairRefusal | None = None


@dataclass(frozen=True, slots=True)
class StreamMetrics:
    """The progress of an assembly."""

    state: AssemblyState
    buffer_size: int
    chunk_count: int
    braces: int
    brackets: int
    in_string: bool


@dataclass(slots=True)
class BracketBalance:
    """What is open in the text so far, outside its strings."""

    braces: int = 0
    brackets: int = 0
    in_string: bool = False
    escaped: bool = False
    has_closed: bool = False

    def read(self, chunk: str) -> None:
        """Count the brackets of a chunk."""
        for char in chunk:
            if self.in_string:
                self.in_string = self.escaped or char != '"'
                self.escaped = not self.escaped and char == "\\"
            elif char == '"':
                self.in_string = True
            elif char in "{}[]":
                step = 1 if char in "{[" else -1
                if char in "{}":
                    self.braces += step
                else:
                    self.brackets += step
                self.has_closed = self.has_closed or (step < 0 and self.braces == 0 and self.brackets == 0)


class StreamAssembler:
    """Takes the events of one stream, one by one; thread-safe."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK, config: AssemblyConfig = DEFAULT_ASSEMBLY_CONFIG) -> None:
        self._clock = clock
        self._config = config
        self._lock = RLock()
        self._state = AssemblyState.AWAITING_START
        self._chunks: list[str] = []
        self._size = 0
        self._balance = BracketBalance()
        self._chunk_count = 0
        self._was_parsed = False
        self._closed_at = 0

    @property
    def state(self) -> AssemblyState:
        """Return the state after the last event or check of the clock."""
        return self._state

    @property
    def buffer(self) -> str:
        """Return the text so far."""
        with self._lock:
            return "".join(self._chunks)

    def metrics(self) -> StreamMetrics:
        """Return the progress of the assembly."""
        with self._lock:
            balance = self._balance
            return StreamMetrics(
                self._state, self._size, self._chunk_count, balance.braces, balance.brackets, balance.in_string
            )

    def process_chunk(self, event: StreamEvent) -> ProcessResult:
        """Process an event and return its result. Never raises."""
        with self._lock:
            self._chunk_count += 1
            late = self.check_timeout()
            if late is not None:
                return late
            match event.type, self._state:
                case "error", _:
                    return self._fail(AssemblyError.STREAM_ERROR, event.error or "Stream error")
                case "start", AssemblyState.AWAITING_START:
                    self._state = AssemblyState.IN_CHUNK
                    return self._continue()
                case "delta", AssemblyState.IN_CHUNK | AssemblyState.AWAITING_CLOSE:
                    return self._add(event.content)
                case "stop", AssemblyState.IN_CHUNK | AssemblyState.AWAITING_CLOSE:
                    return self._complete()
                case (("start" | "delta" | "stop"), _):
                    message = f"Unexpected {event.type} event in state {self._state}"
                    return self._fail(AssemblyError.UNEXPECTED_EVENT, message)
                case _:
                    return self._continue()

    def end_without_stop(self) -> ProcessResult:
        """Return the error of a stream that is over without a stop event."""
        with self._lock:
            return self._fail(AssemblyError.NO_STOP, "Stream ended without completion")

    def check_timeout(self) -> ProcessResult | None:
        """Return the error of waiting too long for the stop event, or None; for callers with nothing to process."""
        with self._lock:
            if self._state is not AssemblyState.AWAITING_CLOSE:
                return None
            waited = self._clock.now() - self._closed_at
            if waited <= self._config.close_timeout_ms:
                return None
            return self._fail(AssemblyError.CLOSE_TIMEOUT, f"No stop event {waited} ms after the document was complete")

    def _add(self, content: str) -> ProcessResult:
        """Add a piece of text; parse the text when its outermost bracket first closes."""
        if self._size + len(content) > self._config.max_buffer_size:
            message = f"Buffer overflow: more than {self._config.max_buffer_size} characters"
            # How much of the text arrived before the limit depends on the chunks, so none of it is returned.
            return replace(self._fail(AssemblyError.BUFFER_OVERFLOW, message), buffer="")
        self._chunks.append(content)
        self._size += len(content)
        self._balance.read(content)
        if self._state is AssemblyState.AWAITING_CLOSE:
            if content.strip(" \t\r\n"):
                self._state = AssemblyState.IN_CHUNK
            return self._continue()
        if self._was_parsed or not self._balance.has_closed:
            return self._continue()
        self._was_parsed = True
        try:
            value = load_strictly(self.buffer)
        except ValueError:
            return self._continue()
        self._state = AssemblyState.AWAITING_CLOSE
        self._closed_at = self._clock.now()
        return ProcessResult("complete_object", self.buffer, value, can_validate=True, chunk_count=self._chunk_count)

    def _complete(self) -> ProcessResult:
        """Complete the text, repaired where it must be."""
        repaired = repair_json(self.buffer)
        if repaired.text is None:
            failed = self._fail(AssemblyError.INVALID_JSON, "Invalid JSON after streaming complete")
            return replace(failed, refusal=repaired.refusal)
        self._state = AssemblyState.COMPLETE
        return ProcessResult(
            "complete",
            repaired.text,
            repaired.value,
            can_validate=True,
            was_repaired=not repaired.was_valid,
            repairs=repaired.repairs,
            truncated=repaired.truncated,
            chunk_count=self._chunk_count,
        )

    def _continue(self) -> ProcessResult:
        """Return the result of an event that completes nothing."""
        return ProcessResult("continue", chunk_count=self._chunk_count)

    def _fail(self, error: AssemblyError, message: str) -> ProcessResult:
        """Enter the error state."""
        self._state = AssemblyState.ERROR
        return ProcessResult("error", self.buffer, chunk_count=self._chunk_count, error=error, message=message)


def assemble(
    events: Iterable[StreamEvent],
    clock: Clock = SYSTEM_CLOCK,
    config: AssemblyConfig = DEFAULT_ASSEMBLY_CONFIG,
) -> ProcessResult:
    """Return the `complete` or `error` of a whole stream; a stream that ends without a stop event is an error."""
    assembler = StreamAssembler(clock, config)
    for event in events:
        result = assembler.process_chunk(event)
        if result.type in ("complete", "error"):
            return result
    return assembler.end_without_stop()
