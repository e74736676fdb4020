"""`manage.py up`: start database, web server and worker, keep them running, and stop them in order."""

import http
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import SYSTEM_RNG
from memoryhub.config.hub import Config, read_config
from memoryhub.postgres.check import DatabaseUnfitError, require_fit_server
from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError
from memoryhub.process import children
from memoryhub.process.children import Child
from memoryhub.process.startup import StartError, hold_data_directory, require_free_port
from memoryhub.process.terminal import print_credentials, say, say_for, step
from memoryhub.web.command import WEB_STOP_SECONDS, ask_ready, local_url, web_command

PROJECT = Path(__file__).resolve().parents[2]
# Only `prepare` needs them, so only it gets them.
FIRST_SECRETS = ("MEMORYHUB_ADMIN_PASSWORD", "MEMORYHUB_API_KEY")
TICK_SECONDS = 0.2
WORKER_STOP_SECONDS = 4.0
SILENT_WEB_SECONDS = 120.0
QUIET_SECONDS = 15.0
# One Ctrl-C may arrive twice: from the terminal, and from `uv run`, which passes it on.
SAME_SIGNAL_SECONDS = 1.0
PRUNE_SECONDS = 3600.0
STEADY_SECONDS = 60.0
START_ATTEMPTS = 3
RESTART = Backoff(base_ms=250, multiplier=2, max_ms=30_000)


def run() -> int:
    """Run the hub until it is told to stop; returns the exit code.

    Raises ImproperlyConfigured when the environment is wrong.
    """
    config = read_config()
    try:
        with hold_data_directory(config.data_dir):
            if count := children.end_leftovers(config.data_dir):
                say(f"  Ended {count} processes that an earlier run left.", "yellow")
            require_free_port(config.host, config.port)
            return Supervisor(config).run()
    except (StartError, EmbeddedDatabaseError, DatabaseUnfitError) as error:
        say(f"MemoryHub cannot start: {error}", "bold red")
        return 1


@dataclass
class Restarts:
    """When a part that ended is started again."""

    attempts: int = 0
    due: float | None = None

    def plan(self, now: float, ran_for: float) -> float:
        """Note one more ending after `ran_for` seconds; returns the seconds to wait."""
        if ran_for > STEADY_SECONDS:
            self.attempts = 0
        wait = RESTART.delay_ms(self.attempts, SYSTEM_RNG) / 1000
        self.attempts += 1
        self.due = now + wait
        return wait


@dataclass
class Part:
    """A child process and the plan for its restart."""

    child: Child
    stop_seconds: float
    restarts: Restarts = field(default_factory=Restarts)


