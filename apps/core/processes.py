"""The processes of the hub: each says what it is ready for where the others can read it, and dead ones vanish.

Processes with the same MEMORYHUB_RUN belong together; without one, those of the same machine do. Times are those of the
database, so that machines with different clocks agree.
"""

import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psutil
from django.conf import settings
from django.db import Error, connection

from apps.core import metrics
from apps.core.models import ProcessKind

logger = logging.getLogger(__name__)

# Between two signs of life of a web process, and while it is not ready for everything.
BEAT_SECONDS = 3.0
STARTING_BEAT_SECONDS = 0.5
# After so long without a sign of life a process counts as dead.
DEAD_SECONDS = {ProcessKind.WEB: 15.0, ProcessKind.WORKER: 45.0}
# A sign of life further ahead is from before the clock of the database was put back: it says nothing about now.
AHEAD_SECONDS = 5.0
FORGET_SECONDS = 600
# A worker begins beside the web processes: for so long after them it is awaited, and has not stopped.
WORKER_START_SECONDS = 60.0

_PUBLISH = """
INSERT INTO core_hubprocess AS known (kind, run, host, pid, started_at, seen_at, checks, facts)
VALUES (%s, %s, %s, %s, clock_timestamp(), clock_timestamp(), %s::jsonb, %s::jsonb)
ON CONFLICT (run, kind, host, pid)
DO UPDATE SET seen_at = excluded.seen_at, checks = excluded.checks, facts = excluded.facts,
    started_at = CASE WHEN extract(epoch FROM excluded.seen_at - known.seen_at) BETWEEN %s AND %s
                      THEN known.started_at ELSE excluded.started_at END
"""
_FORGET = "DELETE FROM core_hubprocess WHERE abs(extract(epoch FROM clock_timestamp() - seen_at)) > %s"
_REMOVE = "DELETE FROM core_hubprocess WHERE (run, kind, host, pid) = (%s, %s, %s, %s)"
_REMOVE_ENDED = "DELETE FROM core_hubprocess WHERE host = %s AND pid = ANY(%s)"
_LIST = """
SELECT kind, run, host, pid, started_at, extract(epoch FROM clock_timestamp() - seen_at)::float8,
       extract(epoch FROM clock_timestamp() - started_at)::float8, checks::text, facts::text
FROM core_hubprocess ORDER BY kind, host, started_at, pid
"""
# For connections that are not Django's: which processes live, what each is ready for, and of its facts the levels and
# what is being built, so that pages follow its progress.
LIVE_STATE_SQL = f"""
SELECT kind, run, host, pid, checks::text,
       (SELECT string_agg(concat_ws(' ', key, value ->> 'level', value ->> 'making'), ',' ORDER BY key)
        FROM jsonb_each(facts) WHERE jsonb_typeof(value) = 'object')
FROM core_hubprocess
WHERE seen_at >= clock_timestamp() - make_interval(secs => CASE kind
    WHEN '{ProcessKind.WORKER.value}' THEN {DEAD_SECONDS[ProcessKind.WORKER]} ELSE {DEAD_SECONDS[ProcessKind.WEB]} END)
  AND seen_at <= clock_timestamp() + make_interval(secs => {AHEAD_SECONDS})
ORDER BY kind, run, host, pid
"""  # noqa: S608  (of constants)

_is_publishing = False
Report = Callable[[], tuple[Mapping[str, str], Mapping[str, Any]]]


@dataclass(frozen=True)
class ProcessState:
    """What a process said last. age: seconds since then. checks: "ok" or what is missing. facts: by their source.

    started_at: since when it was heard of without a break; a machine that slept begins again. uptime: seconds since.
    """

    kind: ProcessKind
    run: str
    host: str
    pid: int
    started_at: datetime
    age: float
    uptime: float
    checks: Mapping[str, str]
    facts: Mapping[str, Any]

    @property
    def is_alive(self) -> bool:
        """Return whether it was heard of recently."""
        return -AHEAD_SECONDS <= self.age <= DEAD_SECONDS[self.kind]

    @property
    def is_this_one(self) -> bool:
        """Return whether this is the process that asks."""
        return (self.run, self.host, self.pid) == (run_name(), socket.gethostname(), os.getpid())


def run_name() -> str:
    """Return the name that the processes of this run share."""
    return settings.MEMORYHUB.run or socket.gethostname()


def publish(kind: ProcessKind, checks: Mapping[str, str], facts: Mapping[str, Any]) -> None:
    """Say that this process is alive and what it is ready for; forget those that were not heard of for long."""
    said = [json.dumps(dict(checks)), json.dumps(dict(facts))]
    with connection.cursor() as cursor:
        cursor.execute(_PUBLISH, [*identity(kind), *said, -AHEAD_SECONDS, DEAD_SECONDS[kind]])
        cursor.execute(_FORGET, [FORGET_SECONDS])


