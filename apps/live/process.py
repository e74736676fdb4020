"""What live push is in one web process: a listener, a channel of the layer, the sockets, and what changed of people."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connections

from apps.core.per_process import PerProcess
from apps.live import metrics
from apps.live.consumer import TRY_LATER, LiveSocket
from apps.live.domain.topics import ACCOUNTS, EVERY_PERSON, KNOWN, MINE, read_own_note
from apps.live.listener import Listener
from apps.live.viewer import SessionsUnavailableError, Viewer, find_viewer

# For so long a change is remembered for pages that were made before it and open their socket after it.
REMEMBERED_MS = 300_000
MANY = 10_000
GROUP = "live"
# Under which messages about people are counted, of every user.
OWN = "own"
# A session is checked again after so long; how often the hub looks for those that are due.
CHECK_SECONDS, CHECK_EVERY = 55.0, 5.0
# For so long sockets stay open while changes are not heard of: a connection that was only cut is back by then.
DEAF_SECONDS = 2.0
# Handshakes and checks that wait for the one thread that reads sessions.
MAX_WAITING = 64
RETRY_SECONDS = 1.0
# A message to oneself through a layer that another server keeps, and how long none may come.
ECHO_SECONDS, SILENT_SECONDS = 5.0, 12.0
logger = logging.getLogger(__name__)


class OwnTopics:
    """The topics of people with their versions, in milliseconds, the latest changes of a few minutes."""

    def __init__(self) -> None:
        self._versions: dict[str, dict[str, int]] = {}
        self._changed: dict[str, int] = {}

    def hear(self, notes: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Remember what was notified (`own_note`). Return its topics by person; each comes with `mine`."""
        heard: dict[str, dict[str, int]] = {}
        for note, version in notes.items():
            if (read := read_own_note(note)) is not None:
                digest, topic = read
                heard.setdefault(digest, {}).update({topic: version, MINE: version})
        for digest, topics in heard.items():
            self._versions.setdefault(digest, {}).update(topics)
            self._changed[digest] = max(topics.values())
        self._drop(heard)
        return heard

    def since(self, digest: str, moment: int) -> dict[str, int]:
        """Return what changed of a person after a moment; nothing for no person."""
        known = {**self._versions.get(EVERY_PERSON, {}), **self._versions.get(digest, {})}
        return {topic: version for topic, version in known.items() if version > moment} if digest else {}

    def _drop(self, heard: Iterable[str]) -> None:
        """Drop people of whom nothing changed for long, where there are many."""
        newest = max((self._changed[digest] for digest in heard), default=0)
        if len(self._changed) > MANY:
            for digest in [one for one, at in self._changed.items() if at + REMEMBERED_MS < newest]:
                del self._changed[digest], self._versions[digest]


