"""Copying from a repository on this machine: history, trees, and the files that the source wants.

In this process, since it takes milliseconds where another process takes 200. Object by object, and not by the local
transport of libgit2, which would load files of any size and fail as a whole where one object is damaged.
"""

import time
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.domain.paths import Wanted, path_problem
from apps.sync.repository.entries import OBJECT_DAMAGED, TOO_LARGE
from apps.sync.repository.library import GIT_ERRORS
from apps.sync.repository.loose import LooseObjects
from apps.sync.repository.places import object_folders, read_shallow
from apps.sync.repository.source import ReadLimits, too_large, too_many_files
from apps.sync.repository.trees import EMPTY_TREE, LINK, SUBMODULE, TreeEntry, Trees, read_blob, root_of

MAX_COMMIT_BYTES = 1_000_000
# A pack of at most so many bytes is written at once; between two of them the time is checked.
BATCH_BYTES = 16_000_000
# In `left_out`: a tree of which not all could be copied, so that later ones are not compared with it.
INCOMPLETE = "incomplete"
DAMAGED = "Its object is missing or damaged: repair the repository (git fsck)."


class LocalCopy:
    """One copying into a mirror. left_out: files that are too large or damaged, and trees, by object."""

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
        self._loose = LooseObjects(object_folders(Path(origin.path)))
        self._trees = Trees(origin, limits.files, self._loose.check)
        # By size in bytes.
        self._commits = dict[pygit2.Oid, int]()
        self._folders = dict[pygit2.Oid, int]()
        self._files = dict[pygit2.Oid, int]()
        self._bytes = 0
        self._deadline = time.monotonic() + limits.fetch_seconds

    def copy(self, commit: pygit2.Oid) -> None:
        """Copy a commit with its history. Raises KnowledgeUnavailableError by the limits, or when it is damaged."""
        for oid, refused in list(self.left_out.items()):
            if refused.code == OBJECT_DAMAGED:
                del self.left_out[oid]
                self._add_file(pygit2.Oid(hex=oid))
        if commit not in self.mirror:
            self._add_history(commit)
        # The commits come last: one that is there has all that belongs to it.
        self._write({**self._folders, **self._files, **self._commits})

    def _add_history(self, head: pygit2.Oid) -> None:
        for commit in self._new_commits(head):
            self._check_time()
            self._trees.begin()
            tree = commit.tree_id
            try:
                self._add_tree(tree.raw, self._root_of_parent(commit.parent_ids[:1]))
            except KnowledgeUnavailableError:
                if commit.id == head:
                    raise
                self._leave_out(tree, INCOMPLETE, "")

    def _new_commits(self, head: pygit2.Oid) -> list[pygit2.Commit]:
        """Return the commits that the mirror does not have, parents first.

        Not walked by libgit2, which would read objects that were not checked. A commit of the mirror has its history.
        """
        commits, found = dict[pygit2.Oid, pygit2.Commit](), list[pygit2.Commit]()
        ends = frozenset(read_shallow(Path(self.origin.path)).decode().split())
        waiting = [(head, False)]
        while waiting:
            self._check_time()
            oid, has_parents = waiting.pop()
            if has_parents:
                found.append(commits[oid])
                _, size = self.origin.odb.read_header(oid)
                self._commits[oid] = size
                self._count(size, limit=MAX_COMMIT_BYTES)
            elif oid not in commits and oid not in self.mirror:
                commits[oid] = commit = self._commit(oid)
                waiting.append((oid, True))
                waiting += [] if str(oid) in ends else [(parent, False) for parent in commit.parent_ids]
        return found

    def _commit(self, oid: pygit2.Oid) -> pygit2.Commit:
        try:
            self._loose.check(oid)
            found = self.origin[oid]
            if isinstance(found, pygit2.Commit):
                return found
            raise ValueError("no commit")
        except GIT_ERRORS as error:
            raise KnowledgeUnavailableError(
                "The history of the repository is damaged: repair it (git fsck), or clone it again."
            ) from error

    def _root_of_parent(self, parents: list[pygit2.Oid]) -> bytes | None:
        """Return the tree of the first parent if all of it was copied: what is equal there is not copied again."""
        try:
            if not parents:
                return None
            self._loose.check(parents[0])
            tree = root_of(self.origin, parents[0])
            if str(pygit2.Oid(raw=tree)) in self.left_out:
                return None
            self._trees.read(tree)
        except (*GIT_ERRORS, KnowledgeUnavailableError):
            return None
        return tree

    def _add_tree(self, tree: bytes, former: bytes | None) -> None:
        """Add what differs from a former tree, from the folder of the source downwards."""
        prefix = b""
        for name in (*(folder.encode() for folder in self.wanted.folders), None):
            if tree == former:
                return
            self._add_folder(tree)
            if name is None:
                break
            inner = self._trees.find(tree, name)
            if inner is None or not inner.is_tree:
                return
            before = self._trees.find(former, name) if former else None
            tree, former = inner.id, before.id if before and before.is_tree else None
            prefix += name + b"/"
        files = 0
        for path, entry in self._trees.changes(former, tree, prefix):
            if entry is not None and entry.is_tree:
                self._add_folder(entry.id)
            elif entry is not None and self._is_wanted(path, entry):
                files += 1
                if files > self.limits.files:
                    raise too_many_files(self.limits.files)
                self._add_file(entry.oid)

    def _is_wanted(self, path: bytes, entry: TreeEntry) -> bool:
        is_file = entry.mode not in {LINK, SUBMODULE}
        return is_file and path_problem(path) is None and self.wanted.has(path.decode())

    def _add_folder(self, tree: bytes) -> None:
        oid = pygit2.Oid(raw=tree)
        if tree != EMPTY_TREE and oid not in self._folders and oid not in self.mirror:
            size = self._trees.size(oid)
            self._folders[oid] = size
            self._count(size)

    def _add_file(self, oid: pygit2.Oid) -> None:
        if oid in self._files or str(oid) in self.left_out or oid in self.mirror:
            return
        try:
            kind, size = self.origin.odb.read_header(oid)
        except GIT_ERRORS:
            kind, size = ObjectType.ANY, 0
        if kind != ObjectType.BLOB:
            self._leave_out(oid, OBJECT_DAMAGED, DAMAGED)
        elif size > self.limits.file_bytes:
            self._leave_out(oid, TOO_LARGE, too_large(size, self.limits.file_bytes))
        else:
            self._files[oid] = size
            self._count(size)

    def _leave_out(self, oid: pygit2.Oid, code: str, detail: str) -> None:
        self.left_out[str(oid)] = RefusedFile(path="", code=code, detail=detail)

    def _write(self, objects: dict[pygit2.Oid, int]) -> None:
        """Write objects as packs, without the files that turn out to be damaged."""
        batch, size = list[pygit2.Oid](), 0
        for oid, length in objects.items():
            batch.append(oid)
            size += length
            if size > BATCH_BYTES:
                self._pack(batch)
                batch, size = [], 0
        self._pack(batch)

    def _pack(self, batch: list[pygit2.Oid]) -> None:
        self._check_time()
        try:
            for oid in batch:
                self._loose.check(oid)
            write_pack(self.origin, batch, self.mirror)
        except GIT_ERRORS:
            try:
                write_pack(self.origin, self._without_damaged(batch), self.mirror)
            except GIT_ERRORS as error:
                raise KnowledgeUnavailableError(
                    "The repository cannot be copied: it is damaged (git fsck), or the disk is full."
                ) from error

    def _without_damaged(self, batch: list[pygit2.Oid]) -> list[pygit2.Oid]:
        sound = []
        for oid in batch:
            self._check_time()
            try:
                if oid in self._files:
                    self._loose.check(oid)
                    read_blob(self.origin, oid, max_bytes=self.limits.file_bytes)
                sound.append(oid)
            except GIT_ERRORS:
                self._leave_out(oid, OBJECT_DAMAGED, DAMAGED)
        return sound

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


def write_pack(origin: pygit2.Repository, objects: list[pygit2.Oid], mirror: pygit2.Repository) -> None:
    """Write some objects of a repository as one pack of another one. Raises GIT_ERRORS."""
    if not objects:
        return
    builder = pygit2.PackBuilder(origin)
    for oid in objects:
        builder.add(oid)
    builder.write(Path(mirror.path) / "objects" / "pack")
