"""A repository that is synced commit by commit, and what its pointers have to be at each."""

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pygit2
from django.conf import settings
from django.db import transaction
from pygit2.enums import SortMode

from apps.core.domain.scope import system_access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.models import Memory, MemoryStatus
from apps.sync import services
from apps.sync.domain.items import derive_items
from apps.sync.domain.knowledge import Convention, KnowledgeItem, Layer, ParsedFile, ReadSettings, RefusedFile
from apps.sync.domain.readers.found import SKIPPED
from apps.sync.domain.readers.read import read_file
from apps.sync.models import KnowledgeSource, SyncKind, SyncRun
from apps.sync.repository.entries import FileEntry, SourceReader
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings
from apps.sync.runs.compare import basis_of
from apps.sync.runs.manifest import read_digest
from apps.sync.runs.pointers import pointer_draft

ACCESS = system_access("bench")
# All that a pointer says, without what differs from source to source.
Pointer = tuple[str, dict[str, Any], str, str, tuple[str, ...], float | None]


def pointers_of(source: KnowledgeSource) -> dict[str, Pointer]:
    """Return the active pointers of a source by the id of their item. Raises ValueError for two of one item."""
    found: dict[str, Pointer] = {}
    for memory in Memory.objects.filter(managed_by=source.manager, status=MemoryStatus.ACTIVE):
        item_id = str(memory.metadata["item_id"])
        if item_id in found:
            raise ValueError(f"{item_id} has two pointers")
        found[item_id] = as_pointer(memory)
    return found


def as_pointer(memory: Memory | MemoryDraft) -> Pointer:
    """Return a memory, or the draft of one, as it is compared."""
    metadata = {name: value for name, value in memory.metadata.items() if name != "item"}
    return memory.content, metadata, memory.type, memory.project, tuple(memory.keywords), memory.importance


@dataclass
class Oracle:
    """What a source has to be after a sync: of the whole tree at a commit, by the pure functions alone.

    parsed: by path, blob and settings. known: files as they were read last, which count while they cannot be read.
    remembered: paths of those that cannot be read now. unread: of those of which nothing is known either.
    """

    parsed: dict[tuple[str, str, str], ParsedFile | RefusedFile] = field(default_factory=dict)
    known: dict[str, ParsedFile] = field(default_factory=dict)
    remembered: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)

    def look(self, source: KnowledgeSource, commit: str) -> dict[str, KnowledgeItem]:
        """Return the items at a commit that was fetched already, by id."""
        before, self.known = self.known, {}
        self.remembered, self.unread = set(), set()
        with open_reader(SourceSettings.of(source)) as reader:
            for entry in reader.list(commit):
                found = entry if isinstance(entry, RefusedFile) else self.read(source, reader, entry)
                if isinstance(found, ParsedFile):
                    self.known[entry.path] = found
                elif found.code not in SKIPPED and entry.path in before:
                    self.known[entry.path] = before[entry.path]
                    self.remembered.add(entry.path)
                elif found.code not in SKIPPED:
                    self.unread.add(entry.path)
        return derive_items(self.known.values(), basis_of(source), remembered=self.remembered).items

    def read(self, source: KnowledgeSource, reader: SourceReader, entry: FileEntry) -> ParsedFile | RefusedFile:
        """Return a file as it is read, once for each content."""
        key = entry.path, entry.blob, read_digest(source)
        if key not in self.parsed:
            how = ReadSettings(Convention(source.convention), Layer(source.layer))
            self.parsed[key] = read_file(entry.path, reader.read(entry), how)
        return self.parsed[key]

    def pointers(self, source: KnowledgeSource, commit: str) -> dict[str, Pointer]:
        """Return what the pointers have to be at a commit."""
        items = self.look(source, commit)
        return {item_id: as_pointer(pointer_draft(source, item)) for item_id, item in items.items()}


def fresh_pointers(source: KnowledgeSource) -> dict[str, Pointer]:
    """Return the pointers that a full sync of a new source of the same name and settings makes; nothing of it stays."""
    with transaction.atomic():
        KnowledgeSource.objects.filter(pk=source.pk).update(name="aside")
        names = (
            "name", "user_id", "project", "kind", "location", "branch", "folder", "include", "exclude", "layer",
            "convention",
        )  # fmt: skip
        fresh = services.source_create(access=ACCESS, values={name: getattr(source, name) for name in names})
        services.sync_run(access=ACCESS, uuid=fresh.uuid, kind=SyncKind.FULL, allow_empty=True)
        found = pointers_of(fresh)
        transaction.set_rollback(True)
    return found


