"""German, French and Spanish: a plain minimum, safe before anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.contradiction.languages import find_in_language, read_in, restated_share_in
from apps.rules.domain.statements.language import common_language
from apps.rules.domain.statements.statement import Mood, Tense
from tests.effort import examples
from tests.timing import assert_quick
from tests.unit.rules.pairs import read_pairs

ACT, RESTATE = 0.85, 0.8
PAIRS = read_pairs("european_pairs.txt")


def is_acted_on(older: str, newer: str) -> bool:
    found = find_in_language(common_language(older, newer), older, newer)
    return found is not None and found.score >= ACT


@pytest.mark.parametrize(("older", "newer"), [pair[2:] for pair in PAIRS if pair[0] == "coexist"])
def test_nothing_that_may_stand_side_by_side_is_destroyed(older, newer):
    assert not is_acted_on(older, newer)
    assert not is_acted_on(newer, older)
    assert restated_share_in(common_language(older, newer), older, newer) < RESTATE


def test_the_plainest_updates_are_acted_on():
    updates = [pair[2:] for pair in PAIRS if pair[0] == "update"]
    assert sum(is_acted_on(*pair) for pair in updates) >= 0.85 * len(updates)


@pytest.mark.parametrize(("older", "newer"), [pair[2:] for pair in PAIRS if pair[0] == "update"])
def test_a_question_changes_nothing(older, newer):
    assert not is_acted_on(older, newer.rstrip(".") + "?")


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("de", "Der Kurs beginnt um 16 Uhr.", "Der Kurs beginnt um 16:00 Uhr."),
        ("fr", "Le train part à 8 h 12.", "Le train part à 8h12."),
        ("es", "La reunión es a las cuatro de la tarde.", "La reunión es a las 16:00."),
    ],
)
def test_a_time_written_otherwise_is_the_same(language, first, second):
    assert restated_share_in(language, first, second) == 1.0


@pytest.mark.parametrize(
    ("language", "text", "mood", "tense"),
    [
        ("de", "Wohne ich in Bremen?", Mood.QUESTION, Tense.PRESENT),
        ("de", "Wenn ich könnte, würde ich umziehen.", Mood.CONDITION, Tense.PRESENT),
        ("de", "Er behauptet, dass nichts kam.", Mood.REPORT, Tense.PRESENT),
        ("de", "Früher wohnte ich in Ulm.", Mood.ASSERTION, Tense.PAST),
        ("fr", "Si j'avais le temps, je lirais.", Mood.CONDITION, Tense.PAST),
        ("fr", "Je vais déménager.", Mood.PLAN, Tense.FUTURE),
        ("es", "¿Vivo en Lugo?", Mood.QUESTION, Tense.PRESENT),
        ("es", "Me gustaría vivir en Vigo.", Mood.WISH, Tense.FUTURE),
        ("es", "Antes vivía en Lugo.", Mood.ASSERTION, Tense.PAST),
    ],
)
def test_sentences_are_read(language, text, mood, tense):
    [read] = read_in(language, text)
    assert read.mood is mood
    if mood is not Mood.CONDITION:
        assert read.tense is tense


def test_other_languages_are_not_read():
    assert read_in("", "Я живу в Москве.") == ()
    assert find_in_language("", "Я живу в Москве.", "Я живу в Киеве.") is None
    assert restated_share_in("", "Я живу.", "Я жив.") == 0.0


@given(st.sampled_from(["de", "fr", "es"]), st.text(max_size=80))
@settings(max_examples=examples(150))
def test_any_text_can_be_read(language, text):
    for one in read_in(language, text):
        assert one.language == language


@pytest.mark.parametrize("language", ["de", "fr", "es"])
@pytest.mark.parametrize(
    "text",
    ["nicht " * 600, "ne " * 1300, "ich habe " * 400, "a" * 4000, "a. " * 1300, "1." * 2000, "'" * 4000, "n'" * 2000],
)
def test_long_texts_take_no_longer_than_a_linear_reading(language, text):
    assert_quick(lambda each: find_in_language(language, each, f"{each[1:]} nicht mehr plus"), text, 1)
