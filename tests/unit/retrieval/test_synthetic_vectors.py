"""Made-up vectors are what measurements say they are."""

import numpy as np
import pytest

from apps.retrieval.domain.vectors.synthetic import Clusters


def test_they_are_of_unit_length_and_asked_shape():
    drawn = Clusters(7, 96, seed=1).draw(300)
    assert drawn.vectors.shape == (300, 96)
    assert drawn.vectors.dtype == np.float32
    assert np.linalg.norm(drawn.vectors, axis=1) == pytest.approx(1.0)
    assert set(drawn.clusters) == set(range(7))


def test_same_seed_draws_same_vectors():
    first, again, other = (Clusters(5, 24, seed).draw(40).vectors for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert not np.allclose(first, other)


def test_next_ones_are_others_of_same_clusters():
    clusters = Clusters(5, 24, seed=1)
    rows, queries = clusters.draw(200), clusters.draw(200)
    assert not np.allclose(rows.vectors, queries.vectors)
    nearest = rows.clusters[np.argmax(queries.vectors @ rows.vectors.T, axis=1)]
    assert np.mean(nearest == queries.clusters) > 0.9


def test_rows_of_cluster_are_nearer_to_each_other_than_to_rest():
    drawn = Clusters(20, 96, seed=1).draw(500)
    cosines = drawn.vectors @ drawn.vectors.T
    same = drawn.clusters[:, None] == drawn.clusters[None, :]
    np.fill_diagonal(cosines, np.nan)
    assert np.nanmean(cosines[same]) > np.nanmean(cosines[~same]) + 0.5


@pytest.mark.parametrize(("rows", "clusters"), [(1, 1), (100, 2), (10_000, 200), (1_000_000, 4_000)])
def test_there_are_as_many_clusters_as_suit_rows(rows, clusters):
    assert len(Clusters.for_rows(rows, 8, seed=1)._centres) == clusters


def test_they_fill_part_of_their_space_but_not_that_alone():
    spread = np.linalg.svd(Clusters(50, 128, seed=1).draw(2_000).vectors, compute_uv=False)
    assert spread[63] > 4 * spread[64] > 0.1
