import shutil

import numpy as np
import pytest

from apps.llm.domain.embedder import EmbeddingInputError, EmbeddingUnavailableError, TextRole
from apps.llm.embedding.e5.embedder import FOLDER, E5Embedder

# A question, what answers it, and what does not, each of the others in turn.
ANSWERS = [
    ("Where does Maya work?", "Maya has a job at the bakery on Mill Road"),
    ("美雅住在哪裡？", "美雅的家在台南,離車站很近"),
    ("他对什么过敏？", "他吃花生会起疹子"),
    ("Wann hat Jonas Geburtstag?", "Jonas kam am 3. Mai auf die Welt"),
    ("¿A qué hora abre la farmacia?", "La botica atiende desde las nueve de la mañana"),
    ("Quel est son instrument ?", "Elle joue du violoncelle depuis dix ans"),
    ("会議は何曜日ですか", "定例ミーティングは毎週火曜に開かれる"),
    ("Где Лена работает?", "Лена устроилась в пекарню у вокзала"),
    ("أين تسكن مريم؟", "بيت مريم قرب البحر في صفاقس"),
    ("민수는 무엇을 못 먹어?", "민수는 새우를 먹으면 두드러기가 난다"),
    ("दादी की दवा कब की है?", "नानी हर सुबह नाश्ते के बाद गोली लेती हैं"),
    ("Kedi nerede uyuyor?", "Tekir geceleri sobanın yanındaki sepette yatar"),
    ("Milloin mökki on varattu?", "Huvila on meidän heinäkuun toisella viikolla"),
    ("Con gái Lan học nhạc cụ gì?", "Bé nhà Lan tập đàn tranh mỗi tối"),
]


@pytest.fixture(scope="module")
def e5() -> E5Embedder:
    return E5Embedder(threads=2)


def test_a_question_is_nearest_to_its_answer_in_each_language(e5):
    questions = e5.embed([question for question, _ in ANSWERS], TextRole.QUERY)
    answers = e5.embed([answer for _, answer in ANSWERS])
    assert (questions @ answers.T).argmax(axis=1).tolist() == list(range(len(ANSWERS)))


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(e5):
    texts = ["", "貓", "a cat", "word " * 3_000]
    vectors = e5.embed(texts)
    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    # Integers of a batch have one scale for each text, so rounding differs a little.
    assert (e5.embed([texts[2]])[0] @ vectors[2]) > 0.99


def test_unrelated_statements_are_not_near(e5):
    vectors = e5.embed(["Ana plays the cello", "The invoice is due on Friday", "會議室在三樓", "Toby mag keinen Regen"])
    others = (vectors @ vectors.T)[np.triu_indices(4, 1)]
    assert others.max() < 0.5


def test_it_knows_what_it_reads(e5):
    assert e5.known_share("我們家的貓喜歡睡在窗邊") > 0.9
    assert e5.known_share("我们家的猫喜欢睡在窗边") > 0.9
    assert e5.known_share("plain words") == 1.0
    assert e5.known_share("ሰላም ለሁሉም ይሁን") > 0.9
    assert e5.known_share("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ") < 0.5


def test_a_text_is_cut_where_the_model_ends(e5):
    e5.load()
    for role in TextRole:
        numbers = e5.cut("word " * 3_000, role)
        assert (len(numbers), numbers[0], numbers[-1]) == (512, 0, 2)


def test_a_lone_surrogate_is_refused(e5):
    with pytest.raises(EmbeddingInputError):
        e5.embed(["\ud800"])


@pytest.mark.parametrize("damage", ["a byte", "no file", "no description"])
def test_damaged_files_are_named(tmp_path, damage):
    shutil.copytree(FOLDER, tmp_path / "model")
    match damage:
        case "a byte":
            with (tmp_path / "model" / "encoder.onnx").open("r+b") as file:
                file.seek(1_000_000)
                file.write(b"\x00\x01\x02")
        case "no file":
            (tmp_path / "model" / "encoder.onnx").unlink()
        case _:
            (tmp_path / "model" / "model.json").unlink()
    with pytest.raises(EmbeddingUnavailableError, match="multilingual-e5-small"):
        E5Embedder(1, tmp_path / "model").load()
