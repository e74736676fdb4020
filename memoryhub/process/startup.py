"""The start of `manage.py up`: a free data directory, a free port, and the credentials of the first start."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apps.core.terminal import say

# The folder of a data directory in which a backup is restored, until all of it is there.
RESTORING = "restoring"


class StartError(Exception):
    """The hub cannot start; the text says why and what would help."""


@dataclass(frozen=True)
class Credentials:
    """What the first start created; None for what existed before or came from the environment.

    default_user: whose memory it is from now on where nobody is named. notice: something about the configured
    credentials that the operator should know.
    """

    admin_username: str | None = None
    admin_password: str | None = None
    api_key: str | None = None
    default_user: str | None = None
    notice: str | None = None

    def print(self) -> None:
        """Print the credentials, which cannot be read again later."""
        if self.admin_password or self.api_key:
            say("")
            say("  First start. Keep these: they are shown only once.", "bold yellow")
        if self.admin_password:
            say(f"  Admin user         {self.admin_username}")
            say(f"  Admin password     {self.admin_password}")
        if self.api_key:
            say(f"  Operator API key   {self.api_key}")
        if self.admin_password:
            say("  Sign in to the admin: its first page guides you to your first key, memory and search.")
        if self.default_user:
            say(
                f"  Default user       {self.default_user}: owns memories when neither the request"
                " nor its key names a user"
            )
            say("                     (set MEMORYHUB_DEFAULT_USER to change it; empty for none)")
        if self.notice:
            say(f"  {self.notice}", "yellow")


@contextmanager
def hold_data_directory(data_dir: Path) -> Iterator[None]:
    """Create `data_dir` if needed and lock it for this process.

    Raises StartError when another `up` has it (naming its process id), it cannot be written, or a restore into it was
    cut off.
    """
    if (data_dir / RESTORING).exists():
        raise StartError(
            f"A restore into {data_dir} was cut off. Empty that directory, and run `manage.py restore` again."
        )
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
        if error.errno == errno.EADDRINUSE:
            other = port + 1 if port < 65535 else 8000
            problem = (
                f"Port {port} of {host} is taken by another program. "
                f"Set MEMORYHUB_PORT to another, for example MEMORYHUB_PORT={other}."
            )
        elif error.errno == errno.EACCES:
            problem = f"This user may not listen on port {port}. Set MEMORYHUB_PORT to 1024 or more."
        else:
            reason = error.strerror or error
            problem = f"MEMORYHUB_HOST={host} is not an address that this machine can listen on: {reason}."
        raise StartError(problem) from error
