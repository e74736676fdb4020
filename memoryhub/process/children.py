"""The processes that `manage.py up` starts: grouped, marked, logged, and ended for certain."""

import logging
import logging.handlers
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

# Every process below the supervisor inherits it, so leftovers are known by it, grandchildren too, and a
# process that merely got an old number is not.
MARK = "MEMORYHUB_CHILD_OF"
LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3
# Killed processes are gone in milliseconds, but it is not ours to say when their zombies are collected.
GONE_SECONDS = 0.5

Say = Callable[[str, str], None]


class Child:
    """A program that the supervisor keeps running.

    say: called with the child's name and each line it prints.
    """

    def __init__(
        self, name: str, command: list[str], *, cwd: Path, environment: Mapping[str, str], log: Path, say: Say
    ) -> None:
        self.name = name
        self.command = command
        self.cwd = cwd
        self.environment = dict(environment)
        self.say = say
        self.started_at = 0.0
        self._log = _log_file(log)
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, None before the first start."""
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        """How it ended (a negative number is a signal), None while it runs."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start the program; only the main thread may, because the kernel ties a child to that thread."""
        self.started_at = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memoryhub.process.child", str(os.getpid()), *self.command],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        )
        threading.Thread(target=self._pass_on, args=(self._process,), daemon=True).start()

    def is_running(self) -> bool:
        """True while the program itself lives."""
        return self._process is not None and self._process.poll() is None

    def end(self, patience: float) -> None:
        """Ask the program to end, and after `patience` seconds end it and all its group."""
        if self._process is None:
            return
        if self.is_running():
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self.kill()

    def kill(self) -> None:
        """End at once what is left of the program and its group, and wait until it is gone."""
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

    def _pass_on(self, process: "subprocess.Popen[str]") -> None:
        for line in process.stdout or ():
            text = line.rstrip("\n")
            self._log.emit(logging.makeLogRecord({"msg": text}))
            self.say(self.name, text)


def end_leftovers(data_dir: Path, patience: float = 3.0) -> int:
    """End the processes that a killed `up` of this data directory left; returns how many there were."""
    left = [process for process in psutil.process_iter() if _is_marked(process, data_dir)]
    end_all(left, patience)
    return len(left)


def end_all(processes: Iterable[psutil.Process], patience: float) -> None:
    """Ask the processes to end, and after `patience` seconds end them."""
    for process in (processes := list(processes)):
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=patience)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=patience)


def _is_marked(process: psutil.Process, data_dir: Path) -> bool:
    if process.pid == os.getpid():
        return False
    try:
        return process.environ().get(MARK) == str(data_dir)
    except (psutil.Error, OSError):
        return False


def _log_file(path: Path) -> logging.Handler:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler
