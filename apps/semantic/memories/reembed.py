"""Recreate vectors and keyword documents when what makes them has changed."""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import QuerySet

from apps.core.db.user_locks import of_unlocked, work_for_unlocked
from apps.core.domain.clock import SYSTEM_CLOCK, Clock
from apps.llm.domain.embedder import Embedder
from apps.llm.selectors import EmbeddingSpace
from apps.llm.services import space_activate, space_get_or_create
from apps.retrieval.domain.lexemes import LEXEMES_VERSION
from apps.semantic.index.snapshots import delete_snapshots_of_other_spaces
from apps.semantic.models import Memory, MemoryEmbedding
from apps.semantic.store.rows import word_columns
from apps.semantic.store.unit_of_work import lock_shards

logger = logging.getLogger(__name__)
BATCH_SIZE = 256
Progress = Callable[[int], None]


def without_vector(space: EmbeddingSpace) -> QuerySet[Memory]:
    """Return the memories, of every status, that have no vector in a space yet, but none that are being forgotten."""
    return of_unlocked(Memory.objects.exclude(embeddings__space=space))


def reembed_needed(embedder: Embedder) -> int:
    """Count the vectors that `reembed` would make now; 0 when the embedder's space is active and complete."""
    space = EmbeddingSpace.objects.filter(model=embedder.space.model, dimension=embedder.space.dimension).first()
    return Memory.objects.count() if space is None else without_vector(space).count()


def reembed(*, embedder: Embedder, progress: Progress | None = None, clock: Clock = SYSTEM_CLOCK) -> int:
    """Make a vector of the embedder's for every memory, then activate its space. Return how many were made.

    Each batch is kept, so a reembedding that was cut off continues where it stopped. Until the end searches use the
    space that is active now. Vectors that writers supplied (`is_given`) are replaced as well: they belong to the space
    before. Memories of users who are being forgotten are left out; should that be refused, the next call makes theirs.
    Raises EmbeddingError.
    """
    space = space_get_or_create(embedder.space, clock=clock)
    made = 0
    while True:
        for batch in read_batches(without_vector(space)):
            pairs = list(zip(batch, embedder.embed([memory.content for memory in batch]), strict=True))
            made += work_for_unlocked(pairs, lambda pair: pair[0].user_id, partial(insert_vectors, space))
            if progress is not None:
                progress(len(batch))
        with transaction.atomic():
            # Writers hold the active space until they commit, so no memory is added from here on.
            list(EmbeddingSpace.objects.select_for_update().order_by("id"))
            if not without_vector(space).exists():
                space_activate(space=space, clock=clock)
                break
    others, last = MemoryEmbedding.objects.exclude(space=space).order_by("pk"), 0
    while rows := list(others.filter(pk__gt=last).values_list("pk", "memory__user_id")[: BATCH_SIZE * 8]):
        work_for_unlocked(rows, lambda row: row[1], delete_vectors)
        last = rows[-1][0]
    try:
        delete_snapshots_of_other_spaces(space)
    except OSError as error:  # They take room, and do no harm.
        logger.warning("snapshots of the model before could not be removed: %s", type(error).__name__)
    return made


@transaction.atomic
def insert_vectors(space: EmbeddingSpace, pairs: Sequence[tuple[Memory, npt.NDArray[np.float32]]]) -> int:
    """Store the vectors of those that were neither purged nor rewritten since they were read.

    Return how many. Raises UserLockedError.
    """
    batch = [memory for memory, _ in pairs]
    # A purge is a writer too: before it, or after it, but never in the middle of it.
    versions = lock_shards(memory.user_id for memory in batch)
    current = dict(Memory.objects.filter(pk__in=[memory.pk for memory in batch]).values_list("pk", "content"))
    left = {memory.pk for memory in batch if current.get(memory.pk) == memory.content}
    rows = [MemoryEmbedding(memory=memory, space=space, vector=vector) for memory, vector in pairs if memory.pk in left]
    # Another reembedding may be active; one vector for each is enough.
    MemoryEmbedding.objects.bulk_create(rows, ignore_conflicts=True)
    if EmbeddingSpace.objects.filter(pk=space.pk, is_active=True).exists():
        # Searches continue in this space, so the indexes that have these memories must be refreshed.
        for user, version in versions.items():
            Memory.objects.filter(pk__in=left, user_id=user).update(version=version)
    return len(rows)


def read_batches(memories: QuerySet[Memory]) -> Iterator[list[Memory]]:
    """Yield the memories by rising id, each batch read when it is needed; none twice."""
    last = 0
    while batch := list(memories.filter(pk__gt=last).order_by("pk")[:BATCH_SIZE]):
        yield batch
        last = batch[-1].pk


@transaction.atomic
def delete_vectors(rows: Sequence[tuple[int, str]]) -> int:
    """Delete vectors by their keys, each with its user. Return how many; Raises UserLockedError."""
    # A purge removes vectors as well, in an order of its own.
    lock_shards(user for _, user in rows)
    return MemoryEmbedding.objects.filter(pk__in=[pk for pk, _ in rows]).delete()[0]


def outdated_words() -> QuerySet[Memory]:
    """Return the memories whose keyword document was made by another version of the text pipeline.

    None of users who are being forgotten is among them.
    """
    return of_unlocked(Memory.objects.exclude(lexemes_version=LEXEMES_VERSION))


def refresh_words(*, progress: Progress | None = None) -> int:
    """Recreate outdated keyword documents, in batches, while searches continue. Return how many."""
    made = 0
    for batch in read_batches(outdated_words()):
        count = work_for_unlocked(batch, lambda memory: memory.user_id, refresh_batch)
        made += count
        if progress is not None:
            progress(count)
    return made


@transaction.atomic
def refresh_batch(batch: Sequence[Memory]) -> int:
    """Recreate the keyword documents of some memories. Return how many; Raises UserLockedError."""
    versions = lock_shards(memory.user_id for memory in batch)
    # Read again: words may have been changed since.
    current = list(outdated_words().filter(pk__in=[memory.pk for memory in batch]))
    written: set[str] = {"version"}
    for memory in current:
        columns = word_columns(memory.content, memory.keywords, memory.context, memory.occurred_at)
        for name, value in {**columns, "version": versions[memory.user_id]}.items():
            setattr(memory, name, value)
        written |= columns.keys()
    Memory.objects.bulk_update(current, sorted(written))
    return len(current)
