"""Exports: the stores of the hub as lines of JSON, all as they were at one moment; and their filters, by store."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.errors import ForbiddenError, UnavailableError
from apps.core.domain.filters.expression import Expression
from apps.core.domain.filters.parse import FilterError, parse_filter
from apps.core.domain.scope import Access, Permission
from apps.core.personal.registry import personal_stores
from apps.core.personal.store import ExportRequest, Line, SnapshotBrokenError

# Raised when a hub that knows only the one before could not read the lines.
FORMAT = 1
MAX_TRIES = 10
CHUNK_BYTES = 64 * 1024
MAX_FILTER_CHARS = 8_000


def permitted_export(access: Access, asked: ExportRequest) -> ExportRequest | None:
    """Return what a caller may export of what it asks for; None for nothing.

    Raises ForbiddenError when a key that is not the operator's asks for the hub as a whole.
    """
    scope = access.for_read(asked.scope)
    if scope is None:
        return None
    is_operator = access.allows(Permission.OPERATOR)
    if not is_operator and not scope.named():
        raise ForbiddenError("Only an operator key may export everything: name a user.", attr="user_id")
    return replace(asked, scope=scope, is_operator=is_operator)


def export_lines(asked: ExportRequest, permitted: ExportRequest | None) -> Iterator[Line]:
    """Yield the header, the lines of every store, and the end. See `permitted_export`.

    Raises UnavailableError when something that is read breaks on the way; what was yielded until then has no end.
    """
    for _ in range(MAX_TRIES):
        is_begun = False
        try:
            with snapshot():
                for line in snapshot_lines(asked, permitted):
                    is_begun = True
                    yield line
                return
        except SnapshotBrokenError as error:
            broken = error
        broken.settle()
        if is_begun:
            break
    raise UnavailableError("The export could not be read to its end. Try again.", code="export_broken")


def snapshot_lines(asked: ExportRequest, permitted: ExportRequest | None) -> Iterator[Line]:
    """Yield the lines of the current transaction's snapshot. Raises SnapshotBrokenError."""
    stores = personal_stores() if permitted is not None else []
    parts = [store.export(permitted) for store in stores if permitted is not None]
    damaged = sum(store.count_damaged(permitted) for store in stores if permitted is not None)
    yield {
        "kind": "header",
        "format": FORMAT,
        "hub": str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        "asked": {**asked.scope.named(), **({"filter": asked.written} if asked.written else {})},
        "vectors": asked.with_vectors,
    }
    counts: Counter[str] = Counter()
    for part in parts:
        for line in part:
            counts[line["kind"]] += 1
            yield line
    yield {"kind": "end", "lines": dict(counts), "complete": not damaged}


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one moment of the database until the block ends. Inside a transaction it is what that one sees."""
    is_own = not connection.in_atomic_block
    with transaction.atomic():
        if is_own:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def encode_line(line: Any) -> bytes:
    """Return a line of a file."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def encode_chunks(lines: Iterator[Line]) -> Iterator[bytes]:
    """Yield lines together, in chunks of about CHUNK_BYTES."""
    parts: list[bytes] = []
    size = 0
    for line in lines:
        parts.append(encode_line(line))
        size += len(parts[-1])
        if size >= CHUNK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def parse_filters(text: str) -> tuple[dict[str, Any], Mapping[str, Expression]]:
    """Return the filters of stores as they are written, and as expressions. text: a JSON object. Raises FilterError."""
    if len(text) > MAX_FILTER_CHARS:
        raise FilterError(f"Expected JSON of at most {MAX_FILTER_CHARS} characters.", attr="filter")
    try:
        written = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FilterError("Expected a JSON object.", attr="filter") from error
    fields = {store.name: store.filter_fields for store in personal_stores() if store.filter_fields is not None}
    if not isinstance(written, dict) or not written.keys() <= fields.keys():
        raise FilterError(f"Expected an object with filters for {' or '.join(fields)}.", attr="filter")
    filters = {name: parse_filter(asked, fields[name], f"filter.{name}") for name, asked in written.items()}
    return written, filters
