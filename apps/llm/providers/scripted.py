"""A chat model that answers from a script, for tests and rehearsals."""

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from apps.llm.domain.chat import (
    DEFAULT_TIMEOUTS,
    ChatError,
    ChatRequest,
    ChatStream,
    ChatTimeoutError,
    Completion,
    EndChunk,
    FinishReason,
    TextChunk,
    TimeoutPhase,
    Timeouts,
    estimate_usage,
    join_chunks,
)


@dataclass(frozen=True, slots=True)
class Silence:
    """Silence of the model, in seconds."""

    seconds: float


ScriptLine = str | Silence | ChatError | EndChunk
Turn = str | tuple[ScriptLine, ...]
"""One answer: its pieces of text, pauses between them, and at last an error to raise or an end. A turn with neither
ends as an answer does that is whole; a bare text is a turn of one piece.
"""


class ScriptExhaustedError(Exception):
    """The script has no answer left: it was written too short."""


class ScriptedChat:
    """A ChatProvider that answers each call with the next turn of a script, which may be endless.

    sleep: wait for a pause (seconds). requests: what it was asked, oldest first.
    """

    def __init__(
        self,
        turns: Iterable[Turn],
        *,
        name: str = "scripted",
        model: str = "script",
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.model = model
        self.timeouts = timeouts
        self.requests: list[ChatRequest] = []
        self._turns = iter(turns)
        self._sleep = sleep
        self._lock = threading.Lock()

    def stream(self, request: ChatRequest, timeouts: Timeouts | None = None) -> ChatStream:
        """See `ChatProvider.stream`. Raises ScriptExhaustedError as well."""
        timeouts = timeouts or self.timeouts
        said, left, soon = "", timeouts.total, math.inf
        with self._lock:
            self.requests.append(request)
            turn = next(self._turns, None)
        if turn is None:
            raise ScriptExhaustedError(f"The script of {self.name} is at its end.")
        for line in (turn,) if isinstance(turn, str) else turn:
            match line:
                case "":
                    continue
                case str():
                    said += line
                    seconds = yield TextChunk(line)
                    soon = math.inf if seconds is None else seconds
                case Silence(seconds):
                    allowed = min(left, soon)
                    self._sleep(min(seconds, timeouts.idle, allowed))
                    if seconds > min(timeouts.idle, allowed):
                        phase = TimeoutPhase.TOTAL if seconds > allowed <= timeouts.idle else TimeoutPhase.IDLE
                        raise ChatTimeoutError(f"The script of {self.name} pauses for too long.", phase=phase)
                    left, soon = left - seconds, soon - seconds
                case EndChunk():
                    yield line
                    return
                case _:
                    raise line
        yield EndChunk(estimate_usage(request, said), FinishReason.STOP, request.model or self.model)

    def complete(self, request: ChatRequest, timeouts: Timeouts | None = None) -> Completion:
        """See `ChatProvider.complete`."""
        timeouts = timeouts or self.timeouts
        return join_chunks(list(self.stream(request, Timeouts(timeouts.connect, timeouts.total, timeouts.total))))

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        """See `ChatProvider.models`."""
        return (self.model,)
