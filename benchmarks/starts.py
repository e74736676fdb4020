"""Starts of a hub on a busy machine: how long they take, and whether a process was lost."""

import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.hub import busy_processes, hub_environment, running_hub

MAX_TIMES = 50
MAX_BURNERS = 64
# How the supervisor and the parent of the web processes say that one has ended.
LOST = re.compile(r"was ended by|is killed with|ended with exit code|restarting it")


def measure_starts(times: int, burners: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Start and stop a hub of its own so many times, the first time on an empty directory.

    burners: processes that only take processor time beside it. Raises CommandError when a start fails.
    """
    starts: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
        environment = hub_environment(place)
        logs = [Path(place) / "hub.log", *(Path(place) / "data" / "logs" / f"{name}.log" for name in ("web", "worker"))]
        for number in range(times):
            for log in logs:
                log.unlink(missing_ok=True)
            with busy_processes(burners):
                began = time.monotonic()
                with running_hub(environment, logs[0]):
                    seconds, load = time.monotonic() - began, os.getloadavg()[0]
                    lost = [line for log in logs if log.exists() for line in log.read_text().splitlines()]
            starts.append(
                {
                    "seconds": round(seconds, 1),
                    "load": round(load, 1),
                    "lost": [line.strip() for line in lost if LOST.search(line)],
                }
            )
            say(f"start {number + 1} of {times}: {starts[-1]}")
    return {"burners": burners, "lost": sum(len(start["lost"]) for start in starts), "starts": starts}
