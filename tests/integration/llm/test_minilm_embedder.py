import json
import threading
from pathlib import Path

import numpy as np
import pytest

from apps.llm.domain.embedder import EmbeddingInputError, EmbeddingSpaceId, EmbeddingUnavailableError
from apps.llm.embedding import local
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.minilm.source import Precision

REFERENCE = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "minilm_reference.json"
TEXTS = [
    "User prefers Python",
    "",
    "I moved from Berlin to Lisbon in March 2024.",
    "使用者偏好深色主題",
    "word " * 600,
    "émoji 🎉🚀 test",
    "x",
    "Where does she live now, and since when has she been there? " * 3,
]
# The first components of float32 vectors, from a build that agreed with sentence-transformers to 1e-6.
EXPECTED = {
    "User prefers Python": [-0.00366, 0.00336, 0.00134, -0.01114, -0.04274, -0.09372, 0.05775, 0.09643],
    "": [-0.11884, 0.0483, -0.00255, -0.01101, 0.05195, 0.01029, 0.11543, 0.0007],
    "Anna's dog is called Biscuit; he is four years old.": [
        0.04509,
        0.03232,
        0.01508,
        0.07379,
        -0.09975,
        0.03053,
        0.0121,
        0.00354,
    ],
    "記憶 and Ünïcödé": [0.0186, -0.05244, 0.02315, 0.02685, -0.01627, -0.05802, 0.03894, -0.04956],
}


@pytest.fixture(scope="module")
def reference() -> tuple[list[str], np.ndarray]:
    if not REFERENCE.exists():
        pytest.skip(f"the reference vectors are not beside this checkout: {'/'.join(REFERENCE.parts[-3:])}")
    cases = json.loads(REFERENCE.read_text())["cases"]
    return [case["text"] for case in cases], np.array([case["embedding"] for case in cases])


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one.astype(np.float64) * other).sum(axis=1)


def test_float32_agrees_with_sentence_transformers(float32, reference):
    texts, vectors = reference
    assert cosines(float32.embed(texts), vectors).min() >= 0.9999


def test_int8_stays_close_to_sentence_transformers(int8, reference):
    texts, vectors = reference
    shares = cosines(int8.embed(texts), vectors)
    assert shares.min() >= 0.975
    assert shares.mean() >= 0.99


@pytest.mark.parametrize("text", EXPECTED)
def test_float32_gives_the_recorded_vector(float32, text):
    assert float32.embed([text])[0][:8].tolist() == pytest.approx(EXPECTED[text], abs=2e-5)


def test_int8_stays_close_to_float32(int8, float32):
    assert cosines(int8.embed(TEXTS), float32.embed(TEXTS)).min() >= 0.975


@pytest.mark.parametrize("name", ["int8", "float32"])
def test_vectors_are_float32_of_length_one_in_order_of_texts(name, request):
    embedder = request.getfixturevalue(name)
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert cosines(vectors, embedder.embed(TEXTS[::-1])[::-1]).min() > 0.99999


@pytest.mark.parametrize("name", ["int8", "float32"])
def test_text_has_same_vector_alone_and_in_batch(name, request):
    embedder = request.getfixturevalue(name)
    together = embedder.embed(TEXTS * 10)[: len(TEXTS)]
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert cosines(together, alone).min() > 0.99999


def test_paraphrase_is_nearer_than_another_subject(int8):
    eating, meal, stocks = int8.embed(["a man is eating food", "someone eats a meal", "the stock market fell"])
    assert eating @ meal > eating @ stocks + 0.3


def test_a_text_counts_up_to_its_256th_token(int8):
    long = " ".join(["word"] * 254)
    same, other = int8.embed([f"{long} and more", f"{long} but something else"])
    assert (same == other).all()
    assert not np.allclose(*int8.embed(["word " * 200 + "cat", "word " * 200 + "stock market"]))


def test_half_million_characters_are_embedded_too(int8):
    assert np.isfinite(int8.embed(["a lot of words " * 35_000])).all()


def test_no_texts_give_no_vectors_and_load_nothing(models_dir):
    embedder = MiniLMEmbedder(models_dir, Precision.INT8, threads=1)
    assert embedder.embed([]).shape == (0, 384)
    assert not embedder.is_loaded


