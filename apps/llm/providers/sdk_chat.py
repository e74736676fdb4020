"""What providers behind an official SDK have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar

import httpx2

from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.core.per_process import PerProcess
from apps.llm.domain.chat import ChatRequest, ChatStream, Completion, TextChunk, Timeouts, Usage
from apps.llm.providers.answers import Answer, Delta, model_names
from apps.llm.providers.connections import http_client
from apps.llm.providers.deadlines import bounded, deadline_of, set_deadline
from apps.llm.providers.endpoint import Endpoint
from apps.llm.providers.failures import Failures

C = TypeVar("C")
NOTHING = Usage(0, 0)


class SdkChat(ABC, Generic[C]):
    """A ChatProvider that asks through an SDK's client `C`, which is made at the first call, once in each process.

    The SDK never tries again by itself, and takes no address, key or account from its own environment variables.
    """

    sdk: ClassVar[ModuleType]
    sdk_error: ClassVar[type[Exception]]

    def __init__(self, endpoint: Endpoint, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.model = endpoint.model
        self.timeouts = endpoint.timeouts
        self._failures = Failures(endpoint, self.sdk, self.sdk_error, clock)
        self._http = PerProcess(http_client)
        self._client = PerProcess(self._new_client)

    @abstractmethod
    def _new_client(self) -> C:
        """The SDK's client for the endpoint, over `self._http`."""

    @abstractmethod
    def _deltas(self, request: ChatRequest, timeout: httpx2.Timeout) -> Generator[Delta, None, None]:
        """Ask, and give what each event of the answer adds. Raises the SDK's errors; hangs up when it is closed."""

    @abstractmethod
    def _whole(self, request: ChatRequest, timeout: httpx2.Timeout) -> Delta:
        """Ask, and give the whole answer at once. Raises the SDK's errors, and those of an answer that is none."""

    @abstractmethod
    def _first_page_of_models(self, timeout: httpx2.Timeout) -> Any:
        """Ask for the server's models, and give what the SDK made of the answer. Raises as `_whole` does."""

    def stream(self, request: ChatRequest, timeouts: Timeouts | None = None) -> ChatStream:
        """See `ChatProvider.stream`."""
        timeouts = timeouts or self.timeouts
        deadline = time.monotonic() + timeouts.total
        timeout = bounded(timeouts, deadline, streams=True)
        answer = Answer(request, request.model or self.model)
        failed: Exception | None = None
        with closing(self._deltas(request, timeout)) as deltas:
            try:
                for delta in deltas:
                    answer.add(delta)
                    if delta.text:
                        seconds = yield TextChunk(delta.text)
                        set_deadline(timeout, deadline if seconds is None else min(deadline, _in(seconds)))
            except self._failures.raised as error:
                failed = error
        # Outside of `except`, so that the error does not hang on the SDK's, which holds the key.
        if answer.finish is None:
            raise self._failures.of_stream(failed, answer, deadline_of(timeout))
        # Whatever failed after the last word of the answer has not harmed it.
        yield answer.end()

    def complete(self, request: ChatRequest, timeouts: Timeouts | None = None) -> Completion:
        """See `ChatProvider.complete`."""
        timeouts = timeouts or self.timeouts
        deadline = time.monotonic() + timeouts.total
        answer = Answer(request, request.model or self.model)
        failed: Exception | None = None
        try:
            answer.add(self._whole(request, bounded(timeouts, deadline, streams=False)))
        except self._failures.raised as error:
            failed = error
        if failed is not None:
            raise self._failures.meaning_of(failed, began=False, deadline=deadline, used=answer.usage)
        return answer.completion()

    def models(self, timeouts: Timeouts | None = None) -> tuple[str, ...]:
        """See `ChatProvider.models`."""
        timeouts = timeouts or self.timeouts
        deadline = time.monotonic() + timeouts.total
        failed: Exception | None = None
        names: tuple[str, ...] = ()
        try:
            names = model_names(self._first_page_of_models(bounded(timeouts, deadline, streams=False)))
        except self._failures.raised as error:
            failed = error
        if failed is not None:
            raise self._failures.meaning_of(failed, began=False, deadline=deadline, used=NOTHING)
        return names

    def close(self) -> None:
        """Close the connections of this process; the next call opens new ones."""
        self._client.forget()
        for http in self._http.forget():
            http.close()


def _in(seconds: float) -> float:
    return time.monotonic() + seconds
