"""Run a management command with the embedded database running."""

import os
import secrets
import signal
import sys

# Background work yields to requests and imports when the processors are busy.
BACKGROUND_NICENESS = 10

# Commands that never use the database, or reach it themselves.
WITHOUT_DATABASE = frozenset(
    {
        "bench",
        "bench_memory",
        "bench_start",
        "collectstatic",
        "compilemessages",
        "diffsettings",
        "doctor",
        "findstatic",
        "help",
        "makemessages",
        "messages",
        "restore",
        "spectacular",
        "startapp",
        "startproject",
        "test",
        "up",
        "version",
    }
)
# Commands that leave a data directory as they find it. The settings would make a signing key in a new one.
WITHOUT_TRACE = frozenset({"doctor", "restore"})


def execute(argv: list[str]) -> None:
    """Run the command line `argv` (the program's name first).

    A command that needs the embedded database starts it when it does not run, and stops it afterwards unless another
    process uses it by then. Exits with 1 and a sentence when the configuration is wrong.
    """
    if sys.version_info < (3, 11):  # noqa: UP036  (on an older Python a sentence is better than a traceback)
        sys.exit(f"MemoryHub needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    from django.core.exceptions import ImproperlyConfigured

    from memoryhub.process.recorded import RecordedUtility

    # None when only help or the version is requested.
    command = argv[1] if len(argv) > 1 and not {"-h", "--help", "--version"} & set(argv[1:]) else None
    try:
        if argv[1:2] and argv[1] in WITHOUT_TRACE:
            make_no_key()
        if command == "up":
            from memoryhub.process.supervisor import run

            require_known_options(argv)
            sys.exit(run())
        if command == "qcluster":
            import django

            # Yielding begins with the work: beside busy processes the imports would take many minutes, and the hub is
            # not ready without its worker.
            django.setup(set_prefix=False)
            os.nice(BACKGROUND_NICENESS)
        elif command is not None and command not in WITHOUT_DATABASE:
            from memoryhub.config.hub import read_config
            from memoryhub.process.metrics import join_metrics

            # What a command does counts in the metrics of the hub beside which it runs.
            join_metrics(read_config().data_dir)
        if needs_embedded_database(command, argv):
            execute_with_database(argv)
        else:
            if command in WITHOUT_TRACE:
                end_by_exit()
            RecordedUtility(argv).execute()
    except ImproperlyConfigured as error:
        if command == "doctor":
            sys.stderr.write(f"MemoryHub cannot start: {error}\n")
            sys.exit(2)
        sys.exit(f"MemoryHub cannot start: {error}")


def make_no_key() -> None:
    """Sign with a key of this process where the data directory has none yet, instead of making one there."""
    from memoryhub.config.hub import read_config

    if not (read_config().data_dir / "secret_key").exists():
        os.environ.setdefault("MEMORYHUB_SECRET_KEY", secrets.token_urlsafe(50))


def end_by_exit() -> None:
    """Have SIGTERM end this process in its order, so that a database that it started is stopped."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def require_known_options(argv: list[str]) -> None:
    """Exit with a sentence where `up` is given options that it does not have: no parser of Django runs for it."""
    if not argv[2:]:
        return
    from django.core.management import CommandError

    from memoryhub.management.commands.up import Command

    try:
        Command().create_parser(argv[0], argv[1]).parse_args(argv[2:])
    except CommandError as error:
        sys.exit(f"{error}. See `manage.py up --help`; settings are environment variables.")


def needs_embedded_database(command: str | None, argv: list[str]) -> bool:
    """Return whether a command uses the database, and that is the embedded one."""
    if command is None or command in WITHOUT_DATABASE:
        return False
    if command == "check" and not any(argument.startswith("--database") for argument in argv):
        return False
    from memoryhub.config.hub import read_config

    return read_config().database_url is None


def execute_with_database(argv: list[str]) -> None:
    """Run a command line while holding a lease of the embedded database."""
    import multiprocessing

    from memoryhub.config.hub import read_config
    from memoryhub.postgres.lease import DatabaseLease
    from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError
    from memoryhub.process.recorded import RecordedUtility

    lease = DatabaseLease(EmbeddedDatabase(read_config().data_dir))
    end_by_exit()
    try:
        with lease:
            RecordedUtility(argv).execute()
            # qcluster returns at once and continues in its children.
            for child in multiprocessing.active_children():
                child.join()
    except EmbeddedDatabaseError as error:
        sys.exit(f"The embedded database: {error}")
