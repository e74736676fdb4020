"""The judge of pairs reads a hundred languages, more than it was trained in; of texts in others it says nothing."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from apps.llm.pair_judge.judge import get_pair_judge
from apps.rules.domain.engine.pair_judge import judge_pairs, use_judge
from apps.rules.domain.engine.signals import Detection, DetectionConfig
from apps.rules.domain.engine.weighing import weigh

pytestmark = pytest.mark.usefixtures("own_judge")

# A group, a language, and six statements that have nothing to do with each other.
LINES = [line.split(" | ") for line in Path(__file__).with_name("other_languages.txt").read_text("utf-8").splitlines()]
KNOWN = [
    ("The boiler stands in the cellar.", "You find the boiler down in the basement."),
    ("Opa trägt seit Jahren eine Brille.", "Ohne Brille sieht Opa seit Jahren nichts mehr."),
    ("Le chat dort toujours sur l'armoire.", "L'armoire est l'endroit où le chat dort toujours."),
    ("鍋爐在地下室。", "地下室裡有鍋爐。"),
]


def pairs_of(group: str) -> list[Any]:
    """Each statement of a language after each other one, by language."""
    return [pytest.param(list(permutations(texts, 2)), id=name) for place, name, *texts in LINES if place == group]


@pytest.mark.parametrize("pairs", [*pairs_of("scripts"), *pairs_of("spelled")])
def test_other_matters_are_not_acted_on_in_any_language(pairs: list[tuple[str, str]]) -> None:
    nothing = Detection((), False, 0.0, is_decisive=False)
    acted = [
        pair
        for pair, answer in zip(pairs, get_pair_judge().read(pairs), strict=True)
        if answer is not None and weigh(nothing, answer, pair, True, DetectionConfig(), "m1").is_decisive
    ]
    assert acted == []


@pytest.mark.parametrize("pairs", pairs_of("scripts"))
def test_other_scripts_are_read(pairs: list[tuple[str, str]]) -> None:
    assert None not in get_pair_judge().read(pairs)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Лена живёт в Казани.", "Лена переехала в Самару."),
        ("تسكن مريم في تونس.", "انتقلت مريم إلى سوسة."),
        ("민수의 직장은 우체국이다.", "민수의 직장은 도서관이다."),
        ("Elif İzmir'de yaşıyor.", "Elif artık Bursa'da yaşıyor."),
        ("Η Ελένη μένει στο Βόλο.", "Η Ελένη μετακόμισε στα Χανιά."),
        ("Márta kedvenc színe a kék.", "Márta kedvenc színe a zöld."),
    ],
)
def test_a_new_value_is_seen_in_other_languages(older: str, newer: str) -> None:
    [answer] = get_pair_judge().read([(older, newer)])
    assert answer is not None
    assert answer.replaces > 0.5


def test_script_without_pieces_is_not_read() -> None:
    assert get_pair_judge().read([("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᎦᏬᏂᎯᏍᏗ ᏣᎳᎩ ᎠᏂ")]) == [None]


def test_a_text_is_read_beside_a_few_strange_letters() -> None:
    older, newer = "Anna and her two brothers moved to Львів.", "Anna lives in Львів now, in the old town."
    [answer] = get_pair_judge().read([(older, newer)])
    assert answer is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("李𠮷住在台北。", "李㐂住在台北。"),
        ("Pizza on Fridays: 🫠", "Pizza on Fridays: 🥳"),
        ("The dog is called ᏩᏯ.", "The dog is called ᎩᏟ."),
    ],
)
def test_texts_that_differ_in_what_it_does_not_see_are_not_the_same(older: str, newer: str) -> None:
    [answer] = get_pair_judge().read([(older, newer)])
    assert answer is None or not answer.knows_words


def test_text_without_letters_is_not_read() -> None:
    assert get_pair_judge().read([("🫠🫠 12.05", "🥳 12.05"), ("12.05", "Anna swims on 12 May.")]) == [None, None]


def test_languages_with_words_are_known() -> None:
    answers = get_pair_judge().read(KNOWN)
    assert [answer is not None and answer.knows_words for answer in answers] == [True] * len(KNOWN)


def test_capitals_are_read_as_words() -> None:
    [answer] = get_pair_judge().read([("ANA LIVES IN BERLIN NOW", "ANA LIVES IN HAMBURG NOW")])
    assert answer is not None
    assert answer.knows_words


def test_unread_pair_is_unjudged_among_others() -> None:
    use_judge("test-1", get_pair_judge().read)
    first, unread, again = judge_pairs([KNOWN[0], ("ᏪᏌ ᎦᎵᎭ ᎪᎯ.", "ᏪᏌ ᎠᎵᏍᏓᏴᎲᏍᎦ."), KNOWN[0]])
    assert unread is None
    assert first == again is not None
