"""Reads the files of a git source from the hub's copy of the repository."""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pygit2
from pygit2.enums import SortMode

from apps.core.domain.errors import NotFoundError
from apps.sync.domain.errors import CommitGoneError, KnowledgeUnavailableError
from apps.sync.domain.knowledge import RefusedFile
from apps.sync.domain.paths import PATH_UNSAFE, path_problem, shown_path
from apps.sync.repository.entries import (
    OBJECT_DAMAGED,
    SYMLINK,
    TOO_LARGE,
    FileEntry,
    FileUnreadableError,
    LoggedCommit,
    Touched,
)
from apps.sync.repository.fetch_process import FETCHED
from apps.sync.repository.library import GIT_ERRORS, open_local
from apps.sync.repository.local import LocalCopy
from apps.sync.repository.locations import Location, Transport, local_path, parse_location
from apps.sync.repository.loose import LooseObjects
from apps.sync.repository.mirror import Mirror, advance, head_of, join_packs, write_left_out
from apps.sync.repository.places import object_folders, read_shallow
from apps.sync.repository.remote import RemoteFetch
from apps.sync.repository.source import ReadLimits, SourceSettings, too_large, too_many_files
from apps.sync.repository.trees import LINK, MAX_ENTERED_BYTES, SUBMODULE, TreeEntry, Trees, read_blob, root_of

MAX_SUBJECT_CHARS = 200
NO_BRANCH = "The repository has no such branch: check its name."
# So many commits are examined at most for the log of a file.
MAX_LOG_COMMITS = 5_000
# And for so long: the answer is waited for.
LOG_SECONDS = 5.0


