"""Answers of one moment: rows, and the files of the version of the catalogue that was read with them."""

from collections.abc import Callable
from typing import TypeVar

from apps.episodic.store.archived_segments import ArchivedFileDamagedError, unreadable_error
from apps.episodic.store.file_cache import ArchiveView, archive_cache, catalogue_contention

MAX_TRIES = 50
Rows = TypeVar("Rows")
Answer = TypeVar("Answer")


def of_one_moment(read: Callable[[], tuple[int, Rows]], answer: Callable[[Rows, ArchiveView], Answer]) -> Answer:
    """Return an answer from rows and files. read: the version of the catalogue with the rows, of one statement.

    When the files change in between, both are read again. Raises UnavailableError.
    """
    for _ in range(MAX_TRIES):
        version, rows = read()
        try:
            view = archive_cache().at(version)
            if view is not None:
                return answer(rows, view)
            archive_cache().refresh()
        except ArchivedFileDamagedError as damage:
            damage.report()
        except OSError as error:
            raise unreadable_error(error) from error
    raise catalogue_contention()
