"""Numbers of the machine: processes, memory, disk, and how many problems there are."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
from django.conf import settings

from apps.core.health import disk_space
from apps.core.processes import live_processes, live_workers, web_processes
from apps.monitor.domain.problems import ProblemSeverity
from apps.monitor.domain.series import Number, SampleContext
from apps.monitor.services import current_problems

# The size of the data directory is measured again after twenty times as long as measuring took.
REST = 20.0


def indexes(_context: SampleContext) -> dict[str, Number]:
    """Return the highest figures of the vector indexes of all web processes; each has indexes of its own."""
    facts = [state.facts["index"] for state in web_processes() if "index" in state.facts]
    if not facts:
        return {}
    return {
        "index_backlog": max(float(each.get("backlog", 0)) for each in facts),
        "index_bytes": max(float(each.get("bytes", 0)) for each in facts),
    }


def processes(_context: SampleContext) -> dict[str, Number]:
    """Return how many processes are alive, and the memory in bytes of those on this machine."""
    here = [state.pid for state in live_processes() if state.host == socket.gethostname()]
    return {
        "web_processes": len(web_processes()),
        "workers": len(live_workers()),
        "memory_bytes": memory_of(here) or None,
    }


def memory_of(pids: list[int]) -> float:
    """Return the bytes of memory of processes and their children. What they share is counted once (Linux)."""
    family: dict[int, psutil.Process] = {}
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            family |= {one.pid: one for one in (process, *process.children(recursive=True))}
    total = 0.0
    for process in family.values():
        with suppress(psutil.Error):
            memory = process.memory_full_info()
            total += getattr(memory, "pss", 0) or memory.rss
    return total


class DirectorySize:
    """The size of a directory, measured so seldom that it costs a twentieth of the time of one thread at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._size: float | None = None
        self._path: Path | None = None
        self._next = 0.0

    def measure(self, path: Path) -> float:
        """Return the bytes of all files below a path, as of the last measurement."""
        with self._lock:
            began = time.monotonic()
            if self._size is None or self._path != path or began >= self._next:
                self._size, self._path = float(sum(file_sizes(path))), path
                ended = time.monotonic()
                self._next = ended + REST * (ended - began)
            return self._size


def file_sizes(path: Path) -> Iterator[int]:
    """Yield the bytes on the disk of each file below a path; a file that vanishes is left out."""
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118  (half the time of Path)


_data_directory = DirectorySize()


def disk(_context: SampleContext) -> dict[str, Number]:
    """Return the free bytes on the disk of the data directory, and the bytes in it."""
    return {
        "disk_free": disk_space().free,
        "data_bytes": _data_directory.measure(settings.MEMORYHUB.data_dir),
    }


def problems(_context: SampleContext) -> dict[str, Number]:
    """Return how many problems there are, and how many of them are critical."""
    found = [problem.severity for problem in current_problems()]
    return {"problems_open": len(found), "problems_critical": found.count(ProblemSeverity.CRITICAL)}
