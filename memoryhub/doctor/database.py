"""Whether the database can be used: it answers, is new enough, takes writes, keeps sessions, and knows the time."""

import time
from collections.abc import Iterator, Sequence

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext

from apps.core.db.sessions import find_session_fault
from apps.core.health import OK, run_checks
from apps.core.pages.sayings import say
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.services import DATABASE_CHECK, HUB_PERMISSION, database_problem
from memoryhub.postgres.check import judge
from memoryhub.postgres.django_checks import known_migrations
from memoryhub.problems.processes import disk_problems

MAX_NAMES = 5
CONNECT_SECONDS = 5
# Signs of life count for 15 seconds, and schedules run by the minute.
CLOCK_WARNING_SECONDS, CLOCK_CRITICAL_SECONDS = 5.0, 60.0
_SERVER = """
SELECT current_setting('server_version_num')::int, pg_is_in_recovery(),
       current_setting('default_transaction_read_only')::bool,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
"""
# Why the embedded server could not be started, where this process has tried.
_obstacle: list[str] = []


def note_obstacle(words: str) -> None:
    """Remember why the embedded database could not be started, to be said first."""
    _obstacle[:] = [words]


def finding(code: str, severity: ProblemSeverity, sentence: str, advice: str) -> Problem:
    """Return a finding about the hub as a whole."""
    return Problem(code=code, severity=severity, sentence=sentence, advice=advice, permission=HUB_PERMISSION)


def cut_names(names: Sequence[str]) -> str:
    """Return the first names, and how many there are besides."""
    shown = ", ".join(names[:MAX_NAMES])
    if len(names) <= MAX_NAMES:
        return shown
    return gettext("%(names)s and %(count)s more") % {"names": shown, "count": len(names) - MAX_NAMES}


def database_findings() -> Iterator[Problem]:
    """Yield that there is no database, or that it does not answer, is too old, lacks pgvector, or takes no writes."""
    config = settings.MEMORYHUB
    if config.database_url is None and not (config.data_dir / "postgres" / "PG_VERSION").exists():
        yield finding(
            "database_missing",
            ProblemSeverity.CRITICAL,
            gettext("There is no hub in %(place)s.") % {"place": config.data_dir},
            gettext("Set MEMORYHUB_DATA_DIR to the data directory of the hub, or make one with `manage.py up`."),
        )
        return
    answer = _obstacle[0] if _obstacle else run_checks(DATABASE_CHECK)["database"]
    if answer != OK:
        yield database_problem(say(answer).rstrip(".。"))
        return
    with connection.cursor() as cursor:
        cursor.execute(_SERVER)
        version, is_standby, is_read_only, installed, available = cursor.fetchone()
    if problem := judge(version, installed, available) or ("" if installed else "CREATE EXTENSION vector"):
        yield finding(
            "database_unfit",
            ProblemSeverity.CRITICAL,
            gettext("The server of the database does not have what the hub needs: %(problem)s")
            % {"problem": f"{problem.rstrip('.')}."},
            gettext("The server needs PostgreSQL 15 or newer, with pgvector 0.8 or newer installed in the database."),
        )
    if is_standby or is_read_only:
        yield finding(
            "database_read_only",
            ProblemSeverity.CRITICAL,
            gettext("The database takes no writes: it is a standby, or set to read only."),
            gettext("Let DATABASE_URL name the server that takes writes."),
        )


def connection_findings() -> Iterator[Problem]:
    """Yield that locks of a session or notifications are lost between here and the server, as in most poolers."""
    try:
        fault = find_session_fault({"connect_timeout": CONNECT_SECONDS})
    except psycopg.Error as error:  # without its words, which may have a password
        words = gettext("the connection for sessions cannot be opened (%(error)s)") % {"error": type(error).__name__}
        yield database_problem(words)
        return
    if fault:
        yield finding(
            "connection_pooled",
            ProblemSeverity.CRITICAL,
            gettext("Connections to the database do not keep their sessions, so locks and notifications get lost."),
            say(fault),
        )


def newer_tables() -> Iterator[Problem]:
    """Yield that a newer version of the hub has migrated the database: this one may misread it."""
    loader = MigrationLoader(connection)
    own = {app for app, _ in loader.disk_migrations}
    if {key for key in loader.applied_migrations if key[0] in own} - known_migrations(loader):
        yield finding(
            "migrations_unknown",
            ProblemSeverity.CRITICAL,
            gettext("A newer version of MemoryHub has changed the tables of this database."),
            gettext("Install that version again, or restore a backup of this one."),
        )


def clock_findings() -> Iterator[Problem]:
    """Yield that the clocks of this machine and of the database differ."""
    with connection.cursor() as cursor:
        before = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        there, after = cursor.fetchone()[0], time.time()
    # The server read its clock somewhere between; only what lies outside is a difference.
    off = max(before - there, there - after, 0.0)
    if off >= CLOCK_WARNING_SECONDS:
        yield finding(
            "clock_differs",
            ProblemSeverity.CRITICAL if off >= CLOCK_CRITICAL_SECONDS else ProblemSeverity.WARNING,
            gettext("The clocks of this machine and of the database differ by %(seconds)s seconds.")
            % {"seconds": f"{off:,.0f}"},
            gettext("Set both by the same time server (NTP)."),
        )


def disk_findings() -> Iterator[Problem]:
    """Yield that the disk of the data directory is nearly full, where there is one."""
    if settings.MEMORYHUB.data_dir.exists():
        yield from disk_problems()