def differences(found: dict[str, Pointer], wanted: dict[str, Pointer]) -> list[str]:
    """Return the ids whose pointers are not as they have to be, in order."""
    return sorted(key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key))


@dataclass
class Walk:
    """The way of a branch through the commits of a bundle, the oldest first; each `go` is a push and a sync."""

    repository: pygit2.Repository
    commits: list[str]
    source: KnowledgeSource
    oracle: Oracle = field(default_factory=Oracle)

    @classmethod
    def begin(cls, bundle: Path, place: Path, include: Sequence[str] = ()) -> "Walk":
        """Clone a bundle into a folder below the roots, and create a source of it. Needs git."""
        path = place / "walked.git"
        subprocess.run(["git", "clone", "--bare", "-q", str(bundle), str(path)], check=True, capture_output=True)
        repository = pygit2.Repository(str(path))
        (branch,) = repository.branches.local
        last = cast("pygit2.Oid", repository.references[f"refs/heads/{branch}"].target)
        commits = [str(one.id) for one in repository.walk(last, SortMode.TOPOLOGICAL | SortMode.REVERSE)]
        repository.set_head("refs/heads/walked")
        values = {"name": "walked", "user_id": "team:walk", "kind": "git", "location": str(path), "branch": "walked"}
        source = services.source_create(access=ACCESS, values={**values, "include": list(include)})
        return cls(repository, commits, source)

    def go(self, commit: str, kind: SyncKind = SyncKind.INCREMENTAL) -> SyncRun:
        """Move the branch to a commit, and sync."""
        self.repository.references.create("refs/heads/walked", pygit2.Oid(hex=commit), force=True)
        return services.sync_run(access=ACCESS, uuid=self.source.uuid, kind=kind)

    def wrong(self, commit: str) -> list[str]:
        """Return the ids of items whose pointers are not those of the whole tree at the commit."""
        return differences(pointers_of(self.source), self.oracle.pointers(self.source, commit))


@contextmanager
def sync_folders(place: Path) -> Iterator[None]:
    """Keep copies of repositories in a folder of its own, below which sources may lie, during the block."""
    before = settings.SYNC_DIR, settings.MEMORYHUB
    settings.SYNC_DIR = place / "copies"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(place,)))
    try:
        yield
    finally:
        settings.SYNC_DIR, settings.MEMORYHUB = before


def measure_walk(bundle: Path, place: Path, every: int) -> dict[str, Any]:
    """Sync every n-th commit of a bundle, and compare each time. Return figures, with the commits that were wrong."""
    with sync_folders(place):
        walk = Walk.begin(bundle, place)
        chosen = walk.commits[::every]
        seconds, wrong, runs = [], {}, []
        for commit in chosen:
            began = time.perf_counter()
            runs.append(walk.go(commit))
            seconds.append(time.perf_counter() - began)
            if found := walk.wrong(commit):
                wrong[commit] = found[:5]
        began = time.perf_counter()
        fresh = fresh_pointers(walk.source)
        fresh_seconds = time.perf_counter() - began
        is_equal = not differences(pointers_of(walk.source), fresh)
    later = sorted(seconds[1:]) or seconds
    return {
        "commits": len(chosen),
        "items": len(fresh),
        "wrong": wrong,
        "equals_fresh_full_sync": is_equal,
        "states": sorted({str(run.state) for run in runs}),
        "failed_files": {one["path"]: one["code"] for one in runs[-1].failed_items},
        "changed_pointers": sum(run.added + run.updated + run.deleted for run in runs[1:]),
        "first_full_seconds": round(seconds[0], 2),
        "incremental_p50_ms": round(later[len(later) // 2] * 1000),
        "incremental_p95_ms": round(later[len(later) * 95 // 100] * 1000),
        "last_full_seconds": round(fresh_seconds, 2),
        "total_seconds": round(sum(seconds), 1),
    }
