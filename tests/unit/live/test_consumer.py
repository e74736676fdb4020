"""One socket and the order of what it sends, without a server."""

import asyncio

from apps.live.consumer import LiveSocket
from apps.live.process import LiveProcess
from apps.live.viewer import Viewer


async def sent_when_topic_comes_before_the_handshake() -> list[str]:
    """Put a topic into a socket that its server has not asked to accept yet; return the types of what it sends."""
    messages: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: list[str] = []

    async def send(message: dict[str, str]) -> None:
        await asyncio.sleep(0)
        sent.append(message["type"])

    socket = LiveSocket(LiveProcess(), Viewer("session", "rita", hears=True), None)
    served = asyncio.create_task(socket({"type": "websocket"}, messages.get, send))
    await asyncio.sleep(0)
    socket.put({"memories": 1})
    for _ in range(5):
        await asyncio.sleep(0)
    messages.put_nowait({"type": "websocket.connect"})
    while len(sent) < 2:
        await asyncio.sleep(0)
    messages.put_nowait({"type": "websocket.disconnect"})
    await served
    return sent


def test_topic_that_comes_before_the_handshake_is_sent_after_it() -> None:
    sent = asyncio.run(asyncio.wait_for(sent_when_topic_comes_before_the_handshake(), 10))
    assert sent == ["websocket.accept", "websocket.send"]
