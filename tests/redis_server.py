"""A Redis server of the distribution, for tests of several processes and hosts."""

import shutil
import subprocess

import pytest

from tests.system.hub import free_port

REDIS = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(REDIS is None, reason="no redis-server in PATH (Debian: apt-get install redis-server)")


class Redis:
    """A server that keeps nothing."""

    def __init__(self) -> None:
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = [str(REDIS), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
