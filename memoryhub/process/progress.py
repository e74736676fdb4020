"""Whether processes make progress, by what they do and not by the clock: on a busy machine everything takes long."""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress

import psutil

# A process that hangs takes hardly anything: some ten-thousandths of a processor, for threads that look at things now
# and then. One that shares a processor with 400 others still gets more than this part of it.
LEAST_SHARE = 0.002
# What was read from the disk or written to it counts as the processor time in which a slow disk does that.
DISK_BYTES_PER_SECOND = 50_000_000
# Time between two looks counts at most so long: who was asleep or got no processor itself knows nothing of the others.
LOOK_SECONDS = 10.0


class Progress:
    """How much some processes have done since the last sign of life, and for how long next to nothing.

    patience: the seconds for which they may do nothing; it says how little counts as nothing. spent: seconds of
    processor time since the last sign. idle: seconds in which they did nothing.
    """

    def __init__(self, patience: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.spent, self.idle = 0.0, 0.0
        self._least = patience * LEAST_SHARE
        self._clock = clock
        self._looked_at = clock()
        self._moved = 0.0
        self._seen: Mapping[Hashable, float] | None = None

    def look(self, work: Mapping[Hashable, float]) -> None:
        """Note what each process has done since it began, in seconds of processor time."""
        now, seen = self._clock(), self._seen
        waited = min(LOOK_SECONDS, now - self._looked_at)
        self._seen, self._looked_at = work, now
        if seen is None:  # The first look only says where it begins.
            return
        done = sum(max(0.0, seconds - seen.get(process, 0.0)) for process, seconds in work.items())
        self.idle += waited
        self.spent += done
        self._moved += done
        if self._moved >= self._least:
            self._moved, self.idle = 0.0, 0.0

    def hear(self) -> None:
        """Note a sign of life: everything begins again, and what was done before the next look counts for nothing."""
        self.spent, self.idle, self._moved, self._seen = 0.0, 0.0, 0.0, None


def list_tree(pid: int | None) -> list[psutil.Process]:
    """List a process and all that it has started, itself first; nothing when it has ended."""
    with suppress(psutil.Error):
        if pid is not None:
            top = psutil.Process(pid)
            return [top, *top.children(recursive=True)]
    return []


def measure_work(processes: Iterable[psutil.Process]) -> dict[Hashable, float]:
    """Return what each process has done since it began, in seconds of processor time; those that ended are missing."""
    work: dict[Hashable, float] = {}
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            work[process] = times.user + times.system + disk_bytes(process) / DISK_BYTES_PER_SECOND
    return work


def disk_bytes(process: psutil.Process) -> int:
    """Return how much a process has read from disks and written to them; 0 where the system does not tell."""
    try:
        counters = process.io_counters()
    except (psutil.Error, AttributeError, OSError):
        return 0
    return int(counters.read_bytes + counters.write_bytes)
