"""An answer as it comes in: assembly, its limits, and what is left when it breaks off (spec 002 section 8)."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from apps.core.domain.clock import Clock
from apps.llm.domain.answers import StreamedAnswer
from apps.llm.domain.chat import (
    ChatCutOffError,
    ChatError,
    ChatRequest,
    ChatStream,
    EndChunk,
    FinishReason,
    TextChunk,
    Usage,
    estimate_usage,
)
from apps.llm.domain.json_repair.repair import RepairResult
from apps.llm.domain.stream_assembly import (
    AssemblyConfig,
    AssemblyError,
    AssemblyState,
    ProcessResult,
    StreamAssembler,
    StreamEvent,
)


@dataclass(frozen=True)
class StreamResult:
    """The result of one attempt.

    usage: None where nothing can have been used. model: as the provider calls it, "" where it has not said. error: what
    broke the stream off; the answer may be whole all the same.
    """

    answer: StreamedAnswer
    usage: Usage | None
    model: str = ""
    error: ChatError | None = None


class StreamReader:
    """Reads one answer. Its text so far is available at any time, also after an exception."""

    def __init__(
        self, request: ChatRequest, clock: Clock, config: AssemblyConfig, on_text: Callable[[str], None]
    ) -> None:
        self._request = request
        self._on_text = on_text
        self._close_seconds = config.close_timeout_ms / 1_000
        self._assembler = StreamAssembler(clock, config)
        self._limit = config.max_buffer_size
        self._texts: list[str] = []
        self._size = 0
        self._whole: ProcessResult | None = None
        self._is_too_long = False

    @property
    def text(self) -> str:
        """Return what has come so far."""
        return "".join(self._texts)

    def probable_usage(self) -> Usage:
        """Estimate what has been used so far."""
        return estimate_usage(self._request, self.text)

    def read(self, stream: ChatStream) -> StreamResult:
        """Read the answer, with the error that broke it off. Hangs up in any case; raises what `on_text` raises."""
        self._assembler.process_chunk(StreamEvent("start"))
        error: ChatError | None = None
        end: EndChunk | None = None
        with closing(stream):
            try:
                end = self.read_pieces(stream)
            except ChatError as raised:
                error = raised
        if end is not None:
            return StreamResult(self.build_answer(end.finish), end.usage, end.model)
        if error is None and self._whole is None and not self._is_too_long:
            error = ChatCutOffError("The answer was cut off.", usage=self.probable_usage())
        return StreamResult(self.build_answer(None), error.usage if error else self.probable_usage(), error=error)

    def read_pieces(self, stream: ChatStream) -> EndChunk | None:
        """Read pieces until the end; None where there is no end to wait for."""
        chunk = next(stream, None)
        while isinstance(chunk, TextChunk):
            self._on_text(chunk.text)
            if not self.take(chunk.text):
                return None
            try:
                chunk = stream.send(self._close_seconds if self._whole else None)
            except StopIteration:
                return None
        return chunk

    def take(self, text: str) -> bool:
        """Add a piece; return whether to read on."""
        self._texts.append(text)
        self._size += len(text)
        if not self._request.expects_json:
            self._is_too_long = self._size > self._limit
            return not self._is_too_long
        result = self._assembler.process_chunk(StreamEvent("delta", text))
        if result.type == "complete_object":
            self._whole = result
        elif self._assembler.state is AssemblyState.IN_CHUNK:
            self._whole = None
        self._is_too_long = result.error is AssemblyError.BUFFER_OVERFLOW
        return result.type != "error"

    def build_answer(self, finish: FinishReason | None) -> StreamedAnswer:
        """Return the answer, with its JSON if it came to its end or only its end is missing."""
        document = None
        if self._whole is not None:
            document = RepairResult(self._whole.buffer, self._whole.value)
        elif finish is not None and self._request.expects_json and self.text.strip():
            done = self._assembler.process_chunk(StreamEvent("stop"))
            if done.type == "complete":
                document = RepairResult(done.buffer, done.value, done.repairs, truncated=done.truncated)
            else:
                document = RepairResult(None, refusal=done.refusal)
        return StreamedAnswer(self.text, finish, document, self._is_too_long)
