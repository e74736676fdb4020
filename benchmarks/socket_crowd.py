"""Browsers that listen at a hub, for `bench_live`.

A program of its own (`python -m benchmarks.socket_crowd`): in the process that measures, its work would be measured
too. Its standard input has a line of JSON with the address of the hub, sessions and a number of sockets. It says "open"
when all of them are, and when a further line comes, how many frames they have received; then it ends.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

frames = 0


async def listen(socket: ClientConnection) -> None:
    """Count the frames of a socket until it is closed."""
    global frames
    async for _ in socket:
        frames += 1


async def crowd(order: dict[str, Any]) -> None:
    """Open the sockets of an order, and hold them until there is another line."""
    address = order["url"].replace("http", "ws", 1) + "/live"
    async with AsyncExitStack() as stack:
        tasks = []
        for number in range(order["count"]):
            session = order["sessions"][number % len(order["sessions"])]
            headers = {"Origin": order["url"], "Cookie": f"sessionid={session}"}
            opened = await stack.enter_async_context(connect(address, additional_headers=headers, compression=None))
            tasks.append(asyncio.create_task(listen(opened)))
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(frames, flush=True)


if __name__ == "__main__":
    asyncio.run(crowd(json.loads(sys.stdin.readline())))
