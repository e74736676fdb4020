"""The judge of pairs has words for some languages: of texts in others it says nothing, and takes none for the same."""

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


@pytest.mark.parametrize("pairs", pairs_of("scripts"))
def test_script_without_words_is_not_read(pairs: list[tuple[str, str]]) -> None:
    assert set(get_pair_judge().read(pairs)) == {None}


@pytest.mark.parametrize("pairs", pairs_of("spelled"))
def test_other_matters_of_language_whose_words_are_spelled_are_not_the_same(pairs: list[tuple[str, str]]) -> None:
    nothing = Detection((), False, 0.0, is_decisive=False)
    acted = [
        pair
        for pair, answer in zip(pairs, get_pair_judge().read(pairs), strict=True)
        if answer is not None and weigh(nothing, answer, pair, True, DetectionConfig(), "m1").is_decisive
    ]
    assert acted == []


def test_a_text_is_read_beside_a_few_strange_letters() -> None:
    older, newer = "Anna and her two brothers moved to Львів.", "Anna lives in Львів now, in the old town."
    [answer] = get_pair_judge().read([(older, newer)])
    assert answer is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("李犇住在台北。", "李堃住在台北。"),
        ("Pizza on Fridays: 🫠", "Pizza on Fridays: 🥳"),
        ("The dog is called ნუკრი.", "The dog is called ბუბა."),
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
    first, unread, again = judge_pairs([KNOWN[0], ("Кот спит.", "Кот ест."), KNOWN[0]])
    assert unread is None
    assert first == again is not None
