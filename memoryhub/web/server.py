"""The web server: processes that answer requests, and a parent that replaces those that end or fall silent.

Each process sends its parent a sign of life every second. It cannot before it
has imported what it needs, nor while a single call keeps Python's lock, and on a busy machine it may be late for
minutes. So the parent's patience does not count the seconds of the clock, but those of the processor that the process
used in silence, or those in which it used none: until then the other processes accept what is new. A process that is
silent for longer is stuck, with all its requests; the parent has it print where its threads are, and kills it.
"""

import faulthandler
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from socket import socket
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import SYSTEM_RNG
from apps.llm.services import models_preload
from memoryhub.config.hub import Config
from memoryhub.process.progress import Progress, list_tree, measure_work
from memoryhub.web.command import WEB_STOP_SECONDS
from memoryhub.web.protocol import HubProtocol

APPLICATION = "memoryhub.asgi:application"
# Of it, what the processes can have in common.
SHARED = "memoryhub.web.application"
KIB = 1024
BEAT_SECONDS = 1.0
TICK_SECONDS = 0.25
# What is not heard for longer is silent, and its work is looked at.
SILENT_SECONDS = 2.0
# Signals by which something outside ends a process, such as a system that wants memory. Others are its own faults.
OUTSIDE = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM}
# Between the starts of a process that is ended from outside before it can serve.
RESTART = Backoff(base_ms=250, multiplier=2, max_ms=5_000)
# How long a process that is about to be killed may take to print its stacks.
STACKS_SECONDS = 0.5
# Longer than proxies keep an idle connection, so that none sends a request into one that is being closed.
KEEP_ALIVE_SECONDS = 75

logger = logging.getLogger("memoryhub.web")
# A copy of the parent, which has imported everything, has opened the models, and has no thread that does anything.
_context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def server_config(config: Config, application: Any = APPLICATION) -> uvicorn.Config:
    """Return how uvicorn serves an application, or what its dotted path names."""
    return uvicorn.Config(
        application,
        host=config.host,
        port=config.port,
        http=HubProtocol,
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        # Only behind a proxy that the operator named: anybody on this machine can send X-Forwarded headers.
        proxy_headers=config.https,
        # Browsers send nothing through a socket, and what they are sent is too short to be compressed.
        ws_max_size=KIB,
        ws_per_message_deflate=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(WEB_STOP_SECONDS) - 1,
    )


def run_process(config: Config, listener: socket, beats: Connection, application: str) -> None:
    """Serve in this process, and send signs of life."""
    # Until the server has its own, signals do here what they do anywhere, not what they do in the parent.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    server = uvicorn.Server(server_config(config, application))
    arguments = (server, beats, os.getppid())
    threading.Thread(target=send_beats, args=arguments, name="signs of life", daemon=True).start()
    server.run(sockets=[listener])


def send_beats(server: uvicorn.Server, beats: Connection, parent: int) -> None:
    """Tell the parent each second whether this process serves; end the process when the parent is gone."""
    with suppress(OSError):
        while os.getppid() == parent:
            beats.send(server.started)
            time.sleep(BEAT_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


class WebProcess:
    """A process that serves. has_served: it was ready to answer at some time."""

    def __init__(self, config: Config, listener: socket, application: str) -> None:
        self.has_served = False
        self._patience = config.web_patience_seconds
        self._progress = Progress(self._patience)
        self._heard_at = time.monotonic()
        self._beats, sent = _context.Pipe(duplex=False)
        arguments = (config, listener, sent, application)
        self.process = _context.Process(target=run_process, args=arguments, name="memoryhub-web")
        self.process.start()
        sent.close()

    def silent_seconds(self) -> float:
        """Return for how long there was no sign of life."""
        with suppress(OSError, EOFError):
            while self._beats.poll():
                self.has_served = bool(self._beats.recv()) or self.has_served
                self._heard_at = time.monotonic()
                self._progress.hear()
        return time.monotonic() - self._heard_at

    def find_stuck(self) -> str | None:
        """Return what shows that the process is stuck; None when it is not, or only gets little of the processors."""
        silent = self.silent_seconds()
        if silent <= SILENT_SECONDS:
            return None
        self._progress.look(measure_work(list_tree(self.process.pid)[:1]))
        said = f"there was no sign of life for {silent:.0f} s"
        if self._progress.spent > self._patience:
            return f"{said}, in which it was busy for {self._progress.spent:.0f} s"
        if self._progress.idle > self._patience:
            return f"{said}, and for {self._progress.idle:.0f} s it did nothing"
        return None

    def kill(self) -> None:
        """Have the process print the stacks of its threads, and kill it."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid or 0, signal.SIGUSR1)
        self.process.join(STACKS_SECONDS)
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        """Release the pipe."""
        self._beats.close()


class WebServer:
    """The parent of the web processes. application: the dotted path of what they serve."""

    def __init__(self, config: Config, application: str = APPLICATION) -> None:
        self.config = config
        self.application = application
        self.listener = server_config(config, application).bind_socket()
        self.stopping = threading.Event()
        self.exit_code = 0
        self.processes: list[WebProcess] = []
        self._killed_early = 0

    def run(self) -> int:
        """Serve until a signal arrives; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        self.processes = [self.start_process() for _ in range(self.config.web_processes)]
        while not self.stopping.wait(TICK_SECONDS):
            self.processes = [self.watch(process) for process in self.processes]
        for process in self.processes:
            process.process.terminate()
        for process in self.processes:
            process.process.join()
        return self.exit_code

    def start_process(self) -> WebProcess:
        """Start another process."""
        return WebProcess(self.config, self.listener, self.application)

    def watch(self, process: WebProcess) -> WebProcess:
        """Return the process, or the one that replaces it."""
        if self.stopping.is_set():
            return process
        stuck, pid, code = process.find_stuck(), process.process.pid, process.process.exitcode
        if code is None and stuck is None:
            if process.has_served:
                self._killed_early = 0
            return process
        if code is None:
            logger.error(
                "web process %s is killed with the requests that it was answering: %s "
                "(MEMORYHUB_WEB_PATIENCE_SECONDS); where its threads were is printed above",
                pid,
                stuck,
            )
            process.kill()
        elif process.has_served:
            logger.error("web process %s %s; another one is started", pid, describe_end(code))
        elif -code in OUTSIDE:
            wait = RESTART.delay_ms(self._killed_early, SYSTEM_RNG) / 1000
            self._killed_early += 1
            how = describe_end(code)
            logger.error("web process %s %s before it could serve; another one is started in %.1f s", pid, how, wait)
            self.stopping.wait(wait)
        else:
            logger.error("web process %s %s before it could serve", pid, describe_end(code))
            self.exit_code = code if code > 0 else STARTUP_FAILURE
            self.stopping.set()
            return process
        process.close()
        return process if self.stopping.is_set() else self.start_process()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping.set()


def describe_end(code: int) -> str:
    """Return in words how a process ended. code: negative for a signal."""
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def serve(config: Config) -> int:
    """Serve until a signal arrives; return the exit code."""
    if config.web_processes > 1:
        if _context.get_start_method() == "fork":
            importlib.import_module(SHARED)
            models_preload()
        return WebServer(config).run()
    server = uvicorn.Server(server_config(config))
    server.run()
    return 0 if server.started else STARTUP_FAILURE
