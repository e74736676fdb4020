"""The metrics of commands that run beside the hub, so that `/metrics` counts what they do."""

import fcntl
import os
from pathlib import Path
from typing import IO

from prometheus_client import values

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# Commands that run at the same time. Later ones go on with the files of those that have ended.
SLOTS = 32

_held: list[IO[str]] = []


def join_metrics(data_dir: Path) -> bool:
    """Count what this process does in the metrics of the hub that runs on a data directory, if one does.

    Call it before any metric is made. Return whether it has joined.
    """
    directory = data_dir / "run" / "metrics"
    if VARIABLE in os.environ or not directory.is_dir() or not os.access(directory, os.W_OK | os.X_OK):
        return False
    name = take_name(directory)
    if name is None:
        return False
    owner = os.getpid()
    os.environ[VARIABLE] = str(directory)
    values.ValueClass = values.MultiProcessValue(lambda: name if os.getpid() == owner else f"{name}-{os.getpid()}")
    return True


def take_name(directory: Path) -> str | None:
    """Return a name that no other running command has, or None; the kernel releases it at the end of the process.

    Not the process id: a command that runs every hour would leave files without end.
    """
    for number in range(SLOTS):
        try:
            file = (directory / f"command{number}.lock").open("w")
        except OSError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        _held.append(file)
        return f"command{number}"
    return None
