"""German, French and Spanish: a plain minimum, safe before anything else."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.contradiction.judgement import find_evidence, read_in
from apps.rules.domain.engine.detection import detect
from apps.rules.domain.engine.record import MemoryRecord
from apps.rules.domain.engine.signals import Detection, DetectionConfig
from apps.rules.domain.statements.statement import Mood, Tense
from tests.effort import examples
from tests.timing import assert_quick
from tests.unit.rules.pairs import read_pairs

PAIRS = read_pairs("european_pairs.txt")


def found_between(older: str, newer: str) -> Detection:
    """Return what words and the judge of pairs find between two texts, a day apart; without vectors."""
    day = datetime(2026, 5, 1, tzinfo=UTC)
    return detect(MemoryRecord("2", newer, day + timedelta(days=1)), MemoryRecord("1", older, day), DetectionConfig())


@pytest.mark.parametrize(("older", "newer"), [pair[2:] for pair in PAIRS if pair[0] == "coexist"])
def test_nothing_that_may_stand_side_by_side_is_destroyed(older, newer):
    assert not found_between(older, newer).is_decisive
    assert not found_between(newer, older).is_decisive


def test_the_plainest_updates_are_noticed():
    updates = [pair[2:] for pair in PAIRS if pair[0] == "update"]
    assert sum(found_between(*pair).is_conflict for pair in updates) >= 0.85 * len(updates)


@pytest.mark.parametrize(("older", "newer"), [pair[2:] for pair in PAIRS if pair[0] == "update"])
def test_a_question_changes_nothing(older, newer):
    assert not found_between(older, newer.rstrip(".") + "?").is_decisive


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
    assert find_evidence("Я живу в Москве.", "Я живу в Киеве.") is None


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
    assert_quick(lambda each: read_in(language, each), text, 1)
