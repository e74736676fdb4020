"""Cut work for a model into batches (pure)."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield positions of `lengths` in batches of similar length, shortest first.

    A batch costs its longest item times its size, because the others are padded; that stays within `budget`
    unless a single item is above it.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[position] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def padded(rows: Sequence[Sequence[int]], filler: int = 0) -> npt.NDArray[np.int32]:
    """Return rows of numbers as one array, (rows, longest), filled up behind the shorter ones."""
    found = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int32)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def batches_in_order(lengths: Sequence[int], *, most: int, budget: int) -> Iterator[slice]:
    """Yield consecutive runs of at most `most` items whose lengths add up to at most `budget`.

    A single item above the budget is a run of its own.
    """
    start, total = 0, 0
    for position, length in enumerate(lengths):
        if position > start and (position - start >= most or total + length > budget):
            yield slice(start, position)
            start, total = position, 0
        total += length
    if start < len(lengths):
        yield slice(start, len(lengths))
