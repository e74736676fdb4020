"""The processes that `manage.py up` starts: forked, grouped, marked, logged, and ended reliably.

A fork server of `multiprocessing` imports once what all of them need (`memoryhub/process/imports.py`), and each of them
begins as a copy of it: in milliseconds, and with one copy of the program in memory. It is started again when it has
ended. On Linux the kernel sends SIGTERM to the fork server when the supervisor dies, however it dies, and to the others
when the fork server does. Elsewhere the next `manage.py up` ends what is left.
"""

import ctypes
import logging
import logging.handlers
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import psutil

PROJECT = Path(__file__).resolve().parents[2]
# Every process below the supervisor inherits it: it identifies leftovers, grandchildren too, and excludes a process
# that merely got an old number.
MARK = "MEMORYHUB_CHILD_OF"
# The names of the processes for `ps`, `top` and the like: all have the command line of the fork server. 15 letters.
NAME = "hub-{}"
FORK_SERVER = NAME.format("imports")
LOG_BYTES = 10 * 1024 * 1024
LOG_FILES = 3
# Killed processes are gone in milliseconds, but when their zombies are collected is not up to this process.
GONE_SECONDS = 0.5
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
# A socket's path has 103 bytes at most on macOS, and that of the fork server 36 below its folder.
MAX_PLACE_BYTES = 66
# The exit code of a child that could not be started at all.
NOT_STARTED = 1

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["memoryhub.process.imports"])


def start_process(
    name: str, target: Callable[..., object], *arguments: object, environment: Mapping[str, str], output: object = None
) -> ForkServerProcess:
    """Start a process that runs a function of a module, and ends with this one. Only the main thread may.

    environment: of the fork server, should it have to be started. output: the end of a pipe that takes what the process
    prints, instead of the output of this one. Raises ProcessNotStartedError when the fork server ends as it imports.
    """
    process = _context.Process(target=begin, args=(name, output, target, *arguments), name=name)
    try:
        with replaced_environment(environment):
            process.start()
    except (EOFError, OSError) as error:
        raise ProcessNotStartedError(name) from error
    return process


def start_imports(environment: Mapping[str, str], place: Path) -> None:
    """Start the fork server: it imports while this process has something else to do.

    place: a folder for its socket, where what a killed run has left is removed. With too long a path it is elsewhere.
    """
    for left in place.glob("pymp-*"):
        shutil.rmtree(left, ignore_errors=True)
    with replaced_environment(environment), temporary_files_in(place):
        forkserver.ensure_running()


class ProcessNotStartedError(Exception):
    """A process could not be started, because the fork server ended; why is on its output, that of the supervisor."""


@contextmanager
def temporary_files_in(place: Path) -> Iterator[None]:
    """Make temporary files in a folder, if a socket in a folder of its own there has a path that is short enough."""
    before = tempfile.tempdir
    if len(os.fsencode(place)) <= MAX_PLACE_BYTES:
        tempfile.tempdir = str(place)
    elif len(os.fsencode(tempfile.gettempdir())) > MAX_PLACE_BYTES:
        tempfile.tempdir = "/tmp"  # noqa: S108  (a folder of its own is made there)
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def replaced_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Have another environment, which a process that is started inherits. Modules of the project can be imported."""
    before = dict(os.environ)
    path = os.pathsep.join(filter(None, [str(PROJECT), environment.get("PYTHONPATH")]))
    os.environ.clear()
    os.environ.update({**environment, "PYTHONPATH": path})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def begin(name: str, output: Connection | None, target: Callable[..., object], *arguments: object) -> None:
    """Make this forked process one of its own, and run its function; what that returns is the exit code."""
    os.setpgid(0, 0)
    name_process(NAME.format(name))
    tie_to_parent()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if output is not None:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
        output.close()
    os.chdir(PROJECT)
    sys.exit(target(*arguments))  # type: ignore[arg-type]


def name_process(name: str) -> None:
    """Show a name of this process in lists of processes, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def tie_to_parent() -> None:
    """Have this process end with its parent, on Linux."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("The process that started this one has ended.")


class LogFile(logging.handlers.RotatingFileHandler):
    """A log that is given up line by line while the disk is full; the hub goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is that of logging)
        """Drop the line."""


class Child:
    """A process that the supervisor keeps running.

    target: the function of a module that it runs. say: called with the child's name and each line it prints.
    """

    def __init__(
        self,
        name: str,
        target: Callable[..., object],
        *arguments: object,
        environment: Mapping[str, str],
        log: Path,
        say: Callable[[str, str], None],
    ) -> None:
        self.name = name
        self.target = target
        self.arguments = arguments
        self.environment = dict(environment)
        self.say = say
        self.started_at = 0.0
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._log = LogFile(log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
        self._process: ForkServerProcess | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id, None before the first start."""
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        """Return how it ended (a negative number is a signal), None while it runs."""
        if self._process is None:
            return NOT_STARTED if self.started_at else None
        return self._process.exitcode

    def start(self) -> None:
        """Start the process; only the main thread may, because the kernel ties a child to that thread."""
        self.started_at = time.monotonic()
        reading, writing = _context.Pipe(duplex=False)
        self._process = None
        with writing:
            try:
                self._process = start_process(
                    self.name, self.target, *self.arguments, environment=self.environment, output=writing
                )
            except ProcessNotStartedError:
                reading.close()
                return
        threading.Thread(target=self._forward_output, args=(reading,), daemon=True).start()

    def is_running(self) -> bool:
        """Return whether the process itself is alive."""
        return self._process is not None and self._process.is_alive()

    def end(self, patience: float) -> None:
        """Ask the process to end, and after `patience` seconds kill it and all its group."""
        if self._process is None:
            return
        if self.is_running():
            self._process.terminate()
            self._process.join(patience)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the process and its group, and wait until it is gone."""
        if self._process is None or self._process.pid is None:
            return
        deadline = time.monotonic() + GONE_SECONDS
        self._process.kill()  # which has no group yet at its very beginning
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
            while time.monotonic() < deadline:
                os.killpg(self._process.pid, 0)
                time.sleep(0.01)
        self._process.join()

    def _forward_output(self, reading: Connection) -> None:
        with reading, os.fdopen(os.dup(reading.fileno()), errors="replace") as lines:
            for line in lines:
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
