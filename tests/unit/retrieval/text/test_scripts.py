"""Both scripts of Chinese find each other, and nothing else changes."""

import pytest

from apps.retrieval.domain.text.scripts import _characters, fold_script, spellings
from apps.retrieval.domain.text.terms import query_terms, terms, words


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("體重", "体重"),
        ("裡面", "里面"),
        ("臺灣", "台湾"),
        ("頭髮", "头发"),
        ("看著", "看着"),
        ("綫上", "线上"),
        ("答覆", "答复"),
    ],
)
def test_terms_of_both_scripts_are_equal(traditional, simplified):
    assert terms(traditional) == terms(simplified)
    assert query_terms(f"我的{traditional}") == query_terms(f"我的{simplified}")


def test_words_stay_as_they_are_written():
    assert words("體重") == ["體", "體重", "重"]


def test_a_folded_character_stays_what_it_is():
    assert all(fold_script(character) == character for character in _characters().values())


def test_other_scripts_stay_as_they_are():
    for text in ("Café Ölüm", "привет", "ひらがな", "한국어", "ไทย"):
        assert fold_script(text) == text


def test_a_term_is_written_in_both_scripts():
    assert set(spellings(terms("體重")[1])) == {"体重", "體重"}
    assert spellings("weight") == ["weight"]
