"""Hubs to export, and an empty one to import into."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from apps.core.domain.scope import Scope, system_access
from apps.core.personal.export import encode_line, export_lines, permitted_export
from apps.core.personal.load import LoadReport, import_lines
from apps.core.personal.registry import personal_stores
from apps.core.personal.store import ExportRequest
from apps.episodic.models import Catalogue, Segment
from tests.caches import _forget as forget_caches
from tests.emptying import truncate

ACCESS = system_access("test")
EVERYBODY = Scope()
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def exported(scope: Scope = EVERYBODY, **fields: Any) -> bytes:
    """Return an export as a file."""
    asked = ExportRequest(scope, **fields)
    return b"".join(encode_line(line) for line in export_lines(asked, permitted_export(ACCESS, asked)))


def imported(file: bytes) -> LoadReport:
    """Import a file."""
    return import_lines(iter(file.splitlines(keepends=True)))


def empty_hub() -> None:
    """Remove everything that stores keep, files of the timeline included, as if the hub were a new one."""
    tables = {model._meta.db_table for store in personal_stores() for model in store.models}
    tables |= {model._meta.db_table for model in (Segment, Catalogue)}
    truncate(sorted(tables), "RESTART IDENTITY")
    forget_caches()


def kinds(file: bytes) -> Iterator[str]:
    """Yield the kind of each line."""
    for line in file.splitlines():
        yield line.split(b'"', 4)[3].decode()