def test_a_lone_surrogate_is_refused(int8):
    with pytest.raises(EmbeddingInputError):
        int8.embed(["fine", "\udcff"])


def test_space_names_model_and_precision_without_loading(tmp_path):
    embedder = MiniLMEmbedder(tmp_path, Precision.INT8, threads=1)
    assert embedder.space == EmbeddingSpaceId("all-MiniLM-L6-v2/int8", 384)
    assert MiniLMEmbedder(tmp_path, Precision.FLOAT32, threads=1).space != embedder.space
    assert not embedder.is_loaded
    assert not list(tmp_path.iterdir())


def test_sixteen_threads_that_come_first_load_model_once(models_dir, monkeypatch, int8):
    opened: list[Path] = []
    real = local.open_session
    monkeypatch.setattr(local, "open_session", lambda path: opened.append(path) or real(path))
    embedder = MiniLMEmbedder(models_dir, Precision.INT8, threads=2)
    barrier, vectors = threading.Barrier(16), {}

    def embed(number: int) -> None:
        barrier.wait(10)
        vectors[number] = embedder.embed([TEXTS[number % 3]])

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(opened) == 1
    expected = int8.embed(TEXTS[:3])
    assert all(np.allclose(vectors[number][0], expected[number % 3], atol=1e-5) for number in range(16))


def test_large_calls_from_several_threads_do_not_mix_their_texts(int8):
    parts = [[f"memory number {number} of part {part}" for number in range(60)] for part in range(4)]
    expected = [int8.embed(part) for part in parts]
    results: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda n=number: results.update({n: int8.embed(parts[n])})) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(cosines(results[number], expected[number]).min() > 0.99999 for number in range(4))


def test_damaged_model_file_is_rebuilt_before_it_is_loaded(tmp_path, int8):
    MiniLMEmbedder(tmp_path, Precision.INT8, threads=1).load()
    [path] = tmp_path.glob("*.onnx")
    path.write_bytes(b"damaged")
    assert np.allclose(MiniLMEmbedder(tmp_path, Precision.INT8, threads=1).embed(["x"]), int8.embed(["x"]))


def test_directory_that_cannot_be_used_is_error_that_may_pass(tmp_path):
    (tmp_path / "models").write_text("a file, not a directory")
    embedder = MiniLMEmbedder(tmp_path / "models", Precision.INT8, threads=1)
    with pytest.raises(EmbeddingUnavailableError, match="cannot be kept") as caught:
        embedder.embed(["x"])
    assert caught.value.retryable


def test_loading_is_tried_again_after_a_failure(tmp_path):
    place = tmp_path / "models"
    place.write_text("in the way")
    embedder = MiniLMEmbedder(place, Precision.INT8, threads=1)
    with pytest.raises(EmbeddingUnavailableError):
        embedder.load()
    place.unlink()
    embedder.load()
    assert embedder.is_loaded


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("I live in Oslo.", 1.0, 1.0),
        ("", 1.0, 1.0),
        ("Ich wohne in Köln und trinke gern Kaffee.", 1.0, 1.0),
        ("J'habite à Genève, près du lac.", 1.0, 1.0),
        ("我喜欢游泳。", 0.0, 0.8),
        ("我在腾讯工作，每天坐地铁上班。", 0.0, 0.8),
    ],
)
def test_the_share_of_known_tokens_is_low_for_chinese_only(int8, text, low, high):
    assert low <= int8.known_share(text) <= high


def test_the_share_of_a_text_is_counted_once(int8, monkeypatch):
    text = "团子上个月送人了"
    first = int8.known_share(text)
    monkeypatch.setattr(int8, "load_runtime", lambda: pytest.fail("counted again"))
    assert int8.known_share(text) == first


def test_ascii_needs_no_tokenizer(tmp_path):
    embedder = MiniLMEmbedder(tmp_path, Precision.INT8, threads=1)
    assert embedder.known_share("plain words") == 1.0
    assert not embedder.is_loaded


def test_a_share_of_a_text_that_cannot_be_encoded_is_refused(int8):
    with pytest.raises(EmbeddingInputError):
        int8.known_share("\ud800")
