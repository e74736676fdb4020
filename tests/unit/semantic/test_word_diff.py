"""What differs between texts, word by word."""

from hypothesis import given
from hypothesis import strategies as st

from apps.semantic.domain.word_diff import MAX_COMPARED_WORDS, Piece, differences, provenance

WORDS = st.lists(st.sampled_from(["tea", "Ana", "not", "in\n", "12,", "東京", "!"]), max_size=30).map(" ".join)


def changed(pieces: list[Piece]) -> list[str]:
    return [piece.text.strip() for piece in pieces if piece.kind == "changed"]


def test_words_that_differ_are_marked_on_both_sides() -> None:
    one, other = differences("Ana owns 12 postcards.", "Ana owns 15 postcards.")
    assert (changed(one), changed(other)) == (["12"], ["15"])


def test_word_that_only_one_side_has_is_marked_there() -> None:
    one, other = differences("Ana lives in Lisbon.", "Ana never lives in Lisbon.")
    assert (changed(one), changed(other)) == ([], ["never"])


def test_blanks_make_no_difference() -> None:
    one, other = differences("Ana likes\ttea", "Ana  likes tea\n")
    assert changed(one) == changed(other) == []


def test_signs_of_script_without_spaces_are_compared_one_by_one() -> None:
    one, other = differences("她住在东京", "她住在大阪")
    assert (changed(one), changed(other)) == (["东京"], ["大阪"])


def test_of_long_texts_common_beginning_and_end_are_found() -> None:
    middle = " ".join(f"{number}" for number in range(MAX_COMPARED_WORDS + 1))
    one, other = differences(f"start {middle} end", "start end")
    assert changed(one) == [middle]
    assert changed(other) == []


def test_merged_text_shows_where_its_words_come_from() -> None:
    pieces = provenance("Ana bakes bread Sundays early", "Ana bakes bread early", "Ana bakes Sundays")
    assert [(piece.text.strip(), piece.kind) for piece in pieces] == [
        ("Ana bakes", "same"), ("bread", "candidate"), ("Sundays", "existing"), ("early", "candidate"),
    ]  # fmt: skip


@given(WORDS | st.text(), WORDS | st.text())
def test_the_pieces_of_a_text_are_the_text(one: str, other: str) -> None:
    first, second = differences(one, other)
    assert ("".join(piece.text for piece in first), "".join(piece.text for piece in second)) == (one, other)
    assert "".join(piece.text for piece in provenance(one, other, one)) == one


@given(WORDS, WORDS)
def test_both_sides_have_the_same_words_in_common(one: str, other: str) -> None:
    common = [
        [word for piece in pieces if piece.kind == "same" for word in piece.text.split()]
        for pieces in differences(one, other)
    ]
    assert "".join(common[0]) == "".join(common[1])


@given(WORDS | st.text())
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert changed(differences(text, text)[0]) == []
