"""Graphs of large shards on disk: written aside, checked before they are read, two of each kept (DESIGN D9).

A file is a cache: what it says is held against the rows before it is used, so an old one costs time and never an
answer. The checksum matters all the same, because reading a damaged graph could end the process.
"""

import contextlib
import fcntl
import hashlib
import json
import os
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
# Where writing one may end for good.
SAVE_STEPS = (
    "write", "sync", "rename", "write header", "sync header", "rename header", "sync directory", "tidy", "done"
)  # fmt: skip


class BadSnapshotError(Exception):
    """A file that cannot be used, and why in one word."""


@dataclass(frozen=True)
class Header:
    """What a snapshot says about its graph. user: whose memories. version: of the user's memories, when it was made."""

    format_version: int
    model: str
    dimension: int
    user: str
    version: int
    count: int
    removed: list[int]
    size_bytes: int
    sha256: str


class Loaded(NamedTuple):
    """What a snapshot holds: the graph, what is said of it, and its rows as they lie in the file."""

    graph: VectorGraph
    header: Header
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
        """Where they lie, under `semantic-index/` in the data directory."""
        name = hashlib.sha256(json.dumps([user, space.model, space.dimension]).encode()).hexdigest()[:32]
        return cls(settings.SEMANTIC_INDEX_DIR / name, space.model, space.dimension, user)

    def save(self, graph: VectorGraph, version: int, step: Step = no_step) -> Path:
        """Write a snapshot whole or not at all, and drop all but the newest two. Raises OSError.

        Within `exclusive`. step: is told before each of SAVE_STEPS.
        """
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = self._next_number()
        graph_path, header_path = self._graph(number), self._header(number)
        aside = graph_path.with_suffix(".part")
        step("write")
        graph.save(aside)
        step("sync")
        _sync(aside)
        size, digest = _fingerprint(aside)
        header = Header(
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
        _write_header(header_path, json.dumps(asdict(header)), step)
        step("tidy")
        self.tidy()
        step("done")
        return header_path

    def load(self, newer_than: int = -1) -> Loaded | None:
        """The newest graph that can be used; what cannot is set aside.

        None without any, and when it is not newer than a version of the user's memories.
        """
        tried: set[Path] = set()
        # Looked for anew each time: while one is read, another process may write newer ones and drop it.
        while path := next((path for path in self._headers() if path not in tried), None):
            tried.add(path)
            try:
                return self._load(path, newer_than)
            except (BadSnapshotError, OSError, ValueError, TypeError, RuntimeError):
                self._set_aside(path)
        return None

    @property
    def exist(self) -> bool:
        """Whether there is any."""
        return bool(self._headers())

    def tidy(self) -> None:
        """Remove what is older than the newest two, and what was left of writing one. Within `exclusive`."""
        headers = self._headers()
        kept = {_number(path) for path in headers[:KEPT]}
        # A header goes before its graph, so that whoever sees one may expect the other.
        stale = [*headers[KEPT:], *self.directory.glob("*.graph"), *self.directory.glob("*.part"), *self._oldest_bad()]
        for path in stale:
            if _number(path) not in kept:
                path.unlink(missing_ok=True)

    def _load(self, header_path: Path, newer_than: int) -> Loaded | None:
        header = Header(**json.loads(header_path.read_text()))
        expected = (FORMAT_VERSION, self.model, self.dimension, self.user)
        if (header.format_version, header.model, header.dimension, header.user) != expected:
            raise BadSnapshotError("mismatch")
        if header.version <= newer_than:
            return None
        path = self._graph(_number(header_path))
        if _fingerprint(path) != (header.size_bytes, header.sha256):
            raise BadSnapshotError("checksum")
        rows = read_graph_rows(path, header.dimension)
        if sorted(header.removed) != sorted(rows.ids[rows.removed].tolist()):
            raise BadSnapshotError("removed")
        graph = VectorGraph.load(path, header.dimension, header.removed)
        if len(graph) != header.count:
            raise BadSnapshotError("count")
        return Loaded(graph, header, rows)

    def _headers(self) -> list[Path]:
        """The newest first."""
        return sorted(self.directory.glob("*.json"), key=_number, reverse=True)

    def _graph(self, number: int) -> Path:
        return self.directory / f"{number:08}.graph"

    def _header(self, number: int) -> Path:
        return self.directory / f"{number:08}.json"

    def drop_purged(self, purged_at: int) -> None:
        """Remove what may hold rows that were removed for good at that version. Within `exclusive`."""
        good = {_number(path) for path in self._headers() if _version(path) >= purged_at}
        self._remove(path for path in self.directory.glob("[0-9]*") if _number(path) not in good)

    def forget(self) -> None:
        """Remove all of them."""
        self._remove(self.directory.glob("[0-9]*"))

    def _remove(self, paths: Iterable[Path]) -> None:
        for path in sorted(paths, reverse=True):  # headers first
            path.unlink(missing_ok=True)

    def _next_number(self) -> int:
        """One that no file has, be it a bad one: whoever reads that must not find another in its place."""
        return max((_number(path) for path in self.directory.iterdir()), default=0) + 1

    def _oldest_bad(self) -> list[Path]:
        """What was set aside, but for the newest two."""
        bad = sorted(self.directory.glob("*.bad"), key=_number, reverse=True)
        kept = sorted({_number(path) for path in bad}, reverse=True)[:KEPT]
        return [path for path in bad if _number(path) not in kept]

    def _set_aside(self, header_path: Path) -> None:
        for path in (header_path, self._graph(_number(header_path))):
            with contextlib.suppress(OSError):
                path.rename(path.with_suffix(path.suffix + ".bad"))

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Whether this process is the one that writes here, as long as the block runs.

        Where the disk takes no lock everybody is: graphs in memory do not depend on it.
        """
        with contextlib.ExitStack() as stack:
            try:
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = stack.enter_context((self.directory / "lock").open("w"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                mine = True
            except BlockingIOError:
                mine = False
            except OSError:
                mine = True
            yield mine


def find_users_with_snapshots(space: EmbeddingSpace) -> list[str]:
    """Whose graphs lie on the disk, those of the newest files first."""
    users: dict[str, float] = {}
    for path, snapshots in _on_disk():
        if (snapshots.model, snapshots.dimension) == (space.model, space.dimension):
            with contextlib.suppress(OSError, TypeError):
                users[snapshots.user] = max(users.get(snapshots.user, 0.0), path.stat().st_mtime)
    return sorted(users, key=lambda user: -users[user])


def delete_snapshots_of_other_spaces(space: EmbeddingSpace) -> None:
    """Remove what no search will ask for any more. Raises OSError."""
    for _, snapshots in list(_on_disk()):
        if (snapshots.model, snapshots.dimension) != (space.model, space.dimension):
            snapshots.forget()


def _on_disk() -> Iterator[tuple[Path, Snapshots]]:
    """Every header that can be read, and the snapshots that it belongs to."""
    for path in settings.SEMANTIC_INDEX_DIR.glob("*/*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            header = json.loads(path.read_text())
            yield path, Snapshots(path.parent, header["model"], header["dimension"], header["user"])


def delete_snapshots(user: str) -> None:
    """Remove what the disk holds of a user's graphs, in every embedding space. Raises OSError."""
    for space in EmbeddingSpace.objects.all():
        Snapshots.of(user, space).forget()


def _version(header_path: Path) -> int:
    """-1 where it says none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(header_path.read_text())["version"])
    return -1


def _number(path: Path) -> int:
    stem = path.name.split(".", 1)[0]
    return int(stem) if stem.isdigit() else 0


def _fingerprint(path: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_header(path: Path, text: str, step: Step) -> None:
    aside = path.with_name(f"{path.name}.part")
    step("write header")
    aside.write_text(text)
    step("sync header")
    _sync(aside)
    step("rename header")
    aside.rename(path)
    step("sync directory")
    _sync(path.parent)
