"""Transactions that the trigger of the table lets change entries (migration 0002)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from django.db import connection, transaction


@contextmanager
def allow_changes(reason: Literal["forgetting", "retention"]) -> Iterator[None]:
    """Open a transaction in which entries may be emptied or deleted, inside a caller's until that block ends."""
    with transaction.atomic():
        set_reason(reason)
        yield
        set_reason("")


def set_reason(reason: str) -> None:
    """Say to the trigger why entries change, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('memoryhub.audit', %s, true)", [reason])