class LiveProcess:
    """The sockets of this process and what they are sent. Everything runs in its event loop, but for `announce`,
    `announce_own`, `note_hearing` and `end`, which any thread may call.

    versions: of the topics that were sent, in milliseconds of this machine's clock. own: the same of each person.
    """

    def __init__(self) -> None:
        self.sockets: set[LiveSocket] = set()
        self.versions: dict[str, int] = {}
        self.own = OwnTopics()
        self.listener: Listener | None = None
        self._version = 0
        self._opening = 0
        self._waiting = 0
        self._is_hearing = self._is_layer_there = False
        self._heard_at = 0.0
        self._deaf: asyncio.TimerHandle | None = None
        self._announced: set[str] = set()
        self._announced_own: set[str] = set()

    @property
    def is_begun(self) -> bool:
        """Return whether browsers may open sockets to this process."""
        return self.listener is not None

    @property
    def is_open(self) -> bool:
        """Return whether a socket that is opened now would hear of changes."""
        return self._is_hearing and self._is_layer_there

    async def is_open_soon(self) -> bool:
        """Wait while this process begins to hear, or does so again after a lost connection; return whether it hears."""
        if self.is_begun and not self.is_open:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._opened.wait(), DEAF_SECONDS)
        return self.is_begun and self.is_open

    def begin(self) -> None:
        """Begin to listen, in the event loop that serves the sockets."""
        self._loop = asyncio.get_running_loop()
        self._is_hearing = self._is_layer_there = False
        self._layer: Any = get_channel_layer()
        self._has_news, self._is_check_due, self._opened = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="live sessions")
        self._tasks = [self._loop.create_task(work) for work in (self._publish(), self._receive(), self._check())]
        if settings.LIVE_IS_SHARED:
            self._tasks.append(self._loop.create_task(self._echo()))
        self.listener = Listener(self, is_elected=settings.LIVE_IS_SHARED)
        self.listener.begin()

    def end(self) -> None:
        """End the listener and the thread of sessions, and close their connections."""
        if self.listener is None:
            return
        self.listener.end()
        self.listener = None
        for task in self._tasks:
            with suppress(RuntimeError):  # the loop may be closed
                self._loop.call_soon_threadsafe(task.cancel)
        with suppress(RuntimeError):
            self._pool.submit(connections.close_all)
        self._pool.shutdown()

    # --- from the listener ------------------------------------------------------------------------------

    def announce(self, topics: Sequence[str]) -> None:
        """Send topics to all processes."""
        with suppress(RuntimeError):  # the loop may be closed
            self._loop.call_soon_threadsafe(self._announce, topics, self._announced)

    def announce_own(self, notes: Sequence[str]) -> None:
        """Send topics of people to all processes."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._announce, notes, self._announced_own)

    def note_hearing(self, is_hearing: bool) -> None:
        """Note whether the listener hears of changes."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._note, is_hearing, None)

    def _announce(self, topics: Sequence[str], announced: set[str]) -> None:
        announced.update(topics)
        self._has_news.set()

    def _note(self, is_hearing: bool | None, is_layer_there: bool | None) -> None:
        """Note what works. Sockets are closed when something has not for a while, so that browsers know."""
        self._is_hearing = self._is_hearing if is_hearing is None else is_hearing
        self._is_layer_there = self._is_layer_there if is_layer_there is None else is_layer_there
        (self._opened.set if self.is_open else self._opened.clear)()
        metrics.HEARS.set(self.is_open)
        if self.is_open and self._deaf is not None:
            self._deaf.cancel()
            self._deaf = None
        elif not self.is_open and self._deaf is None:
            self._deaf = self._loop.call_later(DEAF_SECONDS, self._close_all)

    def _close_all(self) -> None:
        self._deaf = None
        for socket in list(self.sockets):
            socket.end(TRY_LATER, "changes are not heard of now")

    # --- through the layer ------------------------------------------------------------------------------

    def next_version(self) -> int:
        """Return a version above all former ones of this process."""
        self._version = max(self._version + 1, time.time_ns() // 1_000_000)
        return self._version

    async def _publish(self) -> None:
        """Pass what was announced to the group; what cannot be is kept and tried again."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            topics, own, version = sorted(self._announced), sorted(self._announced_own), self.next_version()
            message = {"type": "live.topics", "topics": dict.fromkeys(topics, version)}
            if own:
                message["own"] = dict.fromkeys(own, version)
            try:
                await self._layer.group_send(GROUP, message)
            except Exception as error:  # noqa: BLE001  (whatever a layer raises when its server is gone)
                logger.warning("a change could not be passed on: %s", type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
                self._has_news.set()
            else:
                self._announced.difference_update(topics)
                self._announced_own.difference_update(own)

    async def _receive(self) -> None:
        """Put what the group is sent into the sockets."""
        while True:
            try:
                self._channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, self._channel)
                self._note(None, True)
                self._heard_at = self._loop.time()
                while True:
                    self.hear(await self._layer.receive(self._channel))
            except asyncio.CancelledError:
                await self._layer.group_discard(GROUP, self._channel)
                raise
            except Exception as error:  # noqa: BLE001
                self._note(None, False)
                logger.warning("changes are not heard of by all processes: %s", type(error).__name__)
                # Half of a member would collect messages that are never read.
                with suppress(Exception):
                    await self._layer.group_discard(GROUP, self._channel)
                await asyncio.sleep(RETRY_SECONDS)

    async def _echo(self) -> None:
        """Find out whether a layer on another server still delivers."""
        while True:
            await asyncio.sleep(ECHO_SECONDS)
            with suppress(Exception):
                await asyncio.wait_for(self._layer.send(self._channel, {"type": "live.echo"}), ECHO_SECONDS)
            self._note(None, self._loop.time() - self._heard_at < SILENT_SECONDS)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Put the topics of a message into the sockets; anything else in it is dropped."""
        self._heard_at = self._loop.time()
        topics = {
            topic: version
            for topic, version in message.get("topics", {}).items()
            if topic in KNOWN and isinstance(version, int)
        }
        self.versions |= topics
        for topic in topics:
            metrics.MESSAGES.labels(topic).inc()
        for socket in list(self.sockets):
            socket.put(topics)
        self._hear_own(message.get("own", {}))
        if ACCOUNTS in topics:
            self._is_check_due.set()

    def _hear_own(self, notes: Mapping[str, Any]) -> None:
        """Put topics of people into the sockets of each of them."""
        if not (heard := self.own.hear({note: at for note, at in notes.items() if isinstance(at, int)})):
            return
        metrics.MESSAGES.labels(OWN).inc(len(heard))
        for socket in list(self.sockets):
            socket.put_own({**heard.get(EVERY_PERSON, {}), **heard.get(socket.viewer.person, {})})

    # --- sockets ----------------------------------------------------------------------------------------

    def count(self, account: str | None = None) -> int:
        """Return how many sockets there are, of an account or at all."""
        return sum(account in {None, socket.viewer.account} for socket in self.sockets)

    def add(self, socket: LiveSocket) -> None:
        """Remember a socket."""
        self.sockets.add(socket)
        metrics.SOCKETS.set(len(self.sockets))

    def remove(self, socket: LiveSocket) -> None:
        """Forget a socket that is closed."""
        self.sockets.discard(socket)
        metrics.SOCKETS.set(len(self.sockets))

    async def viewer_of(self, session_key: str, *, is_open: bool = False) -> Viewer | None:
        """Return who is signed in with a session. Raises SessionsUnavailableError, also where too many wait.

        is_open: of a socket that is open already, which is checked however many strangers knock.
        """
        if self._waiting >= MAX_WAITING and not is_open:
            raise SessionsUnavailableError
        self._waiting += 1
        try:
            return await self._loop.run_in_executor(self._pool, find_viewer, session_key)
        finally:
            self._waiting -= 1

    async def _check(self) -> None:
        """Look at the sessions of open sockets once a minute, and when accounts have changed."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_check_due.wait(), CHECK_EVERY)
            try:
                await self._check_sessions(are_all_due=self._is_check_due.is_set())
            except Exception:
                logger.exception("the sessions of sockets could not be checked")

    async def _check_sessions(self, *, are_all_due: bool) -> None:
        self._is_check_due.clear()
        now = self._loop.time()
        due = [socket for socket in self.sockets if are_all_due or now - socket.checked_at >= CHECK_SECONDS]
        for session_key in {socket.viewer.session_key for socket in due}:
            try:
                viewer = await self.viewer_of(session_key, is_open=True)
            except SessionsUnavailableError:
                continue  # A database that is gone closes all sockets anyway.
            for socket in [one for one in self.sockets if one.viewer.session_key == session_key]:
                socket.checked_at = now
                socket.update(viewer)


_process = PerProcess(LiveProcess)


def live_process() -> LiveProcess:
    """Return live push of this process."""
    return _process.get()
