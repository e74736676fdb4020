"""Applications for web processes of tests: one that serves, one whose import never lets another thread run."""

import os
import time
from collections.abc import Mapping
from typing import Any

if os.environ.get("IMPORT_OF_TEST") == "never":
    sum(range(10**12))  # one call, which keeps Python's lock
if os.environ.get("IMPORT_OF_TEST") == "slow":
    began = time.process_time()
    sum(range(10**6))
    sum(range(int(0.6 / (time.process_time() - began) * 10**6)))  # some 0.6 s of the processor, as one call
if os.environ.get("IMPORT_OF_TEST") == "fails":
    raise RuntimeError("a fault of its own")


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Follow the lifespan of the server; nothing asks for more."""
    assert scope["type"] == "lifespan"
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
