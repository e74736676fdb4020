"""The reader of a source: of a git repository or of a folder."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from apps.sync.repository.entries import SourceReader
from apps.sync.repository.folder import FolderReader
from apps.sync.repository.source import SourceSettings, read_limits

if TYPE_CHECKING:
    from apps.sync.repository.git import GitReader


@contextlib.contextmanager
def open_reader(source: SourceSettings) -> Iterator[SourceReader]:
    """Return the reader of a source, and close its files after the block. Reads nothing yet."""
    reader = open_git(source) if source.kind == "git" else FolderReader(source, read_limits())
    try:
        yield reader
    finally:
        reader.close()


def open_git(source: SourceSettings) -> "GitReader":
    """Return the reader of a repository. Only who reads one has libgit2 in memory, 12 MB of a process."""
    from apps.sync.repository.git import GitReader

    return GitReader(source, read_limits())
