"""What a chat provider is (DESIGN D11)."""

from collections.abc import Generator
from typing import Protocol

from apps.llm.domain.chat import ChatRequest, Chunk, Completion, Timeouts

MAX_MODELS = 1_000
ChatStream = Generator[Chunk, float | None, None]
"""An answer in pieces. Its reader may send it a number of seconds, within which the next piece must come."""


class ChatProvider(Protocol):
    """One chat model somewhere; safe to call from several threads at once, and after a fork.

    It tries each call once: whoever calls it decides about trying again. No method holds anything of the
    database, and the model is not asked before the first item of a stream is.
    """

    @property
    def name(self) -> str:
        """The service: `openai`, `anthropic`, or one of these and an address, as `openai@127.0.0.1:11434`."""
        ...

    @property
    def model(self) -> str:
        """The model that answers requests which name none."""
        ...

    @property
    def timeouts(self) -> Timeouts:
        """How long a call may take by the configuration."""
        ...

    def stream(self, request: ChatRequest, timeouts: Timeouts | None = None) -> ChatStream:
        """The answer in pieces, the last of which is an EndChunk. timeouts: None for the configured ones.

        Raises ChatError, also after pieces have been handed out. A stream that is closed or dropped before its end
        hangs up. A time that was sent to it and runs out is a timeout in the phase TOTAL.
        """
        ...

    def complete(self, request: ChatRequest, timeouts: Timeouts | None = None) -> Completion:
        """The answer in one piece; else as `stream`."""
        ...

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        """The names of the models that the server says it has, in its order, at most MAX_MODELS of them.

        Costs nothing. Raises ChatError.
        """
        ...
