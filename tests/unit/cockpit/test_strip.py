"""The last 24 hours as squares."""

from datetime import UTC, datetime, timedelta

from apps.cockpit.now.strip import CRITICAL, PROBLEMS, SQUARES, WELL, Minute, squares, stretches, summary, well_since

NOW = datetime(2026, 5, 10, 12, 7, tzinfo=UTC)
DAY = timedelta(days=1)


def minutes(**problems: tuple[float, float]) -> list[Minute]:
    """Samples of the last day without problems, but for those of a minute such as `m1130`."""
    every = [NOW - DAY + timedelta(minutes=number) for number in range(1_440)]
    return [Minute(at, *problems.get(f"m{at:%H%M}", (0.0, 0.0))) for at in every]


def test_each_square_is_a_quarter_of_an_hour_and_the_last_one_is_now() -> None:
    shown = squares(minutes(), NOW)
    assert len(shown) == SQUARES
    assert shown[-1].start == datetime(2026, 5, 10, 12, tzinfo=UTC)
    assert {one.level for one in shown} == {WELL}


def test_the_worst_minute_of_a_square_counts() -> None:
    shown = squares(minutes(m1130=(2, 0), m1131=(1, 1)), NOW)
    bad = [one for one in shown if one.level]
    assert [(one.level, one.problems, one.words) for one in bad] == [
        (CRITICAL, 2, "11:30 to 11:45: critical problems, 2 at once")
    ]


def test_a_square_without_samples_is_not_well() -> None:
    shown = squares([Minute(NOW - timedelta(minutes=1), 0)], NOW)
    assert [one.level for one in shown[-2:]] == [None, WELL]
    assert summary(shown) == ("No problem in the last 24 hours. No samples in 95 of 96 quarter-hours.")
    assert summary(squares([], NOW)) == "No samples in the last 24 hours."


def test_the_table_has_a_row_for_each_change() -> None:
    shown = squares(minutes(m1130=(1, 0), m1150=(1, 0)), NOW)
    assert stretches(shown) == [
        ("12:00", "12:15", "all well"), ("11:30", "12:00", "problems"), ("12:15", "11:30", "all well"),
    ]  # fmt: skip
    assert [one.level for one in shown].count(PROBLEMS) == 2
    assert summary(shown) == "Problems in 2 of 96 quarter-hours."


def test_the_hub_is_well_since_the_first_sample_after_the_last_problem() -> None:
    assert well_since(minutes(m0310=(1, 0), m0311=(1, 0))) == datetime(2026, 5, 10, 3, 12, tzinfo=UTC)
    assert well_since(minutes()) is None
    assert well_since(minutes(m1206=(1, 0))) is None, "it goes on"
