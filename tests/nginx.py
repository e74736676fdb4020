"""A real nginx with the settings of `deploy/`, before hosts of a test."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system.hub import PROJECT, Hub, free_port, wait_for

# Debian puts it beside the programs of administrators.
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="no nginx (Debian: apt-get install nginx-light)")
SETTINGS = PROJECT / "deploy" / "nginx.conf"
# Which host has answered.
ANSWERED_BY = "X-Answered-By"
# What a container has by itself.
PLACES = "pid {place}/pid; error_log {place}/error.log; daemon off; worker_processes 1;"


class Proxy:
    """Where it listens: what tests call instead of a host."""

    def __init__(self) -> None:
        self.port = free_port()


@contextmanager
def proxy_before(hosts: Sequence[Hub], place: Path) -> Iterator[Proxy]:
    """Run nginx as delivered, but for the addresses of the hosts and its own."""
    proxy, text = Proxy(), SETTINGS.read_text()
    for number, host in enumerate(hosts, 1):
        text = replace_once(text, f"server hub{number}:8000", f"server 127.0.0.1:{host.port}")
    said = f"add_header {ANSWERED_BY} $upstream_addr always;"
    text = replace_once(text, "listen 8000;", f"listen 127.0.0.1:{proxy.port}; {said}")
    settings = place / "nginx.conf"
    settings.write_text(PLACES.format(place=place) + text)
    command = [str(NGINX), "-p", str(place), "-c", str(settings), "-e", str(place / "error.log")]
    with subprocess.Popen(command, env={"PATH": os.environ["PATH"]}) as process:
        try:
            wait_for(lambda: (place / "pid").exists() or process.poll() is not None, "nginx")
            assert process.poll() is None, (place / "error.log").read_text()
            yield proxy
        finally:
            process.send_signal(signal.SIGQUIT)


def replace_once(text: str, old: str, new: str) -> str:
    """Return a text in which something that it has exactly once is replaced."""
    assert text.count(old) == 1, old
    return text.replace(old, new)