def withdraw(kind: ProcessKind) -> None:
    """Say that this process ends."""
    run, host, pid = identity(kind)[1:]
    with connection.cursor() as cursor:
        cursor.execute(_REMOVE, [run, kind.value, host, pid])


def remove_ended() -> None:
    """Remove the processes of this machine that have ended without saying so."""
    here = {state.pid for state in live_processes() if state.host == socket.gethostname()}
    ended = [pid for pid in here if not psutil.pid_exists(pid)]
    for pid in ended:
        metrics.forget_process(pid)
    if ended:
        with connection.cursor() as cursor:
            cursor.execute(_REMOVE_ENDED, [socket.gethostname(), ended])


def identity(kind: ProcessKind) -> tuple[str, str, str, int]:
    """Return what distinguishes this process: kind, run, machine and process id."""
    return kind.value, run_name(), socket.gethostname(), os.getpid()


def heard_processes() -> list[ProcessState]:
    """List the processes of all runs that have not said that they end; for ten minutes after their last word."""
    with connection.cursor() as cursor:
        cursor.execute(_LIST)
        return [
            ProcessState(
                ProcessKind(kind), run, host, pid, started_at, age, uptime, json.loads(checks), json.loads(facts)
            )
            for kind, run, host, pid, started_at, age, uptime, checks, facts in cursor.fetchall()
        ]


def live_processes() -> list[ProcessState]:
    """List the processes that were heard of recently, of all runs."""
    return [state for state in heard_processes() if state.is_alive]


def web_processes() -> list[ProcessState]:
    """List the live web processes of this run."""
    return [state for state in live_processes() if state.kind is ProcessKind.WEB and state.run == run_name()]


def other_web_processes() -> list[ProcessState]:
    """List the live web processes of this run besides this one."""
    return [state for state in web_processes() if not state.is_this_one]


def is_publishing() -> bool:
    """Return whether this process sends signs of life, so that others know of it."""
    return _is_publishing


def live_workers() -> list[ProcessState]:
    """List the live workers of this run, or of any where no run has a name."""
    named = settings.MEMORYHUB.run
    return [
        state
        for state in live_processes()
        if state.kind is ProcessKind.WORKER and (named is None or state.run == run_name())
    ]


def is_worker_awaited(web: Iterable[ProcessState]) -> bool:
    """Return whether a hub without a worker has just started. web: its live web processes."""
    return 0 < max((state.uptime for state in web), default=0) < WORKER_START_SECONDS


def web_ready() -> str | None:
    """Check that as many web processes run as are wanted. Return what is missing."""
    wanted = settings.MEMORYHUB.web_processes if settings.MEMORYHUB.run else 1
    running = len(web_processes()) if is_publishing() else 1 + len(other_web_processes())
    return None if running >= wanted else f"{running} of {wanted} web processes run"


def worker_ready() -> str | None:
    """Check that a worker was heard of recently. Return what is missing."""
    if live_workers():
        return None
    if is_worker_awaited(web_processes()):
        return "the worker has not started yet"
    return f"no worker has reported in the last {DEAD_SECONDS[ProcessKind.WORKER]:.0f} seconds: see logs/worker.log"


class ProcessBeat:
    """The signs of life of one process. report: returns its checks and facts. at_end: called after the last one."""

    def __init__(self, kind: ProcessKind, report: Report, at_end: Callable[[], None] = lambda: None) -> None:
        self._kind, self._report, self._at_end = kind, report, at_end
        self._has_ended = threading.Event()
        self._has_published = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Give a sign of life every few seconds from now on."""
        global _is_publishing
        _is_publishing = True
        self._thread = threading.Thread(target=self._run, name="signs of life", daemon=True)
        self._thread.start()

    def end(self, patience: float = 1.0) -> None:
        """Stop, and say so where the database answers in time."""
        self._has_ended.set()
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self) -> None:
        pause = 0.0
        while not self._has_ended.wait(pause):
            pause = self.beat()
        try:
            self._at_end()
            withdraw(self._kind)
        except Error:
            logger.info("the end of this process could not be noted")
        connection.close()

    def beat(self) -> float:
        """Publish the state once. Return after how many seconds to do so again."""
        try:
            checks, facts = self._report()
            publish(self._kind, checks, facts)
            if not self._has_published:
                remove_ended()
                self._has_published = True
        except Error as error:
            logger.info("a sign of life could not be written: %s", type(error).__name__)
            connection.close()
            return STARTING_BEAT_SECONDS
        except Exception:
            logger.exception("the state of this process could not be published")
            return BEAT_SECONDS
        is_ready = all(answer == "ok" for answer in checks.values())
        return BEAT_SECONDS if is_ready else STARTING_BEAT_SECONDS
