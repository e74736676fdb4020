"""Requests to a chat model, its answers, and its failures (DESIGN D11).

The same for every provider: `apps.llm.providers` translate these to a wire format and back. The texts of people stay
out of every `repr`, so it cannot get into a log by accident.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Protocol

BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Return a quarter of the text's UTF-8 bytes, rounded up; 0 for an empty text.

    Spec 002 uses an `estimateTokens` without defining it. Bytes rather than letters, because a letter outside
    ASCII costs a model more than an English one.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


MAX_TEMPERATURE = 1.0
JSON_INSTRUCTION = "Answer with one JSON document and nothing else."
"""Part of each request for JSON: OpenAI's JSON mode needs the word in the prompt, many servers have no such mode."""

CONNECT_TIMEOUT_SECONDS = 5.0
IDLE_TIMEOUT_SECONDS = 60.0
TOTAL_TIMEOUT_SECONDS = 180.0
MAX_MODELS = 1_000


class MessageRole(StrEnum):
    """The author of a message. The instructions of the hub itself are `ChatRequest.system`."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation. Raises ValueError for mere white space, which no API takes."""

    role: MessageRole
    content: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.content.strip():
            raise ValueError("A message to a model cannot be empty.")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    system: the hub's instructions, "" for none. max_tokens: of the answer. temperature: 0 to 1, None for the
    model's own. expects_json: the answer must be one JSON document. model: None for the provider's own, as in every
    request that may fall back to another provider. Raises ValueError for what no API takes.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    system: str = field(default="", repr=False)
    temperature: float | None = None
    expects_json: bool = False
    model: str | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise ValueError("A request to a model needs a message.")
        if self.max_tokens < 1:
            raise ValueError(f"An answer has at least 1 token, not {self.max_tokens}.")
        if self.temperature is not None and not 0 <= self.temperature <= MAX_TEMPERATURE:
            raise ValueError(f"The temperature is from 0 to {MAX_TEMPERATURE:g}, not {self.temperature}.")

    @property
    def instructions(self) -> str:
        """Return `system`, with `JSON_INSTRUCTION` below it where JSON is expected."""
        return "\n\n".join(part for part in (self.system, JSON_INSTRUCTION if self.expects_json else "") if part)

    @property
    def estimated_input_tokens(self) -> int:
        """Return the likely size of the question, by `estimate_tokens`."""
        return sum(map(estimate_tokens, (self.instructions, *(message.content for message in self.messages))))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. estimated: by `estimate_tokens`, as the provider did not report it."""

    input_tokens: int
    output_tokens: int
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        """Return the tokens of question and answer."""
        return self.input_tokens + self.output_tokens


def estimate_usage(request: ChatRequest, answer: str) -> Usage:
    """Return the likely usage of a call whose provider does not report it."""
    return Usage(request.estimated_input_tokens, estimate_tokens(answer), estimated=True)


class FinishReason(StrEnum):
    """Why an answer ends.

    STOP: it is whole. LENGTH: `max_tokens` or the model's window was used up, so it is cut. FILTERED: the provider
    withheld it, or the model refused. OTHER: something else, such as a tool of the provider's own.
    """

    STOP = "stop"
    LENGTH = "length"
    FILTERED = "filtered"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of an answer, never empty."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class EndChunk:
    """The end of an answer. model: which one answered, as the provider calls it."""

    usage: Usage
    finish: FinishReason
    model: str


Chunk = TextChunk | EndChunk
"""What a stream yields: any number of TextChunks and, if it does not raise, exactly one EndChunk, the last."""
ChatStream = Generator[Chunk, float | None, None]
"""An answer in pieces. Its reader may send it a number of seconds, within which the next piece must come."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer."""

    text: str = field(repr=False)
    usage: Usage
    finish: FinishReason
    model: str


def join_chunks(chunks: Sequence[Chunk]) -> Completion:
    """Return the chunks of one whole stream as one answer. Raises ValueError where there is no end among them."""
    ends = [chunk for chunk in chunks if isinstance(chunk, EndChunk)]
    if len(ends) != 1:
        raise ValueError(f"A whole stream has 1 end, not {len(ends)}.")
    text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
    return Completion(text, ends[0].usage, ends[0].finish, ends[0].model)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a call may take, in seconds.

    connect: until the server is reached. idle: between two pieces of a stream, the first one among them; an answer
    that is not streamed arrives in one piece, so it does not apply there. total: from beginning to end, even
    while pieces arrive. Raises ValueError for a time that is not above 0.
    """

    connect: float = CONNECT_TIMEOUT_SECONDS
    idle: float = IDLE_TIMEOUT_SECONDS
    total: float = TOTAL_TIMEOUT_SECONDS

    def __post_init__(self) -> None:
        if not min(self.connect, self.idle, self.total) > 0:
            raise ValueError(f"Timeouts are above 0 seconds: {self}.")

    def within(self, seconds: float) -> "Timeouts":
        """Return the same for a caller that has only `seconds` left."""
        return replace(self, total=min(self.total, seconds))


DEFAULT_TIMEOUTS = Timeouts()


class ErrorKind(StrEnum):
    """What went wrong, in words for metrics and records."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    BAD_RESPONSE = "bad_response"
    CUT_OFF = "cut_off"