class Supervisor:
    """One running hub."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.signals = 0
        self._told_at = 0.0
        self.ready = False
        self.credentials: dict[str, str | None] = {}
        self.database: EmbeddedDatabase | None = None
        self.lease: DatabaseLease | None = None
        if not config.database_url:
            self.database = EmbeddedDatabase(config.data_dir)
            self.lease = DatabaseLease(self.database)
        self.environment = _environment(config)
        self.parts = [
            self._part("web", web_command(config), WEB_STOP_SECONDS),
            self._part("worker", [sys.executable, "manage.py", "qcluster"], WORKER_STOP_SECONDS),
        ]
        self._preparing: subprocess.Popen[bytes] | None = None
        self._pruned = time.monotonic()

    def run(self) -> int:
        """Start everything, watch it until a signal comes, stop everything; returns the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        say(f"MemoryHub  {self.config.data_dir}", "bold")
        try:
            self._start()
            while not self.signals:
                self._tick()
        except (StartError, EmbeddedDatabaseError):
            if not self.signals:
                raise
        finally:
            self._hand_out_credentials()
            self._stop()
        return 0

    # --- starting -------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self.lease:
            with step("Starting the database"):
                self.lease.acquire()
        if settings := self.config.database_settings():
            with step("Checking the database"):
                require_fit_server(settings)
        _empty(Path(self.environment["PROMETHEUS_MULTIPROC_DIR"]))
        if not self.signals:
            self._prepare()
        if not self.signals:
            for part in self.parts:
                part.child.start()
            with step("Starting web server and worker"):
                self._wait_until_ready()
        if not self.signals:
            self._announce()

    def _prepare(self) -> None:
        """Run `manage.py prepare`, which talks to the terminal itself and hands the credentials back."""
        reading, writing = os.pipe()
        command = [sys.executable, "manage.py", "prepare", "--credentials-fd", str(writing)]
        self._preparing = subprocess.Popen(
            [sys.executable, "-m", "memoryhub.process.child", str(os.getpid()), *command],
            cwd=PROJECT,
            env=self.environment | {name: os.environ[name] for name in FIRST_SECRETS if name in os.environ},
            stdin=subprocess.DEVNULL,
            pass_fds=[writing],
            process_group=0,
        )
        os.close(writing)
        with os.fdopen(reading) as answer:
            while self._preparing.poll() is None:
                if self.signals:
                    self._preparing.terminate()
                time.sleep(TICK_SECONDS / 4)
            if self._preparing.returncode == 0:
                self.credentials = json.loads(answer.read())
            elif not self.signals:
                raise StartError("it could not be prepared, for the reason above.")

    def _wait_until_ready(self) -> None:
        began = told = time.monotonic()
        answered = False
        while not self.signals:
            status, text = ask_ready(self.config)
            if status == http.HTTPStatus.OK:
                self.ready = True
                return
            answered = answered or status is not None
            now = time.monotonic()
            if not answered and now - began > SILENT_WEB_SECONDS:
                raise StartError(f"the web server does not answer; see {self._log('web')}.")
            if now - told > QUIET_SECONDS:
                told = now
                say(f"  Still waiting: {text}", "yellow")
            self._tick()
        raise StartError("it was told to stop.")

    def _announce(self) -> None:
        base = self.config.public_url or local_url(self.config)
        say("")
        say(f"  API        {base}/api/")
        say(f"  API docs   {base}/api/docs")
        say(f"  Admin      {base}/admin/")
        self._hand_out_credentials()
        say("")
        say("MemoryHub is ready. Ctrl-C stops it.", "bold green")

    def _hand_out_credentials(self) -> None:
        """Print what the first start made, also when the rest of the start failed: it is shown only once."""
        credentials, self.credentials = self.credentials, {}
        if credentials:
            print_credentials(**credentials)

    # --- watching -------------------------------------------------------------------------------------

    def _tick(self) -> None:
        self._watch_database()
        for part in self.parts:
            self._watch(part)
        time.sleep(TICK_SECONDS)

    def _watch(self, part: Part) -> None:
        child, now = part.child, time.monotonic()
        if child.is_running():
            return
        if part.restarts.due is None:
            child.kill()
            wait = part.restarts.plan(now, now - child.started_at)
            self._give_up_if_hopeless(part)
            how = _ending(child.returncode)
            say(f"  {child.name} {how}; it is started again in {wait:.1f} s.", "yellow")
        elif now >= part.restarts.due:
            part.restarts.due = None
            child.start()

    def _give_up_if_hopeless(self, part: Part) -> None:
        failed_by_itself = (part.child.returncode or 0) > 0
        if not self.ready and failed_by_itself and part.restarts.attempts >= START_ATTEMPTS:
            raise StartError(f"the {part.child.name} does not start; see {self._log(part.child.name)}.")

    def _watch_database(self) -> None:
        if self.database is None:
            return
        if not self.database.is_running() and not self.signals:
            say("  The database ended; it is started again.", "yellow")
            self.database.start()
            say("  The database runs again.", "yellow")
        if time.monotonic() - self._pruned > PRUNE_SECONDS:
            self._pruned = time.monotonic()
            self.database.prune_logs()

    # --- stopping -------------------------------------------------------------------------------------

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.signals += 1
        if self.signals == 1:
            self._told_at = time.monotonic()
        elif time.monotonic() - self._told_at > SAME_SIGNAL_SECONDS:
            self._force()

    def _stop(self) -> None:
        if not self.signals:
            self._on_signal(signal.SIGTERM, None)
        say("Stopping …")
        for part in self.parts:
            part.child.end(part.stop_seconds)
        if self.lease and self.lease.held and not self.lease.release():
            say("  The database keeps running: another command uses it, and stops it at its end.", "yellow")
        say("Stopped.")

    def _force(self) -> None:
        """End everything at once; the database recovers at the next start."""
        for part in self.parts:
            part.child.kill()
        if self._preparing and self._preparing.poll() is None:
            self._preparing.kill()
        if self.lease:
            self.lease.abandon()
        os._exit(130)

    # --- small things ---------------------------------------------------------------------------------

    def _part(self, name: str, command: list[str], stop_seconds: float) -> Part:
        log = self._log(name)
        child = Child(name, command, cwd=PROJECT, environment=self.environment, log=log, say=say_for)
        return Part(child, stop_seconds)

    def _log(self, name: str) -> Path:
        return self.config.data_dir / "logs" / f"{name}.log"


def _environment(config: Config) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FIRST_SECRETS}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
        "MEMORYHUB_DATA_DIR": str(config.data_dir),
        "PROMETHEUS_MULTIPROC_DIR": str(config.data_dir / "run" / "metrics"),
        "PYTHONUNBUFFERED": "1",
        children.MARK: str(config.data_dir),
    }


def _ending(returncode: int | None) -> str:
    if returncode is not None and returncode < 0:
        return f"was ended by {signal.Signals(-returncode).name}"
    return f"ended with exit code {returncode}"


def _empty(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700, parents=True)
