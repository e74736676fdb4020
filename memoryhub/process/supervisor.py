"""`manage.py up`: start database, web server and worker, keep them running, and stop them in order."""

import http
import json
import multiprocessing
import os
import shutil
import signal
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import FrameType

from apps.core.domain.backoff import Backoff
from apps.core.domain.randomness import SYSTEM_RNG
from apps.core.restart import take_restart
from apps.core.terminal import say, say_for, step
from memoryhub.config.hub import Config, read_config
from memoryhub.postgres.check import DatabaseUnfitError, require_fit_server
from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError
from memoryhub.process import children, parts
from memoryhub.process.children import Child, ProcessNotStartedError
from memoryhub.process.database import DatabaseKeeper
from memoryhub.process.progress import Progress, list_tree, measure_work
from memoryhub.process.startup import Credentials, StartError, hold_data_directory, require_free_port
from memoryhub.web.command import WEB_STOP_SECONDS, ReadinessQuestion, local_url

# Only `prepare` needs them, so only it gets them.
FIRST_SECRETS = ("MEMORYHUB_ADMIN_PASSWORD", "MEMORYHUB_API_KEY")
TICK_SECONDS = 0.2
WORKER_STOP_SECONDS = 4.0
# For how long all processes of the web server together may do nothing before its first answer.
IDLE_WEB_SECONDS = 120.0
WORK_LOOK_SECONDS = 1.0
QUIET_SECONDS = 15.0
# One Ctrl-C may arrive twice: from the terminal, and from `uv run`, which forwards it.
SAME_SIGNAL_SECONDS = 1.0
STEADY_SECONDS = 60.0
START_ATTEMPTS = 3
RESTART = Backoff(base_ms=250, multiplier=2, max_ms=30_000)


def run() -> int:
    """Run the hub until a signal stops it; return the exit code.

    Raises ImproperlyConfigured when the environment is wrong.
    """
    config = read_config()
    try:
        with hold_data_directory(config.data_dir):
            if count := children.end_leftovers(config.data_dir):
                say(f"  Ended {count} processes that an earlier run left behind.", "yellow")
            require_free_port(config.host, config.port)
            return Supervisor(config).run()
    except (StartError, EmbeddedDatabaseError, DatabaseUnfitError) as error:
        say(f"MemoryHub cannot start: {error}", "bold red")
        return 1


@dataclass
class Part:
    """A child process and the plan for its restart.

    attempts: restarts since it last ran steadily. restart_at: on the monotonic clock, None while it runs.
    """

    child: Child
    stop_seconds: float
    attempts: int = 0
    restart_at: float | None = None

    def plan_restart(self) -> float:
        """Plan the restart of an ended child; return the seconds to wait."""
        now = time.monotonic()
        if now - self.child.started_at > STEADY_SECONDS:
            self.attempts = 0
        wait = RESTART.delay_ms(self.attempts, SYSTEM_RNG) / 1000
        self.attempts += 1
        self.restart_at = now + wait
        return wait

    def end_for_restart(self) -> None:
        """End the child, also one that hangs, or cut short its wait for a restart: it starts at the next look."""
        self.child.end(self.stop_seconds)
        self.attempts, self.restart_at = 0, time.monotonic()