class TimeoutPhase(StrEnum):
    """Which of the `Timeouts` ran out. A `total` that the caller had shortened says nothing about the provider."""

    CONNECT = "connect"
    IDLE = "idle"
    TOTAL = "total"


class ChatError(Exception):
    """A call to a chat model failed. Its text is ours: it never holds a key, a prompt or the server's text.

    kind: what went wrong. retryable: the same call may succeed later, without any change.
    counts_against_breaker: the provider is failing. status: the HTTP status of the answer, or what it
    would have been where the error came inside a stream.
    retry_after_ms: the pause that the provider asks for. usage: what has probably been used (and will be charged)
    although the call failed; None where the provider cannot have begun to answer.
    """

    kind: ClassVar[ErrorKind]
    retryable: ClassVar[bool]
    counts_against_breaker: ClassVar[bool]

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.usage = usage

    @property
    def retry_after(self) -> int | None:
        """Return `retry_after_ms` in whole seconds, rounded up."""
        return None if self.retry_after_ms is None else -(-self.retry_after_ms // 1_000)


class ChatTimeoutError(ChatError):
    """One of the `Timeouts` ran out; `phase` says which."""

    kind = ErrorKind.TIMEOUT
    retryable = True
    counts_against_breaker = True

    def __init__(
        self, message: str, *, phase: TimeoutPhase, status: int | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message, status=status, usage=usage)
        self.phase = phase


class ChatConnectionError(ChatError):
    """The server cannot be reached, or went away before it began to answer."""

    kind = ErrorKind.CONNECTION
    retryable = True
    counts_against_breaker = True


class ChatRateLimitedError(ChatError):
    """Too many requests or tokens at once. The provider works, so it does not count against the breaker."""

    kind = ErrorKind.RATE_LIMITED
    retryable = True
    counts_against_breaker = False


class ChatOverloadedError(ChatError):
    """The provider is overloaded or out of order (5xx)."""

    kind = ErrorKind.OVERLOADED
    retryable = True
    counts_against_breaker = True


class ChatAuthError(ChatError):
    """The provider refuses the key, or the account has nothing left to spend. Counts against the breaker, because
    every call fails until that changes.
    """

    kind = ErrorKind.AUTH
    retryable = False
    counts_against_breaker = True


class ChatBadRequestError(ChatError):
    """The provider refuses this very request, be it too long or for a model that it does not have."""

    kind = ErrorKind.BAD_REQUEST
    retryable = False
    counts_against_breaker = False


class ChatBadResponseError(ChatError):
    """What came back is no answer in the format of the provider."""

    kind = ErrorKind.BAD_RESPONSE
    retryable = True
    counts_against_breaker = True


class ChatCutOffError(ChatError):
    """The answer began and ended before its end. What had arrived was passed on."""

    kind = ErrorKind.CUT_OFF
    retryable = True
    counts_against_breaker = True


class ChatProvider(Protocol):
    """One chat model somewhere; safe to call from several threads at once, and after a fork.

    It tries each call once; its caller decides about retries. No method holds anything of the database, and the
    model is called when the first item of a stream is.
    """

    @property
    def name(self) -> str:
        """Return the service: `openai`, `anthropic`, or one of these and an address, as `openai@127.0.0.1:11434`."""
        ...

    @property
    def model(self) -> str:
        """Return the model that answers requests without a model."""
        ...

    @property
    def timeouts(self) -> Timeouts:
        """Return how long a call may take by the configuration."""
        ...

    def stream(self, request: ChatRequest, timeouts: Timeouts | None = None) -> ChatStream:
        """Yield the answer in pieces, the last of which is an EndChunk. timeouts: None for the configured ones.

        Raises ChatError, also after the first pieces. A stream that is closed or dropped before its end closes the
        connection. A time that was sent to it and runs out is a timeout in the phase TOTAL.
        """
        ...

    def complete(self, request: ChatRequest, timeouts: Timeouts | None = None) -> Completion:
        """Return the answer in one piece; else as `stream`."""
        ...

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        """Return the names of the models that the server lists, in its order, at most MAX_MODELS of them.

        Costs nothing. Raises ChatError.
        """
        ...
