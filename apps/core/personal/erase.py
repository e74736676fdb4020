"""What stores need to forget a person: deletion in parts, and texts that name someone."""

import re
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

ROWS_AT_ONCE = 1_000


def delete_in_parts(rows: QuerySet[Any], at_once: int = ROWS_AT_ONCE) -> Iterator[int]:
    """Delete rows that no other rows refer to, each part in a transaction of its own; yield how many after each."""
    chosen = rows.model._default_manager
    while True:
        with transaction.atomic():
            keys = list(rows.order_by("pk").values_list("pk", flat=True)[:at_once])
            part = chosen.filter(pk__in=keys)
            part._raw_delete(part.db)
        if not keys:
            return
        yield len(keys)


def naming(user_id: str) -> str:
    """Return a pattern for PostgreSQL that finds an id as a whole word of a text."""
    escaped = re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", user_id)
    return f"(^|[^[:alnum:]_@-]){escaped}([^[:alnum:]_@-]|$)"


def names_user(value: Any, user_id: str) -> bool:
    """Return whether a structure holds a text that names a user as a whole word. Names of fields do not count."""
    if isinstance(value, str):
        return re.search(rf"(?<![\w@-]){re.escape(user_id)}(?![\w@-])", value) is not None
    if isinstance(value, dict):
        return any(names_user(item, user_id) for item in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(names_user(item, user_id) for item in value)
    return False
