"""Cosines of many rows with one vector, against a product of matrix and vector."""

import numpy as np
import pytest

from apps.retrieval.domain.vectors.cosines import cosines, cosines_at, cosines_of_each


def rows(count: int, dimension: int = 24) -> np.ndarray:
    vectors = np.random.default_rng(count).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 1_500])
def test_they_are_those_of_the_product(count):
    vectors, vector = rows(count), rows(1)[0]
    assert cosines(vectors, vector) == pytest.approx(vectors.astype(np.float64) @ vector, abs=1e-6)


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 1_400])
def test_those_of_some_rows_are_same_to_last_bit(count):
    vectors, vector = rows(1_500), rows(1)[0]
    some = np.random.default_rng(count).permutation(1_500)[:count]
    assert cosines_at(vectors, some, vector).tolist() == cosines(vectors, vector)[some].tolist()


@pytest.mark.parametrize("count", [1, 2, 7])
def test_those_with_several_vectors_stand_in_their_order(count):
    vectors, others = rows(300), rows(8)[:count]
    assert cosines_of_each(vectors, others) == pytest.approx(others.astype(np.float64) @ vectors.T, abs=1e-6)


def test_rows_of_larger_array_are_meant_by_their_places():
    reserved = np.zeros((100, 24), dtype=np.float32)
    reserved[:10] = rows(10)
    assert cosines_at(reserved[:10], np.array([9, 9, 0]), reserved[9])[:2] == pytest.approx([1.0, 1.0])
