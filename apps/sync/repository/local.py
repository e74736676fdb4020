"""Copying from a repository on this machine: history, trees, and the files that the source wants.

In this process, since it takes milliseconds where another process takes 200. Object by object, and not by the local
transport of libgit2, which would load files of any size and fail as a whole where one object is damaged.
"""

import time
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType, SortMode

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.domain.paths import Wanted, path_problem
from apps.sync.repository.entries import OBJECT_DAMAGED, TOO_LARGE
from apps.sync.repository.library import GIT_ERRORS
from apps.sync.repository.mirror import known_heads
from apps.sync.repository.source import ReadLimits
from apps.sync.repository.trees import LINK, SUBMODULE, TreeEntry, Trees, read_blob, root_of

MAX_COMMIT_BYTES = 1_000_000


class LocalCopy:
    """One copying into a mirror. left_out: the files that were too large or damaged, by object."""

    def __init__(
        self,
        origin: pygit2.Repository,
        mirror: pygit2.Repository,
        wanted: Wanted,
        limits: ReadLimits,
        left_out: dict[str, RefusedFile],
    ) -> None:
        self.origin, self.mirror = origin, mirror
        self.wanted, self.limits = wanted, limits
        self.left_out = dict(left_out)
        self._trees = Trees(origin, limits.files)
        self._others = dict[pygit2.Oid, None]()
        self._files = dict[pygit2.Oid, None]()
        self._bytes = 0
        self._deadline = time.monotonic() + limits.fetch_seconds

    def copy(self, commit: pygit2.Oid) -> None:
        """Copy a commit with its history. Raises KnowledgeUnavailableError by the limits, or when it is damaged."""
        self._retry_damaged()
        if commit not in self.mirror:
            self._add_history(commit)
        if self._others or self._files:
            self._write()

    def _retry_damaged(self) -> None:
        for oid, refused in list(self.left_out.items()):
            if refused.code == OBJECT_DAMAGED:
                del self.left_out[oid]
                self._add_file(pygit2.Oid(hex=oid))

    def _add_history(self, head: pygit2.Oid) -> None:
        try:
            walker = self.origin.walk(head, SortMode.NONE)
            for known in known_heads(self.mirror):
                if known in self.origin:
                    walker.hide(known)
            commits = [(one.id, one.tree_id.raw, one.parent_ids[:1]) for one in self._checked(walker)]
        except GIT_ERRORS as error:
            raise KnowledgeUnavailableError(
                "The history of the repository is damaged: repair it (git fsck), or clone it again."
            ) from error
        for oid, tree, parents in commits:
            self._check_time()
            self._trees.begin()
            try:
                self._add_tree(tree, self._root_of_parent(parents))
            except KnowledgeUnavailableError:
                if oid == head:
                    raise
            self._others[oid] = None

    def _checked(self, walker: pygit2.Walker) -> list[pygit2.Commit]:
        found = []
        for commit in walker:
            self._check_time()
            self._count(self.origin.odb.read_header(commit.id)[1], limit=MAX_COMMIT_BYTES)
            found.append(commit)
        return found

    def _root_of_parent(self, parents: list[pygit2.Oid]) -> bytes | None:
        """Return the tree of the first parent as far as it can be read: what is equal there was copied with it."""
        try:
            tree = root_of(self.origin, parents[0]) if parents else None
            return tree if tree and self._trees.read(tree) else None
        except (*GIT_ERRORS, KnowledgeUnavailableError):
            return None

    def _add_tree(self, tree: bytes, former: bytes | None) -> None:
        """Add what differs from a former tree, from the folder of the source downwards."""
        prefix = b""
        for name in (*(folder.encode() for folder in self.wanted.folders), None):
            if tree == former:
                return
            self._add_other(tree)
            if name is None:
                break
            inner = self._trees.find(tree, name)
            if inner is None or not inner.is_tree:
                return
            before = self._trees.find(former, name) if former else None
            tree, former = inner.id, before.id if before and before.is_tree else None
            prefix += name + b"/"
        for path, entry in self._trees.changes(former, tree, prefix):
            if entry is not None:
                self._add_entry(path, entry)

    def _add_entry(self, path: bytes, entry: TreeEntry) -> None:
        if entry.is_tree:
            self._add_other(entry.id)
        elif entry.mode not in {LINK, SUBMODULE} and path_problem(path) is None and self.wanted.has(path.decode()):
            self._add_file(entry.oid)

    def _add_other(self, tree: bytes) -> None:
        oid = pygit2.Oid(raw=tree)
        if oid not in self._others and oid not in self.mirror:
            self._others[oid] = None
            self._count(self._trees.size(oid))

    def _add_file(self, oid: pygit2.Oid) -> None:
        if oid in self._files or str(oid) in self.left_out or oid in self.mirror:
            return
        try:
            kind, size = self.origin.odb.read_header(oid)
        except GIT_ERRORS:
            kind, size = ObjectType.ANY, 0
        if kind != ObjectType.BLOB:
            self._leave_out(oid, OBJECT_DAMAGED, "Its object is missing or damaged: repair the repository (git fsck).")
        elif size > self.limits.file_bytes:
            self._leave_out(oid, TOO_LARGE, too_large(size, self.limits.file_bytes))
        else:
            self._files[oid] = None
            self._count(size)

    def _leave_out(self, oid: pygit2.Oid, code: str, detail: str) -> None:
        self.left_out[str(oid)] = RefusedFile(path="", code=code, detail=detail)

    def _write(self) -> None:
        try:
            self._pack()
        except GIT_ERRORS:
            self._leave_out_damaged()
            try:
                self._pack()
            except GIT_ERRORS as error:
                raise KnowledgeUnavailableError(
                    "The repository cannot be copied: it is damaged (git fsck), or the disk is full."
                ) from error

    def _pack(self) -> None:
        builder = pygit2.PackBuilder(self.origin)
        for oid in (*self._others, *self._files):
            builder.add(oid)
        builder.write(Path(self.mirror.path) / "objects" / "pack")

    def _leave_out_damaged(self) -> None:
        for oid in list(self._files):
            self._check_time()
            try:
                read_blob(self.origin, oid, max_bytes=self.limits.file_bytes)
            except GIT_ERRORS:
                del self._files[oid]
                detail = "Its object is missing or damaged: repair the repository (git fsck)."
                self._leave_out(oid, OBJECT_DAMAGED, detail)

    def _count(self, size: int, *, limit: int | None = None) -> None:
        self._bytes += size
        if self._bytes > self.limits.total_bytes or (limit is not None and size > limit):
            raise KnowledgeUnavailableError(
                f"The history of the files has more than {self.limits.total_bytes // 1_000_000} MB: name the folder "
                "that holds the knowledge, or raise MEMORYHUB_SYNC_MAX_MB."
            )

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise KnowledgeUnavailableError(
                f"The repository could not be copied within {self.limits.fetch_seconds:g} seconds "
                "(MEMORYHUB_SYNC_FETCH_SECONDS)."
            )


def too_large(size: int, limit: int) -> str:
    """Return why a file of this size is refused."""
    return f"It has {size:,} bytes; MEMORYHUB_SYNC_MAX_FILE_KB allows {limit:,}."
