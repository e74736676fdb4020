"""The pieces that the delivered models read (`apps/llm/embedding/vocabulary`)."""

import shutil

import numpy as np
import pytest

from apps.llm.domain.embedder import EmbeddingUnavailableError
from apps.llm.embedding.delivered import DeliveredModelError
from apps.llm.embedding.e5.embedder import PREFIXES, E5Embedder
from apps.llm.embedding.vocabulary import vocabulary as module
from apps.llm.embedding.vocabulary.vocabulary import FOLDER, UNKNOWN, Vocabulary, get_vocabulary
from apps.llm.pair_judge.judge import PairJudge, PairJudgeError


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """Have the vocabulary of this process lie in a folder that lacks a byte."""
    shutil.copytree(FOLDER, tmp_path / "model")
    with (tmp_path / "model" / "pieces.model").open("r+b") as file:
        file.truncate(1_000_000)
    get_vocabulary.cache_clear()
    monkeypatch.setattr(Vocabulary.__init__, "__defaults__", (tmp_path / "model",))
    yield
    get_vocabulary.cache_clear()


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Lisbon.",
        "美雅在花蓮長大",
        "Лена живёт у моря",
        "민수는 서울에 산다",
        "Ünïcödé — ﬁne №5",
        "a 🎉 day",
    ],
)
def test_pieces_are_what_the_text_is_made_of(text):
    pieces = get_vocabulary().pieces(text)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.number for piece in pieces] == get_vocabulary().numbers(text)
    assert UNKNOWN not in get_vocabulary().numbers(text)


def test_vectors_have_a_row_for_each_number_and_differ():
    numbers = np.array([get_vocabulary().numbers("tea and coffee")], dtype=np.int32)
    vectors = get_vocabulary().vectors(numbers)
    assert (vectors.shape, vectors.dtype) == ((*numbers.shape, 384), np.float32)
    assert len(np.unique(vectors[0], axis=0)) == numbers.shape[1]
    np.testing.assert_array_equal(get_vocabulary().vectors(numbers[:, 1:]), vectors[:, 1:])


def test_what_stands_before_a_text_are_pieces():
    numbers = [get_vocabulary().number(piece) for pieces in PREFIXES.values() for piece in pieces]
    assert UNKNOWN not in numbers


def test_a_piece_that_is_none_is_unknown():
    assert get_vocabulary().number("no such piece") == UNKNOWN


@pytest.mark.usefixtures("damaged")
def test_a_damaged_vocabulary_is_named_by_what_needs_it():
    with pytest.raises(DeliveredModelError, match=module.WHAT):
        get_vocabulary().open()
    with pytest.raises(EmbeddingUnavailableError, match="vocabulary"):
        E5Embedder(1).load()
    with pytest.raises(PairJudgeError, match="vocabulary"):
        PairJudge().load()
