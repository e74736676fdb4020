"""The configuration files of the embedded PostgreSQL, written again at each start."""

import os
from collections.abc import Iterable
from pathlib import Path

from memoryhub.postgres.accounts import Account

DATABASE = "memoryhub"
ROLE = "memoryhub"
SUPERUSER = "postgres"
IDENT_MAP = "memoryhub"
INCLUDE_LINE = "include 'memoryhub.conf'"

_SETTINGS = """\
# Written by MemoryHub at each start; put your own settings below the include line of postgresql.conf.
listen_addresses = ''
port = 5432
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 192MB
work_mem = 8MB
maintenance_work_mem = 128MB
max_wal_size = 512MB
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
fsync = {durable}
full_page_writes = {durable}

# Logs: what the server does, never what people store.
logging_collector = on
log_directory = 'log'
log_filename = 'postgresql-%Y%m%d-%H%M%S.log'
log_file_mode = 0600
log_rotation_size = 10MB
log_rotation_age = 7d
log_statement = none
log_min_error_statement = panic
log_min_duration_statement = -1
log_error_verbosity = terse
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_connections = ''
log_disconnections = off
log_checkpoints = off
"""


def write_configuration(pgdata: Path, account: Account, *, owners: Iterable[str], durable: bool) -> None:
    """Write settings, access rules and the map of system accounts into `pgdata`, for `account` to read.

    owners: names of the system accounts that may connect (as any database role); no other may.
    """
    replace_file(pgdata / "memoryhub.conf", account, _SETTINGS.format(durable="on" if durable else "off"))
    replace_file(pgdata / "pg_hba.conf", account, f"local all all peer map={IDENT_MAP}\n")
    lines = [f'{IDENT_MAP} "{owner}" {role}\n' for owner in owners for role in (ROLE, SUPERUSER)]
    replace_file(pgdata / "pg_ident.conf", account, "".join(lines))


def replace_file(path: Path, account: Account, text: str) -> None:
    """Write a new file: never through a link that a process with the server's rights created there."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        if os.geteuid() != account.uid:
            os.fchown(descriptor, account.uid, account.gid)
