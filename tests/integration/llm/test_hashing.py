import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.domain.embedder import EmbeddingInputError
from apps.llm.embedding.hashing import FEATURES, HashingEmbedder

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
PROGRAM = """
import hashlib
from apps.llm.embedding.hashing import HashingEmbedder
print(hashlib.sha256(HashingEmbedder().embed(["the dog is called Biscuit", ""]).tobytes()).hexdigest())
"""


def cosine(one: str, other: str) -> float:
    first, second = HashingEmbedder().embed([one, other])
    return float(first @ second)


@given(st.lists(TEXT, max_size=5))
def test_every_text_has_a_vector_of_length_one(texts):
    vectors = HashingEmbedder().embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


@given(TEXT, TEXT)
def test_text_has_same_vector_alone_and_beside_another(one, other):
    assert (HashingEmbedder().embed([one])[0] == HashingEmbedder().embed([other, one])[1]).all()


@pytest.mark.parametrize("text", ["", " ", "!?…", "🎉🚀"])
def test_text_without_words_has_direction_of_its_own(text):
    assert cosine(text, text) == pytest.approx(1.0)
    assert abs(cosine(text, "a text with words")) < 0.3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna likes tea", "anna likes tea"),
        ("Anna likes tea", "tea likes Anna"),
        ("tea", "tea!"),
        ("", " "),
        ("one two", "three four"),
    ],
)
def test_distinct_texts_have_distinct_vectors(one, other):
    assert cosine(one, other) < 0.9999


def test_more_shared_words_mean_a_higher_cosine():
    question = "what is the dog of Anna called"
    shares = [
        cosine(question, text)
        for text in ("rain tomorrow", "Anna bakes bread", "the dog of Anna", "the dog of Anna is called Biscuit")
    ]
    assert shares == sorted(shares)
    assert shares[-1] > shares[0] + 0.4


def test_words_with_same_stem_are_nearer_than_unrelated_ones():
    assert cosine("travelling", "travelled") > cosine("travelling", "breakfast") + 0.2


def test_chinese_words_inside_sentence_raise_cosine():
    assert cosine("使用者偏好深色主題", "深色主題") > cosine("使用者偏好深色主題", "明天下雨") + 0.2


def test_vectors_do_not_depend_on_seed_of_pythons_hash():
    here = hashlib.sha256(HashingEmbedder().embed(["the dog is called Biscuit", ""]).tobytes()).hexdigest()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == here


def test_another_dimension_is_another_space():
    embedder = HashingEmbedder(dimension=64)
    assert embedder.embed(["a"]).shape == (1, 64)
    assert embedder.space != HashingEmbedder().space


def test_a_bare_string_is_refused():
    with pytest.raises(EmbeddingInputError):
        HashingEmbedder().embed("hello")


def test_every_text_is_known():
    assert HashingEmbedder().known_share("我喜欢游泳。") == 1.0


def test_long_words_are_not_kept_in_memory() -> None:
    embedder = HashingEmbedder(8)
    # Other tests of the process may have filled it: full, it keeps its size.
    FEATURES.clear()
    before = FEATURES.state().entries
    embedder.embed(["x" * number for number in range(65, 90)])
    assert FEATURES.state().entries == before
    embedder.embed(["a word that nothing else has: zyxwvuts"])
    assert FEATURES.state().entries > before
