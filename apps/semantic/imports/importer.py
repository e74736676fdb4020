"""Importing many memories: while one batch is written, the next one is embedded."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from django.db import connection

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.save import PreparedSaves, save_prepare, save_write
from apps.semantic.memories.writer import SaveResult
from apps.semantic.store.embedding_space import forget_space

BATCH_SIZE = 500
# Two batches are prepared at once: while the words of one are made, the vectors of the other keep both cores busy.
WORKERS = 2
MAX_ERRORS_KEPT = 20


@dataclass(frozen=True)
class PlacedDraft:
    """A memory to be saved, and where it stands in what is imported: "line 7", "sample conv-26 D1:3"."""

    place: str
    draft: MemoryDraft


@dataclass(frozen=True)
class BadLine:
    """A place that describes no memory, or one that cannot be saved."""

    place: str
    reason: str


Item = PlacedDraft | BadLine


@dataclass
class ImportReport:
    """What an import did.

    actions: what saving answered -> how often; `noticed` of those inserted disagree with others, without consequence.
    errors: the first of those that failed, with their places.
    """

    actions: Counter[str] = field(default_factory=Counter)
    noticed: int = 0
    failed: int = 0
    errors: list[BadLine] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many lines were dealt with."""
        return self.actions.total() + self.failed

    def add(self, result: SaveResult) -> None:
        """Note a line that was saved."""
        self.actions[result.action] += 1
        self.noticed += result.action == "inserted" and result.conflict is not None

    def fail(self, bad: BadLine) -> None:
        """Note a line that failed."""
        self.failed += 1
        if len(self.errors) < MAX_ERRORS_KEPT:
            self.errors.append(bad)


def import_memories(
    access: Access,
    items: Iterable[Item],
    *,
    progress: Callable[[int], None] | None = None,
    batch_size: int = BATCH_SIZE,
) -> ImportReport:
    """Save drafts in order, batch by batch, each batch in a transaction of its own.

    Importing the same again stores nothing twice, so an import that was cut off is resumed by starting it again.
    What is stored with less confidence than the draft claims is updated, each time (spec 002 section 9).
    `progress` is told how many items were dealt with since it was last told.
    """
    report = ImportReport()
    forget_space()
    with ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="embed") as executor:
        for batch, preparing in _ahead(executor, access, _batches(items, batch_size)):
            _write(report, batch, preparing)
            if progress is not None:
                progress(len(batch))
    return report


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _ahead(
    executor: ThreadPoolExecutor, access: Access, batches: Iterator[list[Item]]
) -> Iterator[tuple[list[Item], Future[PreparedSaves]]]:
    """Each batch with its preparation, which was begun before the batch ahead of it was given out."""
    waiting: list[tuple[list[Item], Future[PreparedSaves]]] = []
    for batch in batches:
        drafts = [item.draft for item in batch if isinstance(item, PlacedDraft)]
        waiting.append((batch, executor.submit(_prepare, access, drafts)))
        if len(waiting) > WORKERS:
            yield waiting.pop(0)
    yield from waiting


def _prepare(access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    try:
        return save_prepare(access=access, drafts=drafts)
    finally:
        connection.close()


def _write(report: ImportReport, batch: Sequence[Item], preparing: Future[PreparedSaves]) -> None:
    outcomes = iter(save_write(prepared=preparing.result()))
    for item in batch:
        if isinstance(item, BadLine):
            report.fail(item)
            continue
        outcome = next(outcomes)
        if isinstance(outcome, MemoryHubError):
            report.fail(BadLine(item.place, f"{outcome.attr}: {outcome.detail}" if outcome.attr else outcome.detail))
        else:
            report.add(outcome)
