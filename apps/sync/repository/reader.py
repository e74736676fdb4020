"""The reader of a source: of a git repository or of a folder."""

import contextlib
from collections.abc import Iterator

from apps.sync.repository.entries import SourceReader
from apps.sync.repository.folder import FolderReader
from apps.sync.repository.git import GitReader
from apps.sync.repository.source import SourceSettings, read_limits


@contextlib.contextmanager
def open_reader(source: SourceSettings) -> Iterator[SourceReader]:
    """Return the reader of a source, and close its files after the block. Reads nothing yet."""
    reader = GitReader(source, read_limits()) if source.kind == "git" else FolderReader(source, read_limits())
    try:
        yield reader
    finally:
        reader.close()
