"""What providers behind an official SDK have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import closing
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar

import httpx2

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.http_calls import ClientPool
from apps.llm.domain.chat import ChatRequest, ChatStream, Completion, TextChunk, Timeouts, Usage
from apps.llm.providers.answers import AnswerBuilder, AnswerDelta, listed_models
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.failures import ErrorTranslator

C = TypeVar("C")
R = TypeVar("R")
NOTHING = Usage(0, 0)


def http_timeout(timeouts: Timeouts, *, streams: bool) -> httpx2.Timeout:
    """Return the timeouts of single operations. streams: whether the answer comes in pieces."""
    connect = min(timeouts.connect, timeouts.total)
    return httpx2.Timeout(timeouts.idle if streams else timeouts.total, connect=connect, pool=connect)


class SdkChat(ABC, Generic[C]):
    """A ChatProvider that asks through an SDK's clients `C`: one for each call under way, used again afterwards.

    The SDK never tries again, and takes no address, key or account from its own environment variables.
    """

    sdk: ClassVar[ModuleType]
    sdk_error: ClassVar[type[Exception]]

    def __init__(self, endpoint: Endpoint, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.model = endpoint.model
        self.timeouts = endpoint.timeouts
        self._errors = ErrorTranslator(endpoint, self.sdk, self.sdk_error, clock)
        self._pool = ClientPool(self.new_client)

    @abstractmethod
    def new_client(self, http: httpx2.Client) -> C:
        """Create the SDK's client for the endpoint, over `http`."""

    @abstractmethod
    def stream_deltas(
        self, client: C, request: ChatRequest, timeout: httpx2.Timeout
    ) -> Generator[AnswerDelta, None, None]:
        """Ask, and yield what each event of the answer adds. Raises the SDK's errors; hangs up when it is closed."""

    @abstractmethod
    def ask_whole(self, client: C, request: ChatRequest, timeout: httpx2.Timeout) -> AnswerDelta:
        """Ask, and return the whole answer at once. Raises the SDK's errors, and those of an answer that is none."""

    @abstractmethod
    def list_first_page(self, client: C, timeout: httpx2.Timeout) -> Any:
        """Ask for the server's models, and return what the SDK made of the answer. Raises as `ask_whole` does."""

    def stream(self, request: ChatRequest, timeouts: Timeouts | None = None) -> ChatStream:
        """See `ChatProvider.stream`."""
        timeouts = timeouts or self.timeouts
        deadline = time.monotonic() + timeouts.total
        limit = deadline
        answer = AnswerBuilder(request, request.model or self.model)
        failed: Exception | None = None
        with (
            self._pool.borrow(deadline) as (client, connection),
            closing(self.stream_deltas(client, request, http_timeout(timeouts, streams=True))) as deltas,
        ):
            try:
                for delta in deltas:
                    answer.add(delta)
                    if delta.text:
                        connection.deadline = deadline
                        seconds = yield TextChunk(delta.text)
                        limit = deadline if seconds is None else min(deadline, time.monotonic() + seconds)
                        connection.deadline = limit
            except self._errors.raised as error:
                failed = error
        # Outside of `except`, so that the error does not hang on the SDK's, which holds the key.
        if answer.finish is None:
            raise self._errors.translate_stream(failed, answer, is_late=time.monotonic() >= limit)
        # Whatever failed after the last word of the answer has not harmed it.
        yield answer.end()

    def complete(self, request: ChatRequest, timeouts: Timeouts | None = None) -> Completion:
        """See `ChatProvider.complete`."""
        answer = AnswerBuilder(request, request.model or self.model)
        answer.add(
            self.ask_once(lambda client, timeout: self.ask_whole(client, request, timeout), timeouts, answer.usage)
        )
        return answer.completion()

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        """See `ChatProvider.models`."""
        return self.ask_once(
            lambda client, timeout: listed_models(self.list_first_page(client, timeout)), timeouts, NOTHING
        )

    def ask_once(self, ask: Callable[[C, httpx2.Timeout], R], timeouts: Timeouts | None, used: Usage) -> R:
        """Return what `ask` does with a client. Raises ChatError; used: what is lost if that happens on the way."""
        timeouts = timeouts or self.timeouts
        deadline = time.monotonic() + timeouts.total
        with self._pool.borrow(deadline) as (client, _):
            try:
                return ask(client, http_timeout(timeouts, streams=False))
            except self._errors.raised as error:
                failed = error
        # Outside of `except`, so that the error does not hang on the SDK's, which holds the key.
        raise self._errors.translate(failed, has_begun=False, is_late=time.monotonic() >= deadline, used=used)

    def close(self) -> None:
        """Close the idle connections of this process; the next call opens new ones."""
        self._pool.close()
