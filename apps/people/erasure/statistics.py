"""What PostgreSQL keeps of columns to plan queries: samples of values, which stay when their rows are gone."""

from django.db import connection

from apps.core.personal.registry import personal_stores

# The first version that can clear the statistics of a table that is empty, which ANALYZE leaves alone.
CAN_CLEAR = 18_00_00


def statistics_refresh() -> None:
    """Have PostgreSQL sample the tables of personal data again, so that no value of deleted rows is left.

    Safe to repeat. Before version 18, values of a table that has become empty stay until it has rows again.
    """
    tables = sorted({model._meta.db_table for store in personal_stores() for model in store.models})
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        version = cursor.fetchone()[0]
        for table in tables:
            name = connection.ops.quote_name(table)
            cursor.execute(f"ANALYZE {name}")
            cursor.execute(f"SELECT EXISTS (SELECT FROM {name})")  # noqa: S608 - a table of a model
            if not cursor.fetchone()[0] and version >= CAN_CLEAR:
                cursor.execute(
                    """
                    SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
                    WHERE schemaname = current_schema() AND (tablename = %s OR tablename IN (
                        SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = %s))
                    """,
                    [table, table],
                )
