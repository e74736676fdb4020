"""Which language a text is in. English memories must never be taken for another language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.statements.language import common_language, language_of
from tests.effort import examples

ENGLISH = [
    "I live in Oslo.",
    "Likes tea",
    "Dentist 3 pm",
    "Ana Müller",
    "My café is in Malmö.",
    "La Paz is high.",
    "We flew to Los Angeles from El Paso.",
    "Our dog is called Das.",
    "Le Monde is my paper.",
    "Zoë works at Crédit Agricole in Genève.",
    "The die is cast.",
    "I was in war and peace, also on stage.",
    "User prefers Señor over Mr.",
    "The hotel is La Casa del Mar in Cádiz.",
    "I am an artist, so he was in.",
    "Van der Berg is my landlord.",
    "My son works in a bar.",
    "Das Boot is a film that I like.",
    "Die Hard is on tonight.",
    "My favourite food is 火锅.",
    "Call me Señora Ruiz, please.",
    "de facto the deadline is Monday",
    "He has a Plus account, on or off.",
    "port 5432",
    "2023/07/17 (Mon) 02:55",
    "`der die das ist nicht` is in the test",
    "",
    "42",
    "🎉🎉",
    "naïve",
]
OTHERS = [
    ("我住在北京。", "zh"),
    ("我住在臺北。", "zh"),
    ("部署用 Kubernetes 和 Helm。", "zh"),
    ("跑測試的指令是 pnpm vitest run。", "zh"),
    ("我在 The Home Depot 上班。", "zh"),
    ("Ich wohne jetzt in Hamburg.", "de"),
    ("Die Abgabe des Gutachtens ist am 3. Mai.", "de"),
    ("Der Hund heißt Waldi.", "de"),
    ("J'habite à Lille.", "fr"),
    ("Le chef de l'équipe est Bastien Roche.", "fr"),
    ("Je ne mange pas de gluten.", "fr"),
    ("Vivo en Bilbao y trabajo en un banco.", "es"),
    ("No me gusta el café.", "es"),
    ("¿Dónde está mi coche?", "es"),
    ("私は東京に住んでいます。", ""),
    ("나는 서울에 산다.", ""),
    ("Я живу в Москве.", ""),
    ("Ik woon nu in Utrecht en ik werk bij een bakker.", ""),
    ("Eu não gosto de café, mas você gosta.", ""),
    ("Vivo a Roma e lavoro in una banca con mia sorella, che non è di qui.", ""),
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_english(text):
    assert language_of(text) == "en"


@pytest.mark.parametrize(("text", "language"), OTHERS)
def test_other_languages_are_known_by_script_and_function_words(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("first", "second", "language"),
    [
        ("Fumo.", "Ya no fumo.", "es"),
        ("Das Parkticket kostet 3 Euro.", "Das Parkticket kostet jetzt 4,50 Euro.", "de"),
        ("I live in Berlin.", "Ich wohne jetzt in Hamburg.", ""),
        ("I live in Berlin.", "I moved to Hamburg.", "en"),
        ("我住在北京。", "I live in Beijing.", ""),
    ],
)
def test_two_texts_have_a_language_in_common(first, second, language):
    assert common_language(first, second) == common_language(second, first) == language


@given(st.text(max_size=200))
@settings(max_examples=examples(200))
def test_any_text_has_a_language(text):
    assert language_of(text) in ("en", "zh", "de", "fr", "es", "")
