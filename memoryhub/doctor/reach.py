"""Reaching the database for an examination, which goes on without it where that fails."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connections

from memoryhub.doctor.database import note_obstacle
from memoryhub.postgres.lease import DatabaseLease
from memoryhub.postgres.server import EmbeddedDatabase, EmbeddedDatabaseError


@contextmanager
def reached_database() -> Iterator[None]:
    """Start the embedded database where it exists and does not run, until the end of the block.

    What keeps it from starting is a finding.
    """
    config, database = settings.MEMORYHUB, EmbeddedDatabase(settings.MEMORYHUB.data_dir)
    if config.database_url or database.is_running():
        yield
        return
    if not (database.pgdata / "PG_VERSION").exists():
        yield  # as the examination of the database says
        return
    lease = DatabaseLease(database)
    try:
        lease.acquire()
    except EmbeddedDatabaseError as error:
        note_obstacle(str(error))
    try:
        yield
    finally:
        connections.close_all()
        lease.release()
