"""A whole hub as people start it, for tests that kill parts of it."""

import fcntl
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from memoryhub.postgres.server import EmbeddedDatabase
from memoryhub.process.children import FORK_SERVER, NAME

PROJECT = Path(__file__).resolve().parents[2]
# Only a test that fails waits so long; a start takes about six seconds on two quiet cores.
PATIENCE = 180.0
# What others copy.
MAKE = """
import pathlib, django
django.setup()
from django.conf import settings
from django.core.management import call_command
from memoryhub.process.prepare import collect_static
call_command("migrate", verbosity=0)
collect_static(pathlib.Path(settings.STATIC_ROOT))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Ask until the answer is true, and return it."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if answer := condition():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for: {what}")


def unlike() -> str:
    """Return a text that no other one conflicts with: what is alike is compared, which would be most of the work."""
    return " ".join(uuid4().hex[:9] for _ in range(4))


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def become(*program: str) -> None:
    """Replace this process with a program: what a child of the supervisor runs in tests."""
    os.execv(program[0], program)


@cache
def migrated_hub() -> Path:
    """Return a data directory with static files and a stopped database without rows; one for all processes."""
    run = Path(os.environ["MEMORYHUB_DATA_DIR"])  # of the tests (conftest.py), and removed with it
    hub, made = Hub(run / "migrated"), run / "migrated.made"
    with (run / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            run.chmod(0o711)  # the user of the database may differ
            database = EmbeddedDatabase(hub.data_dir, durable=False)
            database.start()
            try:
                done = subprocess.run(
                    [sys.executable, "-c", MAKE],
                    cwd=PROJECT,
                    env=hub.environment | {"DJANGO_SETTINGS_MODULE": "memoryhub.settings"},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
            finally:
                database.stop()
            # What a killed process has written is kept by the system; only a lost machine needs the disk.
            with (hub.data_dir / "postgres" / "postgresql.auto.conf").open("a") as settings:
                settings.write("fsync = off\n")
            made.touch()
    return hub.data_dir


class Hub:
    """`manage.py up` on a data directory and port of its own."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.output = data_dir.with_suffix(".output")
        self.database = EmbeddedDatabase(data_dir)
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("MEMORYHUB_", "DATABASE_URL"))},
            "MEMORYHUB_DATA_DIR": str(data_dir),
            "MEMORYHUB_PORT": str(self.port),
            "MEMORYHUB_EMBEDDER": "hashing",
            "MEMORYHUB_WEB_PROCESSES": "1",
            **environment,
        }
        self.process: subprocess.Popen | None = None
        self.key = ""

    def make_cluster(self) -> None:
        """Make the tables and static files, which are what takes long in a first start, as copies of others."""
        self.make_static()
        subprocess.run(["cp", "-a", migrated_hub() / "postgres", self.data_dir / "postgres"], check=True)

    def make_static(self) -> None:
        """Make the static files as copies of others: for a hub whose database is elsewhere."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", migrated_hub() / "static", self.data_dir / "static"], check=True)

    def start(self, **environment: str) -> None:
        """Start it and wait until it says that it is ready."""
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=PROJECT,
                env=self.environment | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_for(lambda: "is ready" in self.said() or self.process.poll() is not None, "a start")
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        return self.output.read_text()

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """Run another management command on the same data directory."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def shell(self, code: str, **environment: str) -> str:
        """Run code on the data of a hub that is up, as `manage.py shell` does but for its start; return what it prints.

        For what a test needs beside the hub. What is to be proved of a command is proved with `command`.
        """
        from tests.system.shell_process import run_code

        return run_code(code, self.environment | environment).strip()

    def is_up(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def get(self, path: str, key: str | None = None) -> int | None:
        """The status of a GET, None when nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def part(self, name: str) -> psutil.Process:
        """The process of a part of the hub, "web" or "worker", which its own children are named after."""
        return wait_for(lambda: self._find(NAME.format(name)), f"the process of {name}")

    def _find(self, name: str) -> psutil.Process | None:
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if child.name() == name and psutil.Process(child.ppid()).name() == FORK_SERVER:
                    return child
            except psutil.Error:
                continue
        return None

    def processes(self) -> list[psutil.Process]:
        """Everything that runs: the supervisor, all below it, and the database."""
        top = psutil.Process(self.process.pid)
        found = [top, *top.children(recursive=True)]
        return [*found, psutil.Process(self.database.pid)] if self.database.pid else found

    def end(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self.is_up():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.database.stop()
