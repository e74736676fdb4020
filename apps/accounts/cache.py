"""The cache that all web processes share: what limits count, and codes that were used (settings.CACHES)."""

from datetime import datetime
from typing import Any

from django.core.cache.backends.db import DatabaseCache


class CountsCache(DatabaseCache):
    """Django's cache in the database, which forgets nothing that still counts.

    Above MAX_ENTRIES Django's own drops the first third of the keys, used codes of second factors before all others:
    whoever tries from many addresses, or many names, would have the counts of everybody forgotten. What counts does so
    for ten minutes at most, so there is never more than what the hub answered in that time.
    """

    def _cull(self, db: str, cursor: Any, now: datetime, num: int) -> None:
        """Delete what has expired."""
        cursor.execute("DELETE FROM accounts_cachedvalue WHERE expires < %s", [now])
