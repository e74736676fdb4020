import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from apps.llm.domain.embedder import (
    EmbeddingDimensionError,
    EmbeddingError,
    EmbeddingInputError,
    EmbeddingResponseError,
    EmbeddingSpaceId,
    EmbeddingUnavailableError,
    check_texts,
    normalise,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_a_vector_is_scaled_to_length_one():
    assert normalise([3.0, 4.0]).tolist() == pytest.approx([0.6, 0.8])


def test_a_matrix_is_scaled_row_by_row():
    vectors = normalise([[2.0, 0.0], [0.0, -5.0]])
    assert vectors.tolist() == [[1.0, 0.0], [0.0, -1.0]]
    assert vectors.dtype == np.float32


def test_no_vectors_at_all_are_fine():
    assert normalise(np.zeros((0, 4))).shape == (0, 4)


@given(hnp.arrays(np.float64, 5, elements=FINITE).filter(lambda v: v.any()))
def test_every_finite_vector_with_direction_gets_length_one(vector):
    assert np.linalg.norm(normalise(vector)) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number):
    with pytest.raises(EmbeddingResponseError, match="not finite"):
        normalise([[1.0, 0.0], [number, 1.0]])


def test_vector_of_zeros_is_refused_among_good_ones():
    with pytest.raises(EmbeddingResponseError, match="all zeros"):
        normalise([[1.0, 0.0], [0.0, 0.0]])


def test_texts_are_given_back_as_they_are():
    assert check_texts(("a", "", "日本")) == ["a", "", "日本"]


def test_bare_string_is_refused_rather_than_embedded_letter_by_letter():
    with pytest.raises(EmbeddingInputError, match="not one text"):
        check_texts("hello")


def test_item_that_is_no_string_is_named_by_its_position_and_type():
    with pytest.raises(EmbeddingInputError, match="Text 1 is a int"):
        check_texts(["a", 5])


def test_lone_surrogate_is_refused_without_repeating_text():
    with pytest.raises(EmbeddingInputError, match="lone surrogate at character 7") as caught:
        check_texts(["secret \ud800"])
    assert "secret" not in str(caught.value)


def test_every_error_is_an_embedding_error():
    for kind in (EmbeddingInputError, EmbeddingResponseError, EmbeddingUnavailableError):
        assert issubclass(kind, EmbeddingError)
    assert issubclass(EmbeddingDimensionError, EmbeddingResponseError)


def test_a_dimension_error_says_both_dimensions():
    assert str(EmbeddingDimensionError(384, 768)) == "The embedding has 768 dimensions; 384 are configured."


def test_spaces_are_equal_only_when_model_and_dimension_are():
    space = EmbeddingSpaceId("m", 384)
    assert space == EmbeddingSpaceId("m", 384)
    assert space not in {EmbeddingSpaceId("m", 383), EmbeddingSpaceId("n", 384)}
