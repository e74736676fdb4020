"""One socket: topics to a browser, and nothing from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer

from apps.live.domain.topics import ALIVE, TICK
from apps.live.viewer import Viewer

if TYPE_CHECKING:
    from apps.live.process import LiveProcess

BEAT_SECONDS = 10.0
# Codes of RFC 6455, and two of our own for a page that must not try again.
POLICY, TRY_LATER, SIGNED_OUT = 1008, 1013, 4401


class LiveSocket(AsyncConsumer):
    """The socket of a browser.

    It has no channel of its own: its process has one for all of them, and puts what it hears into each. A browser that
    reads slowly gets the newest version of each topic. viewer: whom it belongs to. since: when the page was made, in
    milliseconds; what changed later is sent at once.
    """

    channel_layer_alias = None

    def __init__(self, process: LiveProcess, viewer: Viewer, since: int | None) -> None:
        self.process, self.viewer, self.since = process, viewer, since
        self.checked_at = asyncio.get_running_loop().time()
        self._pending: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # Before the socket is accepted nothing is written: topics that come until then wait.
        self._is_writing, self._is_closed = True, False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve until one of the two sides closes."""
        self.process.add(self)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._is_closed = True
            self.process.remove(self)
            for task in self._tasks:
                task.cancel()

    async def dispatch(self, message: Mapping[str, Any]) -> None:
        """Handle a message; no connection to a database is used here, so none is closed."""
        if message["type"] == "websocket.connect":
            await self.send({"type": "websocket.accept"})
            self._start(self._write())
            self._start(self._beat())
            if self.since is not None:
                self.put({topic: at for topic, at in self.process.versions.items() if at > self.since})
                self.put_own(self.process.own.since(self.viewer.person, self.since))
        elif message["type"] == "websocket.receive":
            await self.close(POLICY, "nothing is to be sent")
        elif message["type"] == "websocket.disconnect":
            raise StopConsumer

    def put(self, topics: Mapping[str, int]) -> None:
        """Send topics of the hub with their versions to who hears of them."""
        if self.viewer.hears:
            self._put(topics)

    def put_own(self, topics: Mapping[str, int]) -> None:
        """Send topics of the person whose socket this is."""
        if self.viewer.person:
            self._put(topics)

    def _put(self, topics: Mapping[str, int]) -> None:
        """Send topics as soon as the browser reads them."""
        if not topics or self._is_closed:
            return
        self._pending |= topics
        if not self._is_writing:
            self._is_writing = True
            self._start(self._write())

    def update(self, viewer: Viewer | None) -> None:
        """Note whom the session belongs to now; the socket of one that has ended is closed."""
        if viewer is None or viewer.account != self.viewer.account:
            self.end(SIGNED_OUT, "signed out")
        else:
            self.viewer = viewer

    def end(self, code: int, reason: str) -> None:
        """Close the socket, from outside of it."""
        self._start(self.close(code, reason))

    async def close(self, code: int, reason: str) -> None:
        """Close the socket once."""
        if not self._is_closed:
            self._is_closed = True
            await self.send({"type": "websocket.close", "code": code, "reason": reason})

    async def send_topic(self, topic: str, version: int) -> None:
        """Send one frame."""
        await self.send({"type": "websocket.send", "text": json.dumps({"topic": topic, "version": version})})

    async def _write(self) -> None:
        try:
            while self._pending and not self._is_closed:
                topic = next(iter(self._pending))
                await self.send_topic(topic, self._pending.pop(topic))
        finally:
            self._is_writing = False

    async def _beat(self) -> None:
        """Send something every ten seconds: a browser notices by it that its socket is dead."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            if self._is_closed:
                return
            await self.send_topic(TICK if self.viewer.needs_ticks else ALIVE, self.process.next_version())

    def _start(self, work: Any) -> None:
        async def run() -> None:
            # The server raises an OSError for a browser that is gone.
            with suppress(OSError):
                await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
