"""Exports: the stores of the hub as lines of JSON, all as they were at one moment."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from apps.core.domain.errors import ForbiddenError, UnavailableError
from apps.core.domain.scope import Access, Permission
from apps.core.personal.registry import personal_stores
from apps.core.personal.store import ExportRequest, Line, SnapshotBrokenError

# Raised when a hub that knows only the one before could not read the lines.
FORMAT = 1
MAX_TRIES = 10
CHUNK_BYTES = 64 * 1024


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
    yield header(asked)
    counts: Counter[str] = Counter()
    for part in parts:
        for line in part:
            counts[line["kind"]] += 1
            yield line
    yield {"kind": "end", "lines": dict(counts), "complete": not damaged}


def header(asked: ExportRequest) -> Line:
    """Return the first line. It holds no time, so that two exports of equal hubs are equal."""
    return {
        "kind": "header",
        "format": FORMAT,
        "hub": str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        "asked": {**asked.scope.named(), **({"filter": asked.written} if asked.written else {})},
        "vectors": asked.with_vectors,
    }


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