class GitReader:
    """A `SourceReader` of a git repository."""

    def __init__(self, source: SourceSettings, limits: ReadLimits) -> None:
        self.source, self.limits = source, limits
        self.wanted = source.wanted
        self.mirror = Mirror(source.copy)
        self._repository: pygit2.Repository | None = None
        self._left_out: dict[str, RefusedFile] = {}

    def close(self) -> None:
        """Close the files of the copy."""
        if self._repository is not None:
            self._repository.free()
            self._repository = None

    @property
    def repository(self) -> pygit2.Repository:
        """Return the copy, opened. Raises KnowledgeUnavailableError when there is none."""
        if self._repository is None:
            self._repository = self.mirror.open()
            self._left_out = self.mirror.left_out()
        return self._repository

    def head(self) -> str:
        """Fetch, and return the commit of the branch. Raises KnowledgeUnavailableError."""
        self.close()
        location = parse_location(self.source.location, kind=self.source.kind)
        with self.mirror.lock(self.limits.fetch_seconds) as lock:
            if location.transport == Transport.LOCAL:
                self._fetch_local(location)
            else:
                self._fetch_remote(location, lock)
        head = head_of(self.repository)
        if head is None:
            raise KnowledgeUnavailableError("The copy of the repository has no commit: start a full sync.")
        return str(head)

    def list(self, commit: str) -> Iterator[FileEntry | RefusedFile]:
        """Yield the files at a commit. Raises KnowledgeUnavailableError, also for too many files."""
        trees = Trees(self.repository, self.limits.files)
        start = self._folder(trees, self._root(commit))
        found = 0
        for path, entry in trees.changes(None, start, self._prefix):
            file = self._entry(path, entry)
            if file is not None:
                found += 1
                self._check_count(found)
                yield file

    def touched(self, old: str, new: str, stored: Mapping[str, str] | None = None) -> Touched:
        """Return what differs between two commits. Raises CommitGoneError, KnowledgeUnavailableError."""
        commits = self._commits_between(old, new)
        trees = Trees(self.repository, self.limits.files)
        before, after = (self._folder(trees, self._root(commit)) for commit in (old, new))
        entries: dict[str, FileEntry | RefusedFile | None] = {}
        if before != after:
            for path, entry in trees.changes(before, after, self._prefix):
                file = self._entry(path, entry)
                if file is not None or self._is_wanted(path):
                    entries[shown_path(path)] = file
                    self._check_count(len(entries))
        return Touched(entries=entries, commits=commits)

    def entries(self, commit: str, paths: Iterable[str]) -> dict[str, FileEntry | RefusedFile | None]:
        """Return some files at a commit; None for those that are not there or not wanted."""
        trees = Trees(self.repository, self.limits.files)
        root = self._root(commit)
        found: dict[str, FileEntry | RefusedFile | None] = {}
        for path in paths:
            raw = path.encode()
            wanted = raw.startswith(self._prefix) and self._is_wanted(raw)
            found[path] = self._entry(raw, trees.find(root, raw)) if wanted else None
        return found

    def read(self, entry: FileEntry) -> bytes:
        """Return the content of a file. Raises FileUnreadableError, KnowledgeUnavailableError."""
        oid = pygit2.Oid(hex=entry.blob)
        try:
            return read_blob(self.repository, oid, max_bytes=self.limits.file_bytes)
        except GIT_ERRORS as error:
            raise FileUnreadableError(self._unreadable(entry.path, oid)) from error

    def read_at(self, path: str, commit: str) -> bytes:
        """Return a file as it was at a commit. Raises NotFoundError, KnowledgeUnavailableError."""
        try:
            root = root_of(self.repository, pygit2.Oid(hex=commit))
        except GIT_ERRORS as error:
            raise NotFoundError("The copy of the repository does not have this commit.") from error
        entry = Trees(self.repository, self.limits.files).find(root, path.encode())
        if entry is None or entry.is_tree or entry.mode in {LINK, SUBMODULE}:
            raise NotFoundError("There is no such file at this commit.")
        try:
            return read_blob(self.repository, entry.oid, max_bytes=self.limits.file_bytes)
        except GIT_ERRORS as error:
            raise NotFoundError("The copy of the repository does not have this file.") from error

    def log(self, path: str, limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return the last commits that changed a file, the newest first, as far as LOG_SECONDS allow.

        Of people, nothing is returned.
        """
        deadline = time.monotonic() + LOG_SECONDS
        head = head_of(self.repository)
        found: list[LoggedCommit] = []
        if head is None:
            return ()
        trees = Trees(self.repository, self.limits.files)
        walker = self.repository.walk(head, SortMode.TOPOLOGICAL | SortMode.TIME)
        try:
            for number, commit in enumerate(walker):
                if len(found) >= limit or number >= MAX_LOG_COMMITS or time.monotonic() > deadline:
                    break
                if self._has_changed(trees, commit, path.encode()):
                    found.append(logged(commit))
        except (*GIT_ERRORS, KnowledgeUnavailableError):
            # A part of the history that the copy does not have.
            return tuple(found)
        return tuple(found)

    def _has_changed(self, trees: Trees, commit: pygit2.Commit, path: bytes) -> bool:
        tree = commit.tree_id.raw
        if commit.parents:
            return all(trees.differ(parent.tree_id.raw, tree, path) for parent in commit.parents)
        return trees.find(tree, path) is not None

    def _fetch_local(self, location: Location) -> None:
        origin = open_local(local_path(location))
        history = read_shallow(Path(origin.path))
        identity = self._identity(str(origin.path), ",".join(self.wanted.include), ",".join(self.wanted.exclude))
        identity += hashlib.sha256(history).hexdigest()
        commit = find_commit(origin, self.source.branch)
        mirror = self.mirror.usable(identity)
        if mirror is not None:
            self._copy(origin, mirror, commit, self.mirror.left_out())
            return
        with self.mirror.replacing(identity) as made:
            if history:
                (Path(made.path) / "shallow").write_bytes(history)
            self._copy(origin, made, commit, {})

    def _fetch_remote(self, location: Location, lock: IO[str]) -> None:
        branch = self.source.branch
        if branch and not is_branch(branch):
            raise KnowledgeUnavailableError(NO_BRANCH)
        reference = f"refs/heads/{branch}" if branch else "HEAD"
        fetch = RemoteFetch(location, reference, self.source.credentials, self.limits)
        identity = hashlib.sha256(location.url.encode()).hexdigest()
        self.mirror.adopt(self.source.uuid)  # each source had one of its own
        mirror = self.mirror.usable(identity)
        if mirror is not None:
            fetch.into(self.mirror.path, lock)
            take_fetched(mirror)
            return
        with self.mirror.replacing(identity) as made:
            fetch.into(Path(made.path), lock)
            take_fetched(made)

    def _copy(
        self, origin: pygit2.Repository, mirror: pygit2.Repository, commit: pygit2.Oid, left_out: dict[str, RefusedFile]
    ) -> None:
        copy = LocalCopy(origin, mirror, self.wanted, self.limits, left_out)
        copy.copy(commit)
        if copy.left_out != left_out:
            write_left_out(mirror, copy.left_out)
        finish(mirror, commit)

    def _identity(self, *parts: str) -> str:
        text = "\0".join((*parts, "/".join(self.wanted.folders), str(self.limits.file_bytes)))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def _prefix(self) -> bytes:
        return "".join(f"{name}/" for name in self.wanted.folders).encode()

    def _root(self, commit: str) -> bytes:
        try:
            return root_of(self.repository, pygit2.Oid(hex=commit))
        except GIT_ERRORS as error:
            raise CommitGoneError("The copy of the repository does not have this commit.") from error

    def _folder(self, trees: Trees, root: bytes) -> bytes | None:
        found = trees.find(root, self._prefix.rstrip(b"/"))
        return found.id if found and found.is_tree else None

    def _commits_between(self, old: str, new: str) -> int:
        """Return how many commits `new` has more than `old`. Raises CommitGoneError."""
        try:
            former, present = pygit2.Oid(hex=old), pygit2.Oid(hex=new)
            ahead, behind = self.repository.ahead_behind(present, former)
        except GIT_ERRORS as error:
            raise CommitGoneError("The last synced commit is no longer in the repository.") from error
        if behind:
            raise CommitGoneError("The history was rewritten and no longer contains the last synced commit.")
        return ahead

    def _is_wanted(self, path: bytes) -> bool:
        return path_problem(path) is not None or self.wanted.has(path.decode())

    def _entry(self, path: bytes, entry: TreeEntry | None) -> FileEntry | RefusedFile | None:
        """Return a file as it is reported; None for what the source does not want."""
        if entry is None or entry.mode == SUBMODULE or (entry.is_tree and len(path) <= MAX_ENTERED_BYTES):
            return None
        if problem := path_problem(path):
            return RefusedFile(shown_path(path), *problem)
        shown = path.decode()
        if not self.wanted.has(shown):
            return None
        if entry.mode == LINK:
            return RefusedFile(shown, SYMLINK, "It is a symbolic link; only files are read.")
        if not entry.mode.startswith(b"100"):
            return RefusedFile(shown, PATH_UNSAFE, "It is not a file.")
        return self._sized(shown, entry.oid)

    def _sized(self, path: str, oid: pygit2.Oid) -> FileEntry | RefusedFile:
        left_out = self._left_out.get(str(oid))
        if left_out and left_out.code in {TOO_LARGE, OBJECT_DAMAGED}:
            return RefusedFile(path, left_out.code, left_out.detail)
        try:
            kind, size = self.repository.odb.read_header(oid)
        except GIT_ERRORS:
            return self._unreadable(path, oid)
        if kind != pygit2.enums.ObjectType.BLOB:
            return RefusedFile(path, OBJECT_DAMAGED, "Its object is not that of a file: repair the repository.")
        if size > self.limits.file_bytes:
            return RefusedFile(path, TOO_LARGE, too_large(size, self.limits.file_bytes))
        return FileEntry(path, str(oid), size)

    def _unreadable(self, path: str, oid: pygit2.Oid) -> RefusedFile:
        """Return why an object cannot be read. Raises KnowledgeUnavailableError when a new copy may have it."""
        if self.mirror.report_damage(str(oid)):
            raise KnowledgeUnavailableError(
                "The hub's copy of the repository is damaged: the next try makes a new one."
            )
        return RefusedFile(path, OBJECT_DAMAGED, "Its object is missing or damaged: repair the repository (git fsck).")

    def _check_count(self, found: int) -> None:
        if found > self.limits.files:
            raise too_many_files(self.limits.files)


def finish(mirror: pygit2.Repository, commit: pygit2.Oid) -> None:
    """Note what was fetched, and close the copy."""
    advance(mirror, commit)
    join_packs(mirror)
    mirror.free()


def take_fetched(mirror: pygit2.Repository) -> None:
    """Note the commit that another process has fetched. Raises KnowledgeUnavailableError."""
    try:
        commit = mirror.references[FETCHED].peel(pygit2.Commit)
    except GIT_ERRORS as error:
        raise KnowledgeUnavailableError("The server has sent no commit for the branch.") from error
    finish(mirror, commit.id)


def is_branch(name: str) -> bool:
    """Return whether git allows this name."""
    return "\0" not in name and pygit2.reference_is_valid_name(f"refs/heads/{name}")


def find_commit(repository: pygit2.Repository, branch: str) -> pygit2.Oid:
    """Return the commit of a branch, or of what is checked out. Raises KnowledgeUnavailableError."""
    name = f"refs/heads/{branch}" if branch else "HEAD"
    if branch and not is_branch(branch):
        raise KnowledgeUnavailableError(NO_BRANCH)
    try:
        oid = pygit2.Oid(hex=str(repository.references[name].resolve().target))
        LooseObjects(object_folders(Path(repository.path))).check(oid)
        return repository[oid].peel(pygit2.Commit).id
    except GIT_ERRORS as error:
        raise KnowledgeUnavailableError(NO_BRANCH if branch else "The repository has no commit yet.") from error


def logged(commit: pygit2.Commit) -> LoggedCommit:
    """Return what is shown of a commit: not who made it."""
    message = commit.raw_message.decode(errors="replace").strip()
    subject = "".join(one for one in message.partition("\n")[0] if one.isprintable())
    try:
        at = datetime.fromtimestamp(commit.commit_time, UTC)
    except (ValueError, OverflowError, OSError):
        at = datetime.fromtimestamp(0, UTC)
    return LoggedCommit(str(commit.id), at, subject[:MAX_SUBJECT_CHARS])
