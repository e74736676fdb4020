"""A bucket for tests: a real server of S3's protocol in this process, and a wire to it that can be cut."""

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.core.object_storage.bucket import BucketFolder, client, forget_client
from apps.episodic.store.files import forget_parts

NO_SERVER = "no boto3 and no moto, which `uv sync --all-extras --all-groups` installs"


class Wire:
    """A port of this machine whose connections go on to another one, until they are cut or held."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._goes_on = threading.Event()
        self._goes_on.set()
        self._is_cut = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections, and each new one at once."""
        self._is_cut = True
        for each in self._open:
            each.close()
        self._open.clear()

    def hold(self) -> None:
        """Let nothing through, without a word."""
        self._goes_on.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self._is_cut = False
        self._goes_on.set()

    def close(self) -> None:
        """Listen no more."""
        self.mend()
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._is_cut:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self._to))
            self._open += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                self._goes_on.wait()
                target.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, target):
                each.close()


@contextmanager
def running_store() -> Iterator[int]:
    """Run a server of S3's protocol in this process; yield its port. Skips the test where there is none."""
    server = pytest.importorskip("moto.server", reason=NO_SERVER).ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture(scope="session")
def store_port() -> Iterator[int]:
    """The port of a server of S3's protocol."""
    with running_store() as port:
        yield port


@pytest.fixture
def wire(store_port: int) -> Iterator[Wire]:
    """The way to that server."""
    wire = Wire(store_port)
    yield wire
    wire.close()


def use_store(patch: pytest.MonkeyPatch, port: int) -> None:
    """Have this process, and those that it starts, ask the server at a port. Skips the test without boto3."""
    pytest.importorskip("boto3", reason=NO_SERVER)
    patch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{port}")
    patch.setenv("AWS_ACCESS_KEY_ID", "testing")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    forget_client()


def new_bucket(patch: pytest.MonkeyPatch, port: int) -> str:
    """Use the server at a port, and make a bucket there; return its name."""
    use_store(patch, port)
    name = f"hub-{secrets.token_hex(6)}"
    client().create_bucket(Bucket=name)
    return name


@pytest.fixture
def bucket(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Iterator[BucketFolder]:
    """An empty folder of a new bucket."""
    yield BucketFolder(new_bucket(monkeypatch, wire.port), "files/")
    forget_client()


@pytest.fixture
def bucketed_timeline(bucket: BucketFolder, tmp_path: Path, settings: Any) -> Iterator[BucketFolder]:
    """The folder of the archived segments of this process, in a bucket, of which a folder of the test keeps parts."""
    settings.TIMELINE_URL = f"{bucket}/timeline"
    settings.FILES_CACHE_DIR = tmp_path / "files-cache"
    forget_parts()
    yield BucketFolder.at(settings.TIMELINE_URL)
    forget_parts()
