"""Answers that are made while they are sent."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import get_ident
from typing import Any

from django.db import connections
from django.http import StreamingHttpResponse

logger = logging.getLogger(__name__)
# A client that is so far behind the least rate is cut off: the database keeps what it reads from being tidied.
STALLED_SECONDS = 60.0
LEAST_BYTES_PER_SECOND = 64 * 1024 / 10


class Patience:
    """How long a client may still keep us waiting, in seconds: each byte that it takes earns some, up to the most."""

    def __init__(self) -> None:
        self.seconds, self.taken, self.waited = STALLED_SECONDS, 0, 0.0

    def note(self, waited: float, size: int) -> None:
        """Account for a chunk that the client took after so many seconds."""
        self.taken, self.waited = self.taken + size, self.waited + waited
        self.seconds = min(STALLED_SECONDS, self.seconds - waited + size / LEAST_BYTES_PER_SECOND)


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

        def end_slow() -> None:
            logger.warning(
                "a stream is ended: its client took %d bytes in %.0f s of waiting, less than %.0f a second",
                patience.taken, patience.waited + loop.time() - began, LEAST_BYTES_PER_SECOND,
            )  # fmt: skip
            thread.submit(end)

        patience, timer = Patience(), None
        try:
            while (chunk := await loop.run_in_executor(thread, next, chunks, None)) is not None:
                began = loop.time()
                timer = loop.call_later(patience.seconds, end_slow)
                yield chunk
                if timer.when() <= loop.time():
                    raise TimeoutError("The client took too little for too long.")
                timer.cancel()
                patience.note(loop.time() - began, len(chunk))
        finally:
            if timer is not None:
                timer.cancel()
            thread.submit(end)
            thread.shutdown(wait=False)
