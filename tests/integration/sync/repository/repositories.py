"""Real repositories and folders in temporary folders, made with libgit2."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pygit2

from apps.sync.domain.knowledge import RefusedFile
from apps.sync.repository.entries import FileEntry, SourceReader
from apps.sync.repository.source import SourceSettings

FILE = 0o100644
TREE = 0o040000


@dataclass
class Origin:
    """A bare repository whose branch `main` gets commits."""

    path: Path
    branch: str = "main"
    files: dict[str, tuple[pygit2.Oid, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repository = pygit2.init_repository(str(self.path), bare=True, initial_head=self.branch)

    def commit(self, files: Mapping[str, str | bytes | None], subject: str = "a change") -> str:
        """Add a commit in which some files have another content, or are gone."""
        for path, content in files.items():
            if content is None:
                del self.files[path]
            else:
                data = content.encode() if isinstance(content, str) else content
                self.files[path] = (self.repository.create_blob(data), FILE)
        index = pygit2.Index()
        for path, (oid, mode) in self.files.items():
            index.add(pygit2.IndexEntry(path, oid, pygit2.enums.FileMode(mode)))
        return self.commit_tree(index.write_tree(self.repository), subject)

    def commit_tree(self, tree: pygit2.Oid, subject: str = "a change", parents: list[str] | None = None) -> str:
        """Add a commit of a tree."""
        name = f"refs/heads/{self.branch}"
        if parents is None:
            parents = [str(self.repository.references[name].target)] if name in self.repository.references else []
        ids = [pygit2.Oid(hex=parent) for parent in parents]
        # Written as bytes, since libgit2 would refuse a hostile tree.
        person = "Ana <ana@example.org> 1700000000 +0000"
        lines = [f"tree {tree}", *(f"parent {one}" for one in ids), f"author {person}", f"committer {person}"]
        made = self.repository.odb.write(pygit2.enums.ObjectType.COMMIT, "\n".join([*lines, "", subject, ""]).encode())
        self.repository.references.create(name, made, force=True)
        return str(made)

    def tree(self, rows: list[tuple[int, bytes, pygit2.Oid]]) -> pygit2.Oid:
        """Write a tree of any names and modes, as an attacker would."""
        data = b"".join(b"%o %s\0%s" % (mode, name, oid.raw) for mode, name, oid in rows)
        return self.repository.odb.write(pygit2.enums.ObjectType.TREE, data)

    def blob(self, text: str = "# Title\n") -> pygit2.Oid:
        """Write a file."""
        return self.repository.create_blob(text.encode())

    def reset(self, commit: str) -> None:
        """Let the branch be another commit, as a forced push does."""
        self.repository.references.create(f"refs/heads/{self.branch}", pygit2.Oid(hex=commit), force=True)


def source_of(location: object, kind: str = "git", **values: object) -> SourceSettings:
    """Return a source of its own."""
    return SourceSettings(uuid=uuid.uuid4(), kind=kind, location=str(location), **values)  # type: ignore[arg-type]


def files_at(reader: SourceReader, commit: str) -> dict[str, str]:
    """Return what is listed at a commit: by path, `ok` or the code of refusal."""
    return {file.path: file.code if isinstance(file, RefusedFile) else "ok" for file in reader.list(commit)}


def text_of(reader: SourceReader, commit: str, path: str) -> str:
    """Return the text of a listed file."""
    entry = reader.entries(commit, [path])[path]
    assert isinstance(entry, FileEntry), entry
    return reader.read(entry).decode()
