"""Chinese questions about notes of our own writing, by the default mode and the default embedder (spec 001, search)."""

from dataclasses import replace

import pytest

from apps.llm.embedding.embedder import reset_embedder
from benchmarks.note_questions import SETS, ask_all, first_right

pytestmark = [pytest.mark.django_db, pytest.mark.deep]


@pytest.fixture
def minilm(settings, tmp_path):
    """Embed with MiniLM."""
    settings.MODELS_DIR = tmp_path
    hub = settings.MEMORYHUB
    settings.MEMORYHUB = replace(hub, embedding=replace(hub.embedding, embedder="minilm"))
    reset_embedder()
    yield
    reset_embedder()


@pytest.mark.parametrize("name", SETS)
def test_first_hit_answers_a_chinese_question(notes_dir, minilm, name):
    """Spec 001, 搜尋記憶: at least 78 of 100 questions are answered by the first hit."""
    asked = list(ask_all(name))
    assert first_right(asked) >= 0.78, [each for each in asked if each.place != 1]
