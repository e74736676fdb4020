"""Texts of items as their source has them: whole, compared, and by whom they were changed when."""

import hashlib
from dataclasses import dataclass

from apps.core.domain.diff import compare_lines
from apps.core.domain.errors import NotFoundError
from apps.sync.models import KnowledgeFile, KnowledgeItem, SourceKind
from apps.sync.repository.entries import LoggedCommit, SourceReader
from apps.sync.repository.reader import open_reader
from apps.sync.repository.source import SourceSettings


@dataclass(frozen=True)
class ItemText:
    """The text of an item as it is kept in its source, at a commit."""

    text: str
    commit: str
    path: str


@dataclass(frozen=True)
class ItemDiff:
    """How the text of an item changed between two commits, as a unified diff. Empty: not at all."""

    diff: str
    old: str
    new: str
    path: str


MAX_LOGGED = 100


def read_text(item: KnowledgeItem, commit: str | None = None) -> ItemText:
    """Return the text of an item, at the commit of the last sync or another one; of a folder the present one.

    A text of a folder that has changed since the last sync has no commit. Raises NotFoundError,
    KnowledgeUnavailableError.
    """
    with open_reader(SourceSettings.of(item.source)) as reader:
        if item.source.kind == SourceKind.FOLDER and not commit:
            data = reader.read_at(item.path, "")
            blob = hashlib.sha256(data).hexdigest()
            is_synced = KnowledgeFile.objects.filter(source=item.source, path=item.path, blob=blob).exists()
            return ItemText(decoded(data), item.commit if is_synced else "", item.path)
        # As it was read, or where history was rewritten since, at the last sync.
        for candidate in [commit] if commit else [item.commit, item.source.state.last_commit]:
            try:
                return ItemText(text_at(reader, item, candidate), candidate, item.path)
            except NotFoundError as error:
                gone = error
        raise gone


def text_at(reader: SourceReader, item: KnowledgeItem, commit: str) -> str:
    """Return the text of the file of an item at a commit. Raises NotFoundError, KnowledgeUnavailableError."""
    return decoded(reader.read_at(item.path, commit))


def decoded(data: bytes) -> str:
    """Return the text of a file, with lines that end in one character."""
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def compare_texts(item: KnowledgeItem, old: str, new: str) -> ItemDiff:
    """Return how the text of an item changed between two commits. Raises NotFoundError, KnowledgeUnavailableError."""
    with open_reader(SourceSettings.of(item.source)) as reader:
        before, after = text_at(reader, item, old), text_at(reader, item, new)
    diff = "".join(f"{line.marked}\n" for line in compare_lines(before, after))
    return ItemDiff(diff, old, new, item.path)


def read_history(item: KnowledgeItem) -> tuple[LoggedCommit, ...]:
    """Return the last commits that changed the file of an item; none of a folder. Raises KnowledgeUnavailableError."""
    with open_reader(SourceSettings.of(item.source)) as reader:
        return reader.log(item.path, MAX_LOGGED)
