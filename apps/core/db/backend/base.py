"""Django's backend for PostgreSQL, with connections that are given up when the server hangs."""

from typing import Any

from django.db.backends.postgresql import base

from apps.core.db.watch import HangingError, database_watch


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the watch of this process may end."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open a connection, unless the server is known to hang."""
        watch = database_watch()
        try:
            return watch.open(lambda limits: super(DatabaseWrapper, self).get_new_connection({**limits, **conn_params}))
        except HangingError as error:
            raise self.Database.OperationalError(str(error)) from error