class Supervisor:
    """One running hub."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.signals = 0
        self.first_signal_at = 0.0
        self.is_ready = False
        self.credentials = Credentials()
        self.keeper: DatabaseKeeper | None = None
        self.lease: DatabaseLease | None = None
        if not config.database_url:
            database = EmbeddedDatabase(config.data_dir)
            self.keeper, self.lease = DatabaseKeeper(database), DatabaseLease(database)
        self.metrics_dir = config.data_dir / "run" / "metrics"
        self.environment = {name: value for name, value in os.environ.items() if name not in FIRST_SECRETS} | {
            "DJANGO_SETTINGS_MODULE": "memoryhub.settings",
            "MEMORYHUB_DATA_DIR": str(config.data_dir),
            "PROMETHEUS_MULTIPROC_DIR": str(self.metrics_dir),
            "MEMORYHUB_RUN": uuid.uuid4().hex,
            "PYTHONUNBUFFERED": "1",
            children.MARK: str(config.data_dir),
        }
        self.parts = [
            self.make_part("web", parts.run_web, WEB_STOP_SECONDS),
            self.make_part("worker", parts.run_worker, WORKER_STOP_SECONDS),
        ]
        self.preparation: ForkServerProcess | None = None

    def make_part(self, name: str, target: Callable[[], object], stop_seconds: float) -> Part:
        """Return a part that is not started yet."""
        child = Child(name, target, environment=self.environment, log=self.log_path(name), say=say_for)
        return Part(child, stop_seconds)

    def log_path(self, name: str) -> Path:
        """Return the path of the log file of a part."""
        return self.config.data_dir / "logs" / f"{name}.log"

    def run(self) -> int:
        """Start everything, watch it until a signal arrives, stop everything; return the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        say(f"MemoryHub  {self.config.data_dir}", "bold")
        try:
            self.start()
            while not self.signals:
                self.tick()
        except (StartError, EmbeddedDatabaseError):
            if not self.signals:
                raise
        finally:
            self.print_credentials()
            self.stop()
        return 0

    # --- starting -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the database, prepare the hub, start its parts, wait until it is ready and print its addresses."""
        shutil.rmtree(self.metrics_dir, ignore_errors=True)
        self.metrics_dir.mkdir(mode=0o700, parents=True)
        children.start_imports(self.environment, self.metrics_dir.parent)
        if self.lease:
            with step("Starting the database"):
                self.lease.acquire()
        if settings := self.config.database_settings():
            with step("Checking the database"):
                require_fit_server(settings)
        take_restart(self.config.data_dir)  # that of an earlier run
        if not self.signals:
            self.prepare()
        if not self.signals:
            for part in self.parts:
                part.child.start()
            with step("Starting web server and worker"):
                self.wait_until_ready()
        if not self.signals:
            base = self.config.public_url or local_url(self.config)
            say("")
            say(f"  API        {base}/api/")
            say(f"  API docs   {base}/api/docs")
            say(f"  Admin      {base}/admin/")
            self.print_credentials()
            say("")
            say("MemoryHub is ready. Ctrl-C stops it.", "bold green")

    def prepare(self) -> None:
        """Run `manage.py prepare`, which prints to the terminal itself and returns the credentials through a pipe."""
        reading, writing = multiprocessing.Pipe(duplex=False)
        secrets = {name: os.environ[name] for name in FIRST_SECRETS if name in os.environ}
        with reading:
            with writing:
                try:
                    self.preparation = children.start_process(
                        "prepare", parts.run_preparation, secrets, writing, environment=self.environment
                    )
                except ProcessNotStartedError as error:
                    raise StartError("the program cannot be imported, for the reason above.") from error
            while self.preparation.is_alive():
                if self.signals:
                    self.preparation.terminate()
                self.preparation.join(TICK_SECONDS / 4)
            if self.preparation.exitcode == 0:
                with os.fdopen(os.dup(reading.fileno())) as answer:
                    self.credentials = Credentials(**json.load(answer))
            elif not self.signals:
                raise StartError("the preparation failed, for the reason above.")

    def wait_until_ready(self) -> None:
        """Wait for /readyz, while the parts are watched; there is no limit as long as the web server makes progress.

        Raises StartError when it does nothing and does not answer.
        """
        web = self.parts[0].child
        progress, looked_at = Progress(IDLE_WEB_SECONDS), 0.0
        last_message = time.monotonic()
        question = ReadinessQuestion(self.config)
        while not self.signals:
            if question.status == http.HTTPStatus.OK:
                self.is_ready = True
                return
            now = time.monotonic()
            if question.status is None and now - looked_at > WORK_LOOK_SECONDS:
                looked_at = now
                progress.look(measure_work(list_tree(web.pid)))
                if progress.idle > IDLE_WEB_SECONDS:
                    raise StartError(
                        f"the web server does not answer, and has done nothing for {progress.idle:.0f} s; "
                        f"see {self.log_path('web')}."
                    )
            if now - last_message > QUIET_SECONDS:
                last_message = now
                say(f"  Still waiting: {question.text}", "yellow")
            question.ask_again()
            self.tick()
        raise StartError("it was stopped while starting.")

    def print_credentials(self) -> None:
        """Print the credentials of the first start once, also when the rest of the start failed."""
        credentials, self.credentials = self.credentials, Credentials()
        credentials.print()

    # --- watching -------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Restart what has ended, and the worker where a page requests it, and wait a moment."""
        if self.keeper is not None and not self.signals:
            self.keeper.tick()
        if take_restart(self.config.data_dir):
            say("  A page of the admin restarts the worker.", "yellow")
            self.parts[1].end_for_restart()
        for part in self.parts:
            self.watch(part)
        time.sleep(TICK_SECONDS)

    def watch(self, part: Part) -> None:
        """Restart a part that has ended, after a pause. Raises StartError for one that keeps failing at the start."""
        child = part.child
        if child.is_running():
            return
        if part.restart_at is None:
            child.kill()
            wait = part.plan_restart()
            code = child.returncode or 0
            # A signal comes from outside; an exit code of its own is a fault of the program.
            if not self.is_ready and code > 0 and part.attempts >= START_ATTEMPTS:
                raise StartError(f"the {child.name} does not start; see {self.log_path(child.name)}.")
            how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            say(f"  {child.name} {how}; restarting it in {wait:.1f} s.", "yellow")
        elif time.monotonic() >= part.restart_at:
            part.restart_at = None
            child.start()

    # --- stopping -------------------------------------------------------------------------------------

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Note the first signal, which stops the hub; end everything at once on a later one."""
        self.signals += 1
        if self.signals == 1:
            self.first_signal_at = time.monotonic()
        elif time.monotonic() - self.first_signal_at > SAME_SIGNAL_SECONDS:
            self.kill_all()

    def stop(self) -> None:
        """End the parts, then the database unless another command uses it."""
        if not self.signals:
            self.on_signal(signal.SIGTERM, None)
        say("Stopping …")
        for part in self.parts:
            part.child.end(part.stop_seconds)
        if self.lease and self.lease.held and not self.lease.release():
            say("  The database keeps running: another command uses it, and stops it at its end.", "yellow")
        say("Stopped.")

    def kill_all(self) -> None:
        """End everything at once; the database recovers at the next start."""
        for part in self.parts:
            part.child.kill()
        if self.preparation and self.preparation.is_alive():
            self.preparation.kill()
        if self.lease:
            self.lease.abandon()
        os._exit(130)
