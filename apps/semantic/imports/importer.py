"""Import many memories: while one batch is written, the next ones are embedded."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from django.db import connection

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Access
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.save import PreparedSaves, save_prepare, save_write
from apps.semantic.memories.writer import SaveResult
from apps.semantic.store.embedding_space import forget_space

BATCH_SIZE = 500
# Long texts take long to embed: fewer of them make a batch, so that there is another one to be written.
BATCH_CHARACTERS = 64_000
# Two batches are prepared at once: during the text work of one, the vectors of the other keep both cores busy.
WORKERS = 2
MAX_ERRORS_KEPT = 20


@dataclass(frozen=True)
class PlacedDraft:
    """A memory to be saved, and its place in what is imported: "line 7", "sample conv-26 D1:3"."""

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
    """The result of an import.

    actions: of saving -> how many; `noticed` of those inserted disagree with others, without consequence. errors: the
    first failures, with their places.
    """

    actions: Counter[str] = field(default_factory=Counter)
    noticed: int = 0
    failed: int = 0
    errors: list[BadLine] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Return how many lines were processed."""
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

    Importing the same again stores nothing twice, so an import that was cut off is resumed by repeating it. A stored
    memory with less confidence than the draft is updated, each time (spec 002 section 9).

    progress: receives how many items were processed since its last call.
    """
    report = ImportReport()
    forget_space()
    with ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="embed") as executor:
        for batch, prepared in prepare_ahead(executor, access, in_batches(items, batch_size)):
            outcomes = iter(save_write(prepared=prepared.result()))
            for item in batch:
                outcome = next(outcomes) if isinstance(item, PlacedDraft) else item
                if isinstance(outcome, SaveResult):
                    report.add(outcome)
                elif isinstance(outcome, MemoryHubError):
                    reason = f"{outcome.attr}: {outcome.detail}" if outcome.attr else outcome.detail
                    report.fail(BadLine(item.place, reason))
                else:
                    report.fail(outcome)
            if progress is not None:
                progress(len(batch))
    return report


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in batches of `size`, or of fewer that have BATCH_CHARACTERS together."""
    batch: list[Item] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(item.draft.content) if isinstance(item, PlacedDraft) else 0
        if len(batch) >= size or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def prepare_ahead(
    executor: ThreadPoolExecutor, access: Access, batches: Iterator[list[Item]]
) -> Iterator[tuple[list[Item], Future[PreparedSaves]]]:
    """Yield each batch with its preparation, which was started before the batch ahead of it was yielded."""
    started: list[tuple[list[Item], Future[PreparedSaves]]] = []
    for batch in batches:
        drafts = [item.draft for item in batch if isinstance(item, PlacedDraft)]
        started.append((batch, executor.submit(prepare_drafts, access, drafts)))
        if len(started) > WORKERS:
            yield started.pop(0)
    yield from started


def prepare_drafts(access: Access, drafts: Sequence[MemoryDraft]) -> PreparedSaves:
    """Prepare drafts in a thread, and close its connection."""
    try:
        return save_prepare(access=access, drafts=drafts)
    finally:
        connection.close()
