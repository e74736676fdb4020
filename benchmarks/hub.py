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

START_SECONDS = 180
MANAGE = settings.BASE_DIR / "manage.py"


def run_beside_a_hub(arguments: Sequence[str], **variables: str) -> None:
    """Run a management command with a new hub at work. variables: of the environment of both.

    Raises CommandError when the hub does not start or the command fails.
    """
    with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
        environment = {**_environment(place), **variables}
        with _hub(environment, Path(place) / "hub.log"):
            done = subprocess.run([sys.executable, MANAGE, *arguments], env=environment, check=False)
    if done.returncode:
        raise CommandError("The measurement failed.")


def _environment(place: str) -> dict[str, str]:
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
def _hub(environment: Mapping[str, str], log: Path) -> Iterator[None]:
    with log.open("w") as output:
        up = subprocess.Popen([sys.executable, MANAGE, "up"], env=environment, stdout=output, stderr=output)
        try:
            _wait(up, _config(environment), log)
            yield
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
    deadline = time.monotonic() + START_SECONDS
    while ask_ready(config)[0] != 200:
        if up.poll() is not None or time.monotonic() > deadline:
            raise CommandError(f"The hub did not start:\n{log.read_text()[-2_000:]}")
        time.sleep(0.2)
