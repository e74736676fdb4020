"""A real PgBouncer before a database of the tests, in the mode that a test names."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection, connections

from apps.core.db.sessions import DIRECT
from memoryhub.postgres.accounts import server_account
from memoryhub.postgres.server import EmbeddedDatabase, socket_directory
from tests.system.hub import free_port, wait_for

# Debian puts it beside the programs of administrators.
PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
needs_pgbouncer = pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer (Debian: apt-get install pgbouncer)")
SETTINGS = """
[databases]
* = host={host} port=5432 user=memoryhub

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
log_connections = 0
log_disconnections = 0
"""


class PgBouncer:
    """A pooler before an embedded server, on a port of its own. mode: `session` or `transaction`."""

    def __init__(self, server: EmbeddedDatabase, *, mode: str, size: int = 20) -> None:
        self.port = free_port()
        # The account of the server: that one may connect, and neither of the two programs runs as root.
        self._account = server_account(server.pgdata)
        self._settings = server.data_dir / "run" / f"pgbouncer-{self.port}.ini"
        self._values = {"host": socket_directory(server.data_dir), "port": self.port, "size": size}
        self.change_mode(mode)
        self._log = self._settings.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    def change_mode(self, mode: str) -> None:
        """Write the settings, which the next start reads."""
        self._settings.write_text(SETTINGS.format(mode=mode, **self._values))
        self._settings.chmod(0o644)

    def url(self, database: str) -> str:
        """Return the address of a database behind it."""
        return f"postgresql://memoryhub@127.0.0.1:{self.port}/{database}"

    def start(self, database: str) -> None:
        """Start it, and wait until it passes a question on to the database."""
        command = [str(PGBOUNCER), str(self._settings)]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, **self._account.subprocess_options()
            )
        wait_for(lambda: self._answers(database), "pgbouncer", patience=20)

    def _answers(self, database: str) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self._log.read_text()
        try:
            with psycopg.connect(self.url(database), connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def end(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._settings.unlink(missing_ok=True)


@contextmanager
def through(pooler: PgBouncer, blocker: Any, *, direct: bool) -> Iterator[None]:
    """Have the default connections of this process go through a pooler.

    blocker: the fixture `django_db_blocker`, since tests allow no connections of another name. direct: whether sessions
    do without the pooler.
    """
    known = connection.settings_dict
    before = dict(known)
    connection.close()
    if direct:
        connections.settings[DIRECT] = dict(before)
    known.update(HOST="127.0.0.1", PORT=str(pooler.port), OPTIONS={})
    try:
        with blocker.unblock():
            yield
    finally:
        connections.close_all()
        known.update(before)
        if direct:
            if DIRECT in [one.alias for one in connections.all(initialized_only=True)]:
                del connections[DIRECT]
            del connections.settings[DIRECT]
