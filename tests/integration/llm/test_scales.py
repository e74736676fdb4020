from pathlib import Path

import pytest

from apps.llm.domain.embedder import EmbeddingSpaceId, TextRole
from apps.llm.embedding.e5.embedder import E5Embedder
from apps.llm.embedding.minilm.embedder import MiniLMEmbedder
from apps.llm.embedding.scales import FOLDER, read_scale, scale_of, write_scale
from apps.retrieval.domain.vectors.scale import PLAIN_SCALE, Curve, Scale
from apps.semantic.search.replaced import MIN_SIMILARITY


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(1)


def test_each_delivered_embedder_but_minilm_has_a_scale(int8: MiniLMEmbedder) -> None:
    assert scale_of(int8.space) == PLAIN_SCALE
    assert scale_of(E5Embedder(1).space) != PLAIN_SCALE
    assert {read_scale(path)[0] for path in FOLDER.glob("*.json")} == {E5Embedder(1).space.model}


def test_space_of_which_nothing_is_known_has_the_plain_scale() -> None:
    assert scale_of(EmbeddingSpaceId("text-embedding-3-small", 1536)) == PLAIN_SCALE


def test_scale_is_read_as_it_was_written(tmp_path: Path) -> None:
    curve = Curve(((-1.0, -1.0), (0.25, 0.3), (1.0, 1.0)))
    write_scale(tmp_path / "one.json", "model/1", Scale(curve, PLAIN_SCALE.questions))
    assert read_scale(tmp_path / "one.json") == ("model/1", Scale(curve, Curve()))


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("Where does Ana work?", "Ana started at the harbour clinic.", True),
        ("Ana 在哪裡上班？", "Ana 在港口診所工作。", True),
        ("Where does Ana work?", "The heating was broken for the whole weekend.", False),
        ("房租每個月多少錢？", "哈哈，太好了，謝謝你！", False),
    ],
)
def test_e5_says_on_the_scale_whether_a_text_speaks_of_a_question(
    e5: E5Embedder, question: str, text: str, says: bool
) -> None:
    [asked], [stored] = e5.embed([question], TextRole.QUERY), e5.embed([text])
    assert (scale_of(e5.space).questions.place(float(asked @ stored)) >= MIN_SIMILARITY) is says
