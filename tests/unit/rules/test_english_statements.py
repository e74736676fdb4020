"""Reading English sentences: issue 13, "What kind of statement is it?"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rules.domain.statements.read import MAX_STATEMENTS, split_into_sentences, statements_of
from apps.rules.domain.statements.statement import Mood, Statement, Tense
from tests.timing import assert_quick


def read(text: str) -> Statement:
    """Return the only statement of a text."""
    (statement,) = statements_of(text)
    return statement


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("My locker is on the ground floor.", Mood.ASSERTION),
        ("Do I own a bicycle?", Mood.QUESTION),
        ("what is the code of the garage", Mood.QUESTION),
        ("Is Lea's party on Sunday", Mood.QUESTION),
        ("I wonder whether the pool is open on Sundays.", Mood.QUESTION),
        ("I wish we had a balcony.", Mood.WISH),
        ("Ben would love to work in a smaller team.", Mood.WISH),
        ("Nora wants to live by the sea.", Mood.WISH),
        ("We are going to move to Porto.", Mood.PLAN),
        ("I plan to quit sugar in May.", Mood.PLAN),
        ("If it rained we would stay at the lodge.", Mood.CONDITION),
        ("I might sell the boat.", Mood.CONDITION),
        ("My aunt thinks I live in Graz.", Mood.REPORT),
        ("Ivo says that the gate code is 4411.", Mood.REPORT),
        ("Please answer in Danish.", Mood.COMMAND),
        ("Would you keep answers short?", Mood.COMMAND),
        ("Never call me before ten.", Mood.COMMAND),
        ("I'm going to Rome by train.", Mood.ASSERTION),
        ("Order 812 is at the depot.", Mood.ASSERTION),
    ],
)
def test_moods(text: str, mood: Mood) -> None:
    assert read(text).mood is mood


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("I live in Turin.", Tense.PRESENT),
        ("I used to live in Turin.", Tense.PAST),
        ("I lived in Turin until 2018.", Tense.PAST),
        ("My ex-boss is called Olga.", Tense.PAST),
        ("As a child I was afraid of dogs.", Tense.PAST),
        ("The limit was raised to 40.", Tense.PRESENT),
        ("I was born in Turin.", Tense.PRESENT),
        ("I was married to Kim.", Tense.PAST),
    ],
)
def test_tenses(text: str, tense: Tense) -> None:
    assert read(text).tense is tense


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Sorry, I meant the 9th floor.", "the 9th floor."),
        ("Actually, my desk is in room 7.", "my desk is in room 7."),
        ("Turns out the key is brass.", "the key is brass."),
        ("The doctor said my iron is low.", "my iron is low."),
        ("Did I tell you that the van was sold?", "the van was sold"),
        ("FYI: the office closes at six.", "the office closes at six."),
    ],
)
def test_openers_are_stripped(text: str, body: str) -> None:
    assert read(text).body == body


def test_corrections_changes_and_additions() -> None:
    assert read("No, the class is on Friday.").corrects
    assert not read("The class is on Friday.").corrects
    assert read("I work in Bonn now.").changes
    assert read("I no longer smoke.").changes
    assert read("I also work in Bonn.").additive
    assert read("I don't smoke.").negative
    assert "in winter" in read("In winter the shop opens at nine.").bounds


def test_who_reports_it_holds_for_all_clauses() -> None:
    assert {one.mood for one in statements_of("According to Ivo, the gate code is 4411.")} == {Mood.REPORT}


def test_a_label_is_read_as_a_statement() -> None:
    assert read("Quote for the fence: 900 euros").body == "Quote for the fence is 900 euros"


def test_a_correction_opens_what_follows() -> None:
    assert all(statement.corrects for statement in statements_of("Scratch that. My train leaves at nine."))


def test_only_the_part_that_asks_is_a_question() -> None:
    moods = [one.mood for one in statements_of("I run ten miles a week now, how can I get faster?")]
    assert moods == [Mood.ASSERTION, Mood.QUESTION]


def test_a_condition_holds_for_its_short_sentence_only() -> None:
    short = statements_of("If the bank agrees, we buy the flat.")
    assert {one.mood for one in short} == {Mood.CONDITION}
    long = "The flat is dry, the cellar may be damp, the roof is new, the lift works, and the garden is small."
    assert [one.mood for one in statements_of(long)].count(Mood.CONDITION) == 1


def test_titles_and_times_end_no_sentence() -> None:
    assert list(split_into_sentences("Dr. Ito is in at 9 a.m. on Mondays. Call her.")) == [
        "Dr. Ito is in at 9 a.m. on Mondays.",
        "Call her.",
    ]


def test_lists_are_not_parted() -> None:
    assert len(statements_of("I like long, quiet walks.")) == 1


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert len(statements_of(text)) <= MAX_STATEMENTS


@pytest.mark.parametrize("part", ["I am. ", ", and I ", "if ", "the doctor said ", "no, ", "a: b; "])
def test_reading_takes_linear_time(part: str) -> None:
    assert_quick(statements_of, part * (4000 // len(part)), 1)
