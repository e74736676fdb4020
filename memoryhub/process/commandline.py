"""Run a management command with the embedded database at hand."""

import os
import sys

# Background work gives way to requests and imports when the processors are busy.
BACKGROUND_NICENESS = 10

# Commands that never ask the database.
WITHOUT_DATABASE = frozenset(
    {
        "bench",
        "collectstatic",
        "compilemessages",
        "diffsettings",
        "findstatic",
        "help",
        "makemessages",
        "prepare_models",
        "spectacular",
        "startapp",
        "startproject",
        "test",
        "up",
        "version",
    }
)


def execute(argv: list[str]) -> None:
    """Run the command line `argv` (the program's name first).

    A command that needs the embedded database starts it when it does not run, and stops it afterwards unless
    somebody else uses it by then. Exits with 1 and a sentence when the configuration is wrong.
    """
    if sys.version_info < (3, 11):  # noqa: UP036  (an older Python must hear it from us, not from a traceback)
        sys.exit(f"MemoryHub needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    from django.core.exceptions import ImproperlyConfigured

    command = _command(argv)
    try:
        if command == "up":
            from memoryhub.process.supervisor import run

            sys.exit(run())
        if command == "qcluster":
            os.nice(BACKGROUND_NICENESS)
        _execute_with_database(argv) if _needs_database(command, argv) else _execute(argv)
    except ImproperlyConfigured as error:
        sys.exit(f"MemoryHub cannot start: {error}")


def _command(argv: list[str]) -> str | None:
    """The command's name; None when only help or the version is asked for."""
    if len(argv) < 2 or {"-h", "--help", "--version"} & set(argv[1:]):
        return None
    return argv[1]


def _needs_database(command: str | None, argv: list[str]) -> bool:
    if command is None or command in WITHOUT_DATABASE:
        return False
    if command == "check" and not any(argument.startswith("--database") for argument in argv):
        return False
    from memoryhub.config.hub import read_config

    return read_config().database_url is None


def _execute(argv: list[str]) -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(argv)


def _execute_with_database(argv: list[str]) -> None:
    import multiprocessing
    import signal

    from memoryhub.config.hub import read_config
    from memoryhub.postgres.lease import DatabaseLease
    from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError

    lease = DatabaseLease(EmbeddedDatabase(read_config().data_dir))
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with lease:
            _execute(argv)
            # qcluster returns at once and lives on in its children.
            for child in multiprocessing.active_children():
                child.join()
    except EmbeddedDatabaseError as error:
        sys.exit(f"The embedded database: {error}")
