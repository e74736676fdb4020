"""The advisory locks of deliveries: a drain holds one on each delivery that it has claimed.

They belong to the session, so that they span the transaction that claims and the one that records, and end with
the connection, whatever happens to the process. PostgreSQL has room for 6,400 locks as installed
(max_locks_per_transaction x max_connections); a drain takes one for each delivery of its batch.
"""

from collections.abc import Iterable

from django.db import connection

# First key of two, with a delivery's id as the second. Different from the first key of all other pairs of the project.
DELIVERY_LOCKS = 0x6D68_6476
# Ids are wider than the second key. Of two that share a lock, one waits while another drain runs the other one.
_HOLD = "SELECT id FROM unnest(%s::bigint[]) AS id WHERE pg_try_advisory_lock(%s, (id %% 2147483647)::int)"
_RELEASE = "SELECT pg_advisory_unlock(%s, (id %% 2147483647)::int) FROM unnest(%s::bigint[]) AS id"


def try_hold_deliveries(ids: Iterable[int]) -> list[int]:
    """Return those of `ids` whose lock this session has obtained, in their order. Never waits.

    Locks that the session itself has are obtained once more, so hold no delivery twice.
    """
    wanted = list(ids)
    if not wanted:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [wanted, DELIVERY_LOCKS])
        held = {row[0] for row in cursor.fetchall()}
    return [delivery_id for delivery_id in wanted if delivery_id in held]


def release_deliveries(ids: list[int]) -> None:
    """Release locks that this session holds."""
    # A connection that broke has released its locks already.
    if ids and connection.is_usable():
        with connection.cursor() as cursor:
            cursor.execute(_RELEASE, [DELIVERY_LOCKS, ids])
