"""Start a hub of its own in a temporary directory, measure it, and remove it."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memoryhub.config import Config, read_config
from memoryhub.management.commands.measure import add_options
from memoryhub.web import ask_ready

START_SECONDS = 180
TIMELINE_EVENTS = 1_000_000
MANAGE = settings.BASE_DIR / "manage.py"


class Command(BaseCommand):
    help = "The benchmark (docs/benchmark.md): a hub of its own, started, measured and removed. Needs a quiet machine."

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(parser, timeline_events=TIMELINE_EVENTS)

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            name: options[name]
            for name in ("texts", "scope_size", "compared_size", "calls", "timeline_events", "output")
            if options[name] is not None
        }
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        with tempfile.TemporaryDirectory(prefix="memoryhub-bench-") as place:
            environment = _environment(place)
            self.stderr.write("Starting a hub")
            with _hub(environment, Path(place) / "hub.log"):
                done = subprocess.run([sys.executable, MANAGE, "measure", *arguments], env=environment, check=False)
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
        "MEMORYHUB_TIMELINE_ARCHIVE_AFTER_HOURS": "0",
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
