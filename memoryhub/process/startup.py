"""What `manage.py up` makes sure of before anything slow: its data directory and its port are free."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StartError(Exception):
    """The hub cannot start; the text says why and what would help."""


@contextmanager
def hold_data_directory(data_dir: Path) -> Iterator[None]:
    """Make `data_dir` and hold it for this process alone.

    Raises StartError when another `up` has it (naming its process id) or it cannot be written.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(data_dir / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartError(f"MEMORYHUB_DATA_DIR={data_dir} cannot be used: {error.strerror}.") from error
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(
                f"Another `manage.py up` (process {file.read().strip()}) runs on {data_dir}. "
                "Stop it, or set MEMORYHUB_DATA_DIR to another directory."
            ) from None
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def require_free_port(host: str, port: int) -> None:
    """Raise StartError when the web server could not listen there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except OSError as error:
        raise StartError(_port_problem(host, port, error)) from error


def _port_problem(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} of {host} is taken by another program. "
            f"Set MEMORYHUB_PORT to another, for example MEMORYHUB_PORT={port + 1 if port < 65535 else 8000}."
        )
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}. Set MEMORYHUB_PORT to 1024 or more."
    return f"MEMORYHUB_HOST={host} is no address to listen on here: {error.strerror or error}."
