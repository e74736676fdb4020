"""What times and answers come to."""

from collections import Counter

import pytest

from benchmarks.vectors.figures import (
    Samples,
    Stages,
    Written,
    is_correct,
    read_figures,
    stage_figures,
    take_turns,
    write_figures,
)


def samples(*milliseconds: float, recall: float = 1.0, complete: bool = True) -> Samples:
    count = len(milliseconds)
    return Samples([one / 1000 for one in milliseconds], [recall] * count, [complete] * count)


def test_way_has_percentiles_rate_and_averages_of_its_answers() -> None:
    mixed = Samples([0.001, 0.002, 0.009], [1.0, 0.8, 0.9], [True, True, False])
    [figures] = read_figures(100, "10%", {"numpy": mixed})
    assert (figures.rows, figures.filter, figures.way, figures.calls) == (100, "10%", "numpy", 3)
    assert (figures.p50_ms, figures.p95_ms, figures.per_second) == (2.0, 9.0, 250.0)
    assert (figures.recall, figures.complete) == (0.9, 0.6667)
    assert not is_correct(figures.as_json())


def test_calls_at_once_are_counted_by_clock_on_wall() -> None:
    many = samples(10, 10, 10, 10)
    many.elapsed = 0.02
    [figures] = read_figures(100, "100%", {"http_many": many})
    assert figures.per_second == 200.0


def test_ratios_are_to_quickest_raw_way_that_is_right() -> None:
    figures = read_figures(
        100,
        "100%",
        {
            "sql_exact": samples(4),
            "sql_hnsw": samples(1, recall=0.98),
            "hnswlib": samples(1, complete=False),
            "numpy": samples(2),
            "index": samples(1),
            "service": samples(3),
        },
    )
    ratios = {each.way: each.ratio for each in figures}
    assert ratios == {
        "sql_exact": 2.0, "sql_hnsw": 0.5, "hnswlib": 0.5, "numpy": 1.0, "index": 0.5, "service": 1.5,
    }  # fmt: skip


def test_without_correct_raw_way_there_is_no_ratio() -> None:
    figures = read_figures(100, "100%", {"sql_hnsw": samples(1, recall=0.5), "service": samples(3)})
    assert [each.ratio for each in figures] == [None, None]


def test_recall_of_99_in_100_is_right_if_nothing_is_missing() -> None:
    right = {"recall": 0.99, "complete": 1.0}
    assert is_correct(right)
    assert not is_correct(right | {"recall": 0.9899})
    assert not is_correct(right | {"complete": 0.99})


def test_whole_search_is_held_against_quickest_way_and_reading_rows() -> None:
    parts = [Stages(refresh=0.001, rank=0.002, fetch=0.003, whole=0.006, least=0.003) for _ in range(3)]
    figures = stage_figures("10%", parts, [(0.01, 0.0005)] * 3, quickest="numpy")
    assert figures == {
        "filter": "10%", "refresh_ms": 1.0, "rank_ms": 2.0, "fetch_ms": 3.0, "whole_ms": 6.0, "least_ms": 3.0,
        "quickest": "numpy", "times_least": 2.0, "http_ms": 10.0, "http_alone_ms": 0.5,
    }  # fmt: skip


def test_ways_take_turns_and_each_answers_every_question() -> None:
    asked: list[tuple[str, int]] = []

    def ask(name: str):
        return lambda question: (asked.append((name, question)), (0.001, 1.0, True))[1]

    taken = take_turns({"a": ask("a"), "b": ask("b")}, range(6), rounds=3, seconds=10, least=1)
    assert asked[:4] == [("a", 0), ("a", 3), ("b", 0), ("b", 3)]
    assert sorted(question for name, question in asked if name == "b") == list(range(6))
    assert len(taken["a"].seconds) == 6


def test_slow_way_answers_fewer_questions_in_every_round() -> None:
    asked: list[int] = []

    def slow(question: int) -> tuple[float, float, bool]:
        asked.append(question)
        return 1.0, 1.0, True

    take_turns({"slow": slow, "quick": lambda _: (0.0, 1.0, True)}, range(100), rounds=5, seconds=5.0, least=10)
    assert len(asked) == 10
    assert {question % 5 for question in asked} == {0, 1, 2, 3, 4}


def test_a_very_slow_way_answers_at_least_a_few() -> None:
    taken = take_turns({"slow": lambda _: (100.0, 1.0, True)}, range(100), rounds=5, seconds=1.0, least=20)
    assert len(taken["slow"].seconds) == 20


def test_writes_are_held_against_sql() -> None:
    done = {
        "sql": Written([0.002, 0.002], 0.004),
        "service": Written([0.006, 0.006], 0.012, Counter(inserted=2)),
        "http_many": Written([0.02, 0.02], 0.01),
    }
    sql, service, many = write_figures(done)
    assert (sql["ratio"], service["ratio"], many["ratio"]) == (1.0, 3.0, 10.0)
    assert (service["p50_ms"], service["per_second"], service["actions"]) == (6.0, 166.7, {"inserted": 2})
    assert many["per_second"] == 200.0


def test_nothing_taken_is_no_row() -> None:
    assert read_figures(1, "", {"numpy": Samples()}) == []


@pytest.mark.parametrize("elapsed", [None, 2.0])
def test_what_was_spent_is_sum_of_calls_one_after_other(elapsed: float | None) -> None:
    taken = samples(1000, 500)
    taken.elapsed = elapsed
    assert taken.spent == (1.5 if elapsed is None else 2.0)
