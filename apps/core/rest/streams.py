"""Answers that are made while they are sent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import get_ident
from typing import Any

from django.db import connections
from django.http import StreamingHttpResponse

# A client that takes nothing for so long is cut off, because the database keeps what it reads from being tidied.
STALLED_SECONDS = 60.0


class OwnedIterator:
    """Chunks that are made by one thread, and what to do once, when it has ended or was never begun.

    A generator that reads the database has to be closed by the thread whose connection it uses.
    """

    def __init__(self, chunks: Iterator[bytes], on_end: Callable[[], None]) -> None:
        self._chunks, self._on_end = chunks, on_end
        self._owner: int | None = None
        self._has_ended = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        self._owner = get_ident()
        if self._has_ended:
            raise StopIteration
        try:
            return next(self._chunks)
        except BaseException:
            self.close()  # also at the end, as some servers close an answer late or not at all
            raise

    def close(self) -> None:
        """End it, unless another thread is its owner, which does."""
        if self._owner in {None, get_ident()} and not self._has_ended:
            self._has_ended = True
            try:
                with suppress(AttributeError):
                    self._chunks.close()  # type: ignore[attr-defined]
            finally:
                self._on_end()


class ThreadStreamedResponse(StreamingHttpResponse):
    """Chunks that are made in a thread of their own while the client takes them, so that no other request waits.

    At most one chunk is ahead of the client. Under a synchronous server they are made by its thread.
    """

    def __init__(self, chunks: OwnedIterator, **kwargs: Any) -> None:
        super().__init__(chunks, **kwargs)
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop, chunks = asyncio.get_running_loop(), self._chunks
        thread = ThreadPoolExecutor(1, thread_name_prefix="stream")

        def end() -> None:
            try:
                chunks.close()
            finally:
                connections.close_all()

        try:
            while (chunk := await loop.run_in_executor(thread, next, chunks, None)) is not None:
                stalled = loop.call_later(STALLED_SECONDS, thread.submit, end)
                yield chunk
                if stalled.when() <= loop.time():
                    raise TimeoutError("The client took nothing for too long.")
                stalled.cancel()
        finally:
            thread.submit(end)
            thread.shutdown(wait=False)
