"""Sources with items, runs and conflicts for the pages of knowledge sync: a folder of files, really synced."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as hub
from pytest_django import Settings

from apps.core.domain.scope import system_access
from apps.sync.models import KnowledgeItem, KnowledgeSource, PointerConflict, SyncKind, SyncRun
from apps.sync.services import source_create, sync_run

ACCESS = system_access("test")
OWNER = "team:platform"
FILES = {
    "adr/0001-use-postgresql.md": """---
id: ADR-0001
type: adr
title: Use PostgreSQL
status: accepted
layer: company
constraints:
  - text: No other database in production
    severity: blocking
tags: [storage]
---
All services keep their data in PostgreSQL.
""",
    "adr/0002-use-sqlite.md": """---
id: ADR-0002
type: adr
title: Use <b>SQLite</b> at the edge
status: accepted
supersedes: [ADR-0003]
---
Devices keep their data in SQLite.
""",
    "adr/0003-use-files.md": """---
id: ADR-0003
type: adr
title: Use files at the edge
status: accepted
---
Devices keep their data in files.
""",
}
BROKEN = "---\nid: [\n---\nNot to be read.\n"


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    """A folder from which the hub may read knowledge."""
    config = hub.MEMORYHUB
    settings.MEMORYHUB = replace(config, sync=replace(config.sync, roots=(tmp_path,)))
    return tmp_path / "knowledge"


def write(folder: Path, path: str, text: str) -> None:
    """Write a file of a source."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def make_source(folder: Path, name: str = "platform", **values: Any) -> KnowledgeSource:
    """Create a source of a folder with three decisions, of which one supersedes another."""
    for path, text in FILES.items():
        write(folder, path, text)
    wanted = {"name": name, "user_id": OWNER, "kind": "folder", "location": str(folder), **values}
    return source_create(access=ACCESS, values=wanted)


def sync(source: KnowledgeSource, kind: SyncKind = SyncKind.INCREMENTAL) -> SyncRun:
    """Sync a source now."""
    return sync_run(access=ACCESS, uuid=source.uuid, kind=kind)


def make_conflict(folder: Path) -> PointerConflict:
    """Return a conflict that waits for a person: a pointer whose item is gone."""
    source = make_source(folder, resolutions={"orphaned_pointer": "manual"})
    sync(source)
    (folder / "adr/0001-use-postgresql.md").unlink()
    sync(source)
    return PointerConflict.objects.get()


def item(source: KnowledgeSource, item_id: str) -> KnowledgeItem:
    """Return an item as the last sync left it."""
    return KnowledgeItem.objects.get(source=source, item_id=item_id)
