"""Snapshots of graphs on the disk: written aside, checked before they are read, two of each kept (DESIGN D9).

A snapshot is a cache: it is compared with the rows before it is used, so an old one costs time and never a wrong
result. The checksum matters all the same, because reading a damaged graph could end the process.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from apps.core.steps import Step, no_step
from apps.llm.selectors import EmbeddingSpace
from apps.retrieval.domain.vectors.graph import VectorGraph
from apps.retrieval.domain.vectors.graph_file import StoredRows, read_graph_rows

FORMAT_VERSION = 1
KEPT = 2
_CHUNK = 1 << 20
# Where a kill may interrupt `Snapshots.save`.
SAVE_STEPS = (
    "write", "sync", "rename", "write header", "sync header", "rename header", "sync directory", "tidy", "done"
)  # fmt: skip


class BadSnapshotError(Exception):
    """A snapshot cannot be used; the text is the reason in one word."""


@dataclass(frozen=True)
class SnapshotHeader:
    """The description of a graph file. version: of the user's memories, when the graph was built."""

    format_version: int
    model: str
    dimension: int
    user: str
    version: int
    count: int
    removed: list[int]
    size_bytes: int
    sha256: str


class LoadedSnapshot(NamedTuple):
    """The contents of a snapshot: the graph, its header, and its rows as they lie in the file."""

    graph: VectorGraph
    header: SnapshotHeader
    rows: StoredRows


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of one user's graph in one embedding space."""

    directory: Path
    model: str
    dimension: int
    user: str

    @classmethod
    def of(cls, user: str, space: EmbeddingSpace) -> "Snapshots":
        """Return those under `semantic-index/` in the data directory."""
        name = hashlib.sha256(json.dumps([user, space.model, space.dimension]).encode()).hexdigest()[:32]
        return cls(settings.SEMANTIC_INDEX_DIR / name, space.model, space.dimension, user)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Yield whether this process is the one that may write here, as long as the block runs.

        Where the disk supports no locks every process is: graphs in memory do not depend on snapshots.
        """
        with contextlib.ExitStack() as stack:
            try:
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = stack.enter_context((self.directory / "lock").open("w"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_ours = True
            except BlockingIOError:
                is_ours = False
            except OSError:
                is_ours = True
            yield is_ours

    def save(self, graph: VectorGraph, version: int, step: Step = no_step) -> Path:
        """Write a snapshot whole or not at all, and delete all but the newest two. Raises OSError.

        Within `exclusive`. step: called before each of SAVE_STEPS.
        """
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A number that no file has, not even a bad one: a process that reads that must not find another in its place.
        number = max((number_of(path) for path in self.directory.iterdir()), default=0) + 1
        graph_path, header_path = self.path_of(number, "graph"), self.path_of(number, "json")
        aside = graph_path.with_suffix(".part")
        step("write")
        graph.save(aside)
        step("sync")
        sync_to_disk(aside)
        size, digest = fingerprint(aside)
        header = SnapshotHeader(
            FORMAT_VERSION,
            self.model,
            self.dimension,
            self.user,
            version,
            len(graph),
            graph.removed_ids(),
            size,
            digest,
        )
        step("rename")
        aside.rename(graph_path)
        header_aside = header_path.with_name(f"{header_path.name}.part")
        step("write header")
        header_aside.write_text(json.dumps(asdict(header)))
        step("sync header")
        sync_to_disk(header_aside)
        step("rename header")
        header_aside.rename(header_path)
        step("sync directory")
        sync_to_disk(self.directory)
        step("tidy")
        self.tidy()
        step("done")
        return header_path

    def load(self, newer_than: int = -1) -> LoadedSnapshot | None:
        """Return the newest usable snapshot, and set bad ones aside.

        None without any, and when it is not newer than a version of the user's memories.
        """
        tried: set[Path] = set()
        # Listed again each time: while one is read, another process may write newer ones and delete it.
        while path := next((path for path in self.headers() if path not in tried), None):
            tried.add(path)
            try:
                return self._load(path, newer_than)
            except (BadSnapshotError, OSError, ValueError, TypeError, RuntimeError):
                for bad in (path, self.path_of(number_of(path), "graph")):
                    with contextlib.suppress(OSError):
                        bad.rename(bad.with_suffix(bad.suffix + ".bad"))
        return None

    def _load(self, header_path: Path, newer_than: int) -> LoadedSnapshot | None:
        header = SnapshotHeader(**json.loads(header_path.read_text()))
        expected = (FORMAT_VERSION, self.model, self.dimension, self.user)
        if (header.format_version, header.model, header.dimension, header.user) != expected:
            raise BadSnapshotError("mismatch")
        if header.version <= newer_than:
            return None
        path = self.path_of(number_of(header_path), "graph")
        if fingerprint(path) != (header.size_bytes, header.sha256):
            raise BadSnapshotError("checksum")
        rows = read_graph_rows(path, header.dimension)
        if sorted(header.removed) != sorted(rows.ids[rows.removed].tolist()):
            raise BadSnapshotError("removed")
        graph = VectorGraph.load(path, header.dimension, header.removed)
        if len(graph) != header.count:
            raise BadSnapshotError("count")
        return LoadedSnapshot(graph, header, rows)

    @property
    def exist(self) -> bool:
        """Return whether there are any."""
        return bool(self.headers())

    def headers(self) -> list[Path]:
        """Return the paths of the headers, the newest first."""
        return sorted(self.directory.glob("*.json"), key=number_of, reverse=True)

    def path_of(self, number: int, suffix: str) -> Path:
        """Return the path of a file."""
        return self.directory / f"{number:08}.{suffix}"

    def tidy(self) -> None:
        """Delete what is older than the newest two, good or bad, and what a cut-off save left. Within `exclusive`."""
        headers = self.headers()
        kept = {number_of(path) for path in headers[:KEPT]}
        bad = sorted(self.directory.glob("*.bad"), key=number_of, reverse=True)
        kept_bad = sorted({number_of(path) for path in bad}, reverse=True)[:KEPT]
        # A header is deleted before its graph, so that a reader of the one may expect the other.
        stale = [*headers[KEPT:], *self.directory.glob("*.graph"), *self.directory.glob("*.part")]
        stale += [path for path in bad if number_of(path) not in kept_bad]
        for path in stale:
            if number_of(path) not in kept:
                path.unlink(missing_ok=True)

    def drop_purged(self, purged_at: int) -> None:
        """Delete what may hold rows that were removed for good at a version. Within `exclusive`."""
        good = set()
        for path in self.headers():
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                if int(json.loads(path.read_text())["version"]) >= purged_at:
                    good.add(number_of(path))
        self._delete(path for path in self.directory.glob("[0-9]*") if number_of(path) not in good)

    def delete_all(self) -> None:
        """Delete all snapshots, bad ones as well."""
        self._delete(self.directory.glob("[0-9]*"))

    def _delete(self, paths: Iterable[Path]) -> None:
        for path in sorted(paths, reverse=True):  # headers first
            path.unlink(missing_ok=True)


def find_users_with_snapshots(space: EmbeddingSpace) -> list[str]:
    """List the users whose graphs are on the disk, those of the newest files first."""
    users: dict[str, float] = {}
    for path, snapshots in find_snapshots():
        if (snapshots.model, snapshots.dimension) == (space.model, space.dimension):
            with contextlib.suppress(OSError, TypeError):
                users[snapshots.user] = max(users.get(snapshots.user, 0.0), path.stat().st_mtime)
    return sorted(users, key=lambda user: -users[user])


def find_snapshots() -> Iterator[tuple[Path, Snapshots]]:
    """Yield every header that can be read, and the snapshots that it belongs to."""
    for path in settings.SEMANTIC_INDEX_DIR.glob("*/*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            header = json.loads(path.read_text())
            yield path, Snapshots(path.parent, header["model"], header["dimension"], header["user"])


def delete_snapshots_of_other_spaces(space: EmbeddingSpace) -> None:
    """Delete what no search will need any more. Raises OSError."""
    for _, snapshots in list(find_snapshots()):
        if (snapshots.model, snapshots.dimension) != (space.model, space.dimension):
            snapshots.delete_all()


def delete_snapshots(user: str) -> None:
    """Delete a user's snapshots in every embedding space. Raises OSError."""
    for space in EmbeddingSpace.objects.all():
        Snapshots.of(user, space).delete_all()


def snapshots_with(user: str) -> list[Path]:
    """Return the directories in which something says that it is a user's, good or bad. Raises OSError."""
    own = {Snapshots.of(user, space).directory for space in EmbeddingSpace.objects.all()}
    found = {directory for directory in own if directory.exists()}
    wanted = json.dumps(user)
    for path in settings.SEMANTIC_INDEX_DIR.glob("*/*.json*"):
        with contextlib.suppress(FileNotFoundError):
            if wanted in path.read_text(errors="replace"):
                found.add(path.parent)
    return sorted(found)


def snapshots_remove(user: str) -> None:
    """Remove every directory with snapshots of a user. Raises OSError."""
    for directory in snapshots_with(user):
        shutil.rmtree(directory)


def number_of(path: Path) -> int:
    """Return the number in the name of a file; 0 without one."""
    stem = path.name.split(".", 1)[0]
    return int(stem) if stem.isdigit() else 0


def fingerprint(path: Path) -> tuple[int, str]:
    """Return size and SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def sync_to_disk(path: Path) -> None:
    """Wait until a file or a directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
