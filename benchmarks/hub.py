"""A hub for benchmarks: in a temporary directory, on a free port, started as people start it, and removed."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from memoryhub.config.hub import Config, read_config
from memoryhub.web.command import ask_ready

# A busy process ends by itself when whoever started it is gone.
BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"
MANAGE = settings.BASE_DIR / "manage.py"


def run_beside_a_hub(arguments: Sequence[str], **variables: str) -> None:
    """Run a management command with a new hub at work. variables: of the environment of both.

    Raises CommandError when the hub does not start or the command fails.
    """
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
        environment = {**hub_environment(place), **variables}
        with running_hub(environment, Path(place) / "hub.log"):
            done = subprocess.run([sys.executable, MANAGE, *arguments], env=environment, check=False)
    if done.returncode:
        raise CommandError("The measurement failed.")


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep so many processes busy that do nothing but take processor time."""
    burning = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()


def hub_environment(place: str) -> dict[str, str]:
    """Return the environment of a hub in a directory: on a free port, and with a key for everything."""
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    own = {
        "MEMORYHUB_DATA_DIR": str(Path(place) / "data"),
        "MEMORYHUB_HOST": "127.0.0.1",
        "MEMORYHUB_PORT": str(port),
        "MEMORYHUB_API_KEY": secrets.token_urlsafe(32),
    }
    return {**kept, **own}


@contextmanager
def running_hub(environment: Mapping[str, str], log: Path) -> Iterator[int]:
    """Run a hub while the block runs; yield the id of its first process. Raises CommandError."""
    with log.open("w") as output:
        up = subprocess.Popen(
            [sys.executable, MANAGE, "up"], env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            _wait(up, _config(environment), log)
            yield up.pid
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait()


def _config(environment: Mapping[str, str]) -> Config:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return read_config()
    finally:
        os.environ.clear()
        os.environ.update(before)


def _wait(up: "subprocess.Popen[bytes]", config: Config, log: Path) -> None:
    # Without a limit: `up` ends when the start makes no progress.
    while ask_ready(config, timeout=30)[0] != 200:
        if up.poll() is not None:
            raise CommandError(f"The hub did not start:\n{log.read_text()[-2_000:]}")
        time.sleep(0.2)
