"""Batches of items."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, as `itertools.batched` does from Python 3.12 on."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
