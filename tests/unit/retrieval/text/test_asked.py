"""What a question looks for: words, and of Chinese ones single characters that count less."""

from apps.retrieval.domain.text.asked import CHARACTER, LOOSE_PAIR, asked_terms, written_as


def test_english_question_asks_for_its_words_alone():
    asked = asked_terms("Where do we keep the green tea?")
    assert dict(asked.words) == {"keep": 1.0, "green": 1.0, "tea": 1.0}
    assert not asked.parts


def test_words_that_only_ask_are_left_out():
    asked = asked_terms("請問體重是多少？")
    assert dict(asked.words) == {"体重": 1.0, "重是": LOOSE_PAIR}
    assert dict(asked.parts) == {"体": CHARACTER, "重": CHARACTER}


def test_question_of_one_character_asks_for_it_as_for_a_word():
    assert dict(asked_terms("魚").words) == {"鱼": 1.0}


def test_question_of_asking_words_alone_asks_for_them():
    assert asked_terms("為什麼？").words


def test_terms_are_shown_as_the_question_writes_them():
    written = written_as("體重 running 体检")
    assert written["体重"] == "體重"
    assert not {"run", "体检"} & written.keys()
