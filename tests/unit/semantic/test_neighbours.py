"""Neighbours of a memory among others: the same in every process, whatever the order of the rows in its index."""

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest

from apps.core.domain.scope import Scope
from apps.retrieval.domain.lexemes import pack
from apps.retrieval.domain.rows import IndexRow, RowStore
from apps.semantic.conflicts.neighbours import (
    BY_VECTOR,
    BY_WORDS,
    READ_NEAREST,
    Neighbour,
    Probe,
    best_of,
    nearest_of,
    neighbours,
    terms_of,
)

DIMENSION = 32
NOW = datetime(2026, 5, 4, tzinfo=UTC)
SCOPE = Scope("ana", "", "")
PROBES = 5


def unit(random: np.random.Generator, count: int) -> npt.NDArray[np.float32]:
    vectors = random.standard_normal((count, DIMENSION), dtype=np.float32) + 1
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def store_of(rows: list[IndexRow], *, gone: int = 0) -> RowStore:
    """Return a store with these rows, in this order, after some that are not active any more."""
    store = RowStore(DIMENSION)
    old = [rows[0]._replace(id=10_000 + number) for number in range(gone)]
    store.apply(old)
    store.apply([row._replace(active=False) for row in old])
    store.apply(rows)
    return store


def found_in(store: RowStore, probes: list[Probe]) -> list[list[tuple[int, float, float]]]:
    return [[(one.id, one.cosine, one.shared) for one in near] for near in neighbours(store, probes, NOW)]


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_do_not_depend_on_order_of_rows(seed: int) -> None:
    """Many are equally near: texts with the same words, and vectors that several have."""
    random = np.random.default_rng(seed)
    vectors, words = unit(random, 40), [("tea",), ("tea", "green"), ("dog",)]
    rows = [
        IndexRow(
            number, True, ("", "", ""), 0.0, 0.0, 1.0, 0.0, 1.0, pack(words[number % 3]), vectors[number % 40].tobytes()
        )
        for number in range(1, 400)
    ]
    terms = terms_of("green tea", ())
    probes = [Probe(vector, terms, SCOPE, before=380) for vector in unit(random, PROBES)]
    expected = found_in(store_of(rows), probes)
    assert all(len(near) > BY_VECTOR // 2 for near in expected)
    shuffled = [rows[place] for place in random.permutation(len(rows))]
    assert found_in(store_of(shuffled), probes) == expected
    assert found_in(store_of(shuffled[::-1], gone=300), probes) == expected
    # Asked for one by one, their cosines are not those of one product.
    assert [found_in(store_of(shuffled), [probe])[0] for probe in probes] == expected


def test_of_equally_near_ones_newest_are_neighbours() -> None:
    vector = unit(np.random.default_rng(1), 1)[0]
    rows = [
        IndexRow(number, True, ("", "", ""), 0.0, 0.0, 1.0, 0.0, 1.0, pack(("tea",)), vector.tobytes())
        for number in range(1, 30)
    ]
    [near] = neighbours(store_of(rows), [Probe(vector, terms_of("tea", ()), SCOPE)], NOW)
    assert [one.id for one in near] == list(range(30 - BY_VECTOR, 30))
    assert [one.id for one in sorted(best_of([*near, *near[:1]]), key=lambda one: one.id)] == [one.id for one in near]


def test_best_of_several_stores_are_newest_of_equally_near_ones() -> None:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    found = [Neighbour(number, vector, 0.9, 1.0) for number in range(20)]
    for order in (found, found[::-1]):
        assert {one.id for one in best_of(order)} == set(range(20 - max(BY_VECTOR, BY_WORDS), 20))


@pytest.mark.parametrize(
    ("cosines", "read"),
    [
        ([], 0),
        ([0.3], 1),
        ([0.9, 0.8, 0.7, 0.6, 0.59], READ_NEAREST),  # all are near
        ([0.9, 0.54, 0.5], 1),
        ([0.6, 0.46, 0.44], 2),  # hardly farther than the nearest
        ([0.4, 0.3, 0.26, 0.24], 3),
    ],
)
def test_judge_reads_near_ones_and_those_hardly_farther_than_the_nearest(cosines: list[float], read: int) -> None:
    found = [Neighbour(number, np.zeros(1, dtype=np.float32), cosine, 0.0) for number, cosine in enumerate(cosines)]
    assert {one.id for one in nearest_of(found[::-1])} == set(range(read))
