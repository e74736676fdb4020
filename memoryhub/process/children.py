"""The processes that `manage.py up` starts: grouped, marked, logged, and ended reliably.

Run as `python -m memoryhub.process.children <pid of the supervisor> <program>...` this becomes a program that ends with
the supervisor: on Linux the kernel sends SIGTERM when the supervisor dies, however it dies. Elsewhere the next
`manage.py up` ends what is left.
"""

import ctypes
import logging
import logging.handlers
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

# Every process below the supervisor inherits it: it identifies leftovers, grandchildren too, and excludes a process
# that merely got an old number.
MARK = "MEMORYHUB_CHILD_OF"
LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3
# Killed processes are gone in milliseconds, but when their zombies are collected is not up to this process.
GONE_SECONDS = 0.5
PR_SET_PDEATHSIG = 1


def tied_command(command: list[str]) -> list[str]:
    """Return the command line of a program that ends with this process."""
    return [sys.executable, "-m", "memoryhub.process.children", str(os.getpid()), *command]


class LogFile(logging.handlers.RotatingFileHandler):
    """A log that is given up line by line while the disk is full; the hub goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is that of logging)
        """Drop the line."""


class Child:
    """A program that the supervisor keeps running.

    say: called with the child's name and each line it prints.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        log: Path,
        say: Callable[[str, str], None],
    ) -> None:
        self.name = name
        self.command = command
        self.cwd = cwd
        self.environment = dict(environment)
        self.say = say
        self.started_at = 0.0
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._log = LogFile(log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id, None before the first start."""
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        """Return how it ended (a negative number is a signal), None while it runs."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start the program; only the main thread may, because the kernel ties a child to that thread."""
        self.started_at = time.monotonic()
        self._process = subprocess.Popen(
            tied_command(self.command),
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        )
        threading.Thread(target=self._forward_output, args=(self._process,), daemon=True).start()

    def is_running(self) -> bool:
        """Return whether the program itself is alive."""
        return self._process is not None and self._process.poll() is None

    def end(self, patience: float) -> None:
        """Ask the program to end, and after `patience` seconds kill it and all its group."""
        if self._process is None:
            return
        if self.is_running():
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the program and its group, and wait until it is gone."""
        if self._process is None:
            return
        deadline = time.monotonic() + GONE_SECONDS
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            while time.monotonic() < deadline:
                os.killpg(self._process.pid, 0)
                time.sleep(0.01)
        self._process.wait()

    def _forward_output(self, process: "subprocess.Popen[str]") -> None:
        for line in process.stdout or ():
            text = line.rstrip("\n")
            self._log.emit(logging.makeLogRecord({"msg": text}))
            self.say(self.name, text)


def end_leftovers(data_dir: Path, patience: float = 3.0) -> int:
    """End the processes that a killed `up` of this data directory left; return their number.

    They are asked to end, and killed after `patience` seconds.
    """
    left = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK) == str(data_dir):
                left.append(process)
    for process in left:
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(left, timeout=patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=patience)
    return len(left)


def main(argv: list[str]) -> None:
    """Tie this process to its parent and replace it with the program named in `argv`."""
    parent, program = int(argv[1]), argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("The supervisor has ended.")
    os.execv(program[0], program)  # noqa: S606  (the supervisor's own command line)


if __name__ == "__main__":
    main(sys.argv)
