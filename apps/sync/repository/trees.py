"""Trees of git, read without checking anything out, and what differs between two of them.

Trees are parsed here, and not by libgit2: that is several times as fast for folders of many files, accepts the names
that a hostile repository may contain, so that they are reported one by one, and can be stopped at any entry.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pygit2
from pygit2.enums import ObjectType

from apps.sync.domain.errors import KnowledgeUnavailableError
from apps.sync.domain.paths import MAX_PATH_CHARS, is_skipped
from apps.sync.repository.library import GIT_ERRORS

TREE = b"40000"
LINK = b"120000"
SUBMODULE = b"160000"
# A tree that git knows without storing it: that of a commit after the last file was deleted.
EMPTY_TREE = bytes.fromhex("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
MAX_TREE_BYTES = 64_000_000
# For each file that a source may have, so many entries of trees are examined.
ENTRIES_PER_FILE = 20
# A folder of a longer path is not entered: no file in it could be stored.
MAX_ENTERED_BYTES = 4 * MAX_PATH_CHARS
_CACHED_TREES = 8
_ENTRY = re.compile(rb"([0-7]{1,6}) ([^\0]*)\0(.{20})", re.DOTALL)


class TreeEntry(NamedTuple):
    """A row of a tree. mode: octal digits, without the zero before those of a tree. id: 20 bytes."""

    mode: bytes
    name: bytes
    id: bytes

    @property
    def is_tree(self) -> bool:
        """Return whether it is a folder that may be entered."""
        return self.mode == TREE and self.name not in {b"", b".", b".."} and b"/" not in self.name

    @property
    def oid(self) -> pygit2.Oid:
        """Return the id of its object."""
        return pygit2.Oid(raw=self.id)


# A `TreeEntry` that is not made yet: most rows are only compared.
Row = tuple[bytes, bytes, bytes]


class Trees:
    """Reads the trees of one repository, and counts what it has examined.

    check: called before an object is read; raises ValueError or OSError for one that must not be.
    """

    def __init__(
        self, repository: pygit2.Repository, max_files: int, check: Callable[[pygit2.Oid], None] | None = None
    ) -> None:
        self.repository = repository
        self._check = check
        self._odb = repository.odb
        self._entries = max_files * ENTRIES_PER_FILE
        self._left = self._entries
        self._cache: OrderedDict[bytes, dict[bytes, Row]] = OrderedDict()

    def begin(self) -> None:
        """Begin to count the entries of one commit."""
        self._left = self._entries

    def read(self, tree: bytes) -> dict[bytes, Row]:
        """Return the rows of a tree by name. Raises KnowledgeUnavailableError when it is damaged."""
        if tree == EMPTY_TREE:
            return {}
        if tree in self._cache:
            self._cache.move_to_end(tree)
        else:
            self._cache[tree] = self._parse(pygit2.Oid(raw=tree))
            if len(self._cache) > _CACHED_TREES:
                self._cache.popitem(last=False)
        return self._cache[tree]

    def size(self, tree: pygit2.Oid) -> int:
        """Return the length of a tree in bytes. Raises KnowledgeUnavailableError when it is not there."""
        try:
            return self._odb.read_header(tree)[1]
        except GIT_ERRORS as error:
            raise damaged_tree(tree) from error

    def changes(
        self, old: bytes | None, new: bytes | None, prefix: bytes = b""
    ) -> Iterator[tuple[bytes, TreeEntry | None]]:
        """Yield each path that differs between two trees with its new entry, or None; all paths without an old tree.

        Changed folders that are there are yielded too, before what is in them. Hidden files and folders and installed
        packages are left out. A renamed file is one that is gone and a new one.
        """
        waiting = [(prefix, old, new)]
        while waiting:
            path, old_tree, new_tree = waiting.pop()
            before = self.read(old_tree) if old_tree else {}
            after = self.read(new_tree) if new_tree else {}
            changed = after.items() - before.items() if before else after.items()
            self._left -= len(changed) + len(before.keys() - after.keys())
            if self._left < 0:
                raise KnowledgeUnavailableError(
                    "The repository has more files than MEMORYHUB_SYNC_MAX_FILES allows to examine: name the folder "
                    "that holds the knowledge, or raise the limit."
                )
            for name, row in changed:
                if is_skipped(name):
                    continue
                now = TreeEntry(*row)
                yield path + name, now
                trees = (_entered(path, before.get(name)), _entered(path, now))
                if any(trees):
                    waiting.append((path + name + b"/", *trees))
            for name in before.keys() - after.keys():
                if is_skipped(name):
                    continue
                yield path + name, None
                if gone := _entered(path, before[name]):
                    waiting.append((path + name + b"/", gone, None))

    def find(self, tree: bytes, path: bytes) -> TreeEntry | None:
        """Return the entry of a path below a tree, or None. Raises KnowledgeUnavailableError when one is damaged."""
        found: TreeEntry | None = TreeEntry(TREE, b"root", tree)
        for name in path.split(b"/") if path else ():
            if found is None or not found.is_tree:
                return None
            row = self.read(found.id).get(name)
            found = TreeEntry(*row) if row else None
        return found

    def differ(self, old: bytes, new: bytes, path: bytes) -> bool:
        """Return whether a path is not the same below two trees. Folders that are the same are not read.

        Raises KnowledgeUnavailableError when one is damaged.
        """
        names = path.split(b"/")
        for at, name in enumerate(names, start=1):
            if old == new:
                return False
            before, after = self.read(old).get(name), self.read(new).get(name)
            if before == after or at == len(names):
                return before != after
            inner = [_entered(b"", row) for row in (before, after)]
            rest = b"/".join(names[at:])
            if inner[0] is None or inner[1] is None:
                return any(tree and self.find(tree, rest) for tree in inner)
            old, new = inner[0], inner[1]
        return False

    def _parse(self, oid: pygit2.Oid) -> dict[bytes, Row]:
        try:
            kind, size = self._odb.read_header(oid)
            if kind != ObjectType.TREE or size > MAX_TREE_BYTES:
                raise ValueError("no usable tree")
            if self._check is not None:
                self._check(oid)
            _, data = self._odb.read(oid)
            rows: list[Row] = _ENTRY.findall(data)
            rest = b"".join([mode for mode, _, _ in rows]), b"".join([name for _, name, _ in rows])
            if len(rest[0]) + len(rest[1]) + 22 * len(rows) != len(data):
                raise ValueError("no rows of a tree")
        except GIT_ERRORS as error:
            raise damaged_tree(oid) from error
        return {row[1]: row for row in rows}


def damaged_tree(oid: pygit2.Oid) -> KnowledgeUnavailableError:
    """Return the error for a tree that cannot be read: the files below it would seem to be gone."""
    return KnowledgeUnavailableError(
        f"The tree {oid} of the repository is missing or damaged: repair the repository (git fsck)."
    )


def root_of(repository: pygit2.Repository, commit: pygit2.Oid) -> bytes:
    """Return the tree of a commit. Raises GIT_ERRORS when there is no such commit."""
    found = repository[commit]
    if not isinstance(found, pygit2.Commit):
        raise ValueError("no commit")
    return found.tree_id.raw


def read_blob(repository: pygit2.Repository, oid: pygit2.Oid, *, max_bytes: int) -> bytes:
    """Return the bytes of a file, checked against the id. Raises GIT_ERRORS."""
    kind, size = repository.odb.read_header(oid)
    if kind != ObjectType.BLOB or size > max_bytes:
        raise ValueError("no file of this size")
    return repository.odb.read(oid)[1]


def _entered(path: bytes, row: Row | None) -> bytes | None:
    """Return the tree of a folder that is entered."""
    if row is None or row[0] != TREE:
        return None
    entry = TreeEntry(*row)
    return entry.id if entry.is_tree and len(path) + len(entry.name) <= MAX_ENTERED_BYTES else None
