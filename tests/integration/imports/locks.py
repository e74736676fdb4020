"""Another process that works on an import."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

from apps.imports.models import Import
from apps.imports.running.run import IMPORT_LOCKS


@contextmanager
def worked_on(record: Import) -> Iterator[None]:
    """Hold the lock of an import in a session of its own."""
    parameters = connection.get_connection_params()
    wanted = {name: parameters[name] for name in ("host", "port", "user", "password", "dbname") if parameters.get(name)}
    with psycopg.connect(**wanted, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [IMPORT_LOCKS, record.pk])
        yield
