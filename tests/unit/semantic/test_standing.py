"""What is in force comes before what is not."""

import pytest

from apps.semantic.domain.standing import Standing, put_in_force_first, share_of_score


def test_what_took_the_place_of_a_hit_stands_where_that_stood() -> None:
    hits = [Standing(1, 0.9, 0.5, by=(3,)), Standing(2, 0.6), Standing(3, 0.2)]
    assert put_in_force_first(hits) == [3, 2, 1]


def test_successor_that_was_not_found_is_brought() -> None:
    assert put_in_force_first([Standing(1, 0.9, 0.5, by=(7,))]) == [7, 1]


def test_better_successor_keeps_its_place() -> None:
    hits = [Standing(3, 0.9), Standing(2, 0.8), Standing(1, 0.7, 0.5, by=(3,))]
    assert put_in_force_first(hits) == [3, 2, 1]


def test_ended_hit_stays_above_what_answers_less_than_half_as_well() -> None:
    assert put_in_force_first([Standing(1, 0.8, 0.5), Standing(2, 0.5), Standing(3, 0.1)]) == [2, 1, 3]


def test_order_of_what_is_in_force_is_kept() -> None:
    assert put_in_force_first([Standing(1, 0.3), Standing(2, 0.9), Standing(3, 0.5)]) == [1, 2, 3]


def test_negative_scores_do_not_lift_what_is_not_in_force() -> None:
    assert put_in_force_first([Standing(1, -0.2, 0.5), Standing(2, -0.25)]) == [2, 1]


@pytest.mark.parametrize(
    ("status", "share"),
    [("accepted", 1), ("superseded", 0.5), ("deprecated", 0.5), ("rejected", 0.5), ("draft", 0.5), ("unknown", 0.5)],
)
def test_share_of_the_score_that_counts(status: str, share: float) -> None:
    assert share_of_score("sync:x", {"status": status}) == share


def test_memories_that_follow_no_item_count_whole() -> None:
    assert share_of_score("", {"status": "superseded"}) == 1
    assert share_of_score("test:x", {}) == 1
