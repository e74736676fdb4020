"""A web server with sockets in this process, and what a browser does with it."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from apps.live import consumer, listener, process
from apps.live.metrics import REFUSALS
from apps.live.process import LiveProcess, live_process
from apps.live.services import begin_live, end_live, live_application
from memoryhub.web.gateway import Gateway
from tests.integration.memoryhub.web import WebServer, serving

# Only a test that fails waits so long.
PATIENCE = 20.0
Frame = dict[str, Any]


@contextmanager
def live_server() -> Iterator[WebServer]:
    """Serve sockets, with beats and looks that come quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "CHECK_EVERY", 0.1)
        patch.setattr(consumer, "BEAT_SECONDS", 0.3)
        patch.setattr(listener, "LOOK_SECONDS", 0.2)
        live = {"websocket": live_application, "on_startup": begin_live}
        with serving(lambda handler: Gateway(handler, end_live, **live)) as server:
            wait_until(lambda: live_process().is_open)
            wait_until(lambda: len(live_process().versions) > 10)  # the first announcement of all topics is over
            yield server


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def sign_in(user: User) -> str:
    """The cookie of a new session."""
    client = Client()
    client.force_login(user)
    return f"sessionid={client.cookies['sessionid'].value}"


class Browser:
    """Pages that one account has open."""

    def __init__(self, server: WebServer, cookie: str | None = None) -> None:
        self.server, self.cookie = server, cookie

    @contextmanager
    def socket(self, path: str = "/live", **headers: str) -> Iterator[ClientConnection]:
        """Open a socket from a page of the hub. Raises InvalidStatus when it is refused."""
        sent = {"Origin": f"http://localhost:{self.server.port}", **headers}
        if self.cookie:
            sent["Cookie"] = self.cookie
        opened = connect(
            f"ws://localhost:{self.server.port}{path}", additional_headers={k: v for k, v in sent.items() if v}
        )
        with opened:
            yield opened

    def refusal(self, path: str = "/live", **headers: str) -> str:
        """The reason that a socket is refused for."""
        before = counted_refusals()
        with pytest.raises(InvalidStatus) as raised, self.socket(path, **headers):
            pass
        assert raised.value.response.status_code == 403
        [reason] = [reason for reason, count in counted_refusals().items() if count != before.get(reason)]
        return reason


def counted_refusals() -> dict[str, float]:
    """How many sockets were refused, by reason."""
    [metric] = REFUSALS.collect()
    return {one.labels["reason"]: one.value for one in metric.samples if one.name.endswith("_total")}


def frames(socket: ClientConnection, seconds: float) -> list[Frame]:
    """All that comes within a time."""
    found, deadline = [], time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            found.append(json.loads(socket.recv(left)))
        except TimeoutError:
            break
    return found


def wait_for_topic(socket: ClientConnection, topic: str) -> Frame:
    """The next frame with a topic."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        frame: Frame = json.loads(socket.recv(PATIENCE))
        if frame["topic"] == topic:
            return frame
    raise AssertionError(f"no frame says {topic}")


def next_topic(socket: ClientConnection, seconds: float = PATIENCE) -> str:
    """The topic of the next frame. Raises TimeoutError where none comes in time."""
    topic: str = json.loads(socket.recv(seconds))["topic"]
    return topic


def topics_until(socket: ClientConnection, topic: str, count: int = 1) -> list[str]:
    """The topics of all frames before the n-th with a topic, however long they take."""
    found: list[str] = []
    while found.count(topic) < count:
        found.append(next_topic(socket))
    return found[:-1]


def code_of_close(socket: ClientConnection) -> int:
    """The code that the hub closes a socket with."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            socket.recv(PATIENCE)
    assert socket.close_code is not None
    return socket.close_code


def in_its_loop(work: Callable[[LiveProcess], None]) -> None:
    """Do something where the sockets are."""
    live = live_process()
    live._loop.call_soon_threadsafe(work, live)
