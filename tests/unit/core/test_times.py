"""Durations and points in time are said in one way on all pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template import engines
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from apps.core.pages.times import age, ago, ago_tag, exact, in_figures, in_words, moment_tag, roughly, to_the_minute

NOON = datetime(2026, 5, 10, 12, 0, 7, tzinfo=UTC)
S, H, D = 1, 3600, 86_400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (H - 1, "59 min"), (H, "1 h"), (2 * H + 300, "2 h 5 min"),
     (D, "1 day"), (4 * D + H, "4 days"), (1_200 * D, "1,200 days")],
)  # fmt: skip
def test_duration_is_said_in_its_largest_units(seconds: float, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0.04, "0.0 ms"), (9.96, "10.0 ms"), (850.4, "850 ms"), (1_000, "1.0 s"), (59_940, "59.9 s"), (61_250, "1 min")],
)
def test_measured_duration_has_three_digits_or_so(milliseconds: float, words: str) -> None:
    assert in_figures(milliseconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-H, "just now"), (0.9, "just now"), (1, "1 s ago"), (200, "3 min ago"), (H, "1 h ago"), (2 * H + 300, "2 h ago"),
     (D, "1 day ago"), (59 * D, "59 days ago"), (62 * D, "2 months ago"), (400 * D, "13 months ago"),
     (1_000 * D, "2 years ago")],
)  # fmt: skip
def test_past_is_said_in_one_unit(seconds: float, words: str) -> None:
    assert ago(NOON - timedelta(seconds=seconds), NOON) == age(timedelta(seconds=seconds)) == words


@given(st.timedeltas(timedelta(0), timedelta(days=36_500)))
def test_every_duration_has_one_number_and_one_unit(duration: timedelta) -> None:
    number, unit = roughly(duration).split(" ")
    assert number.replace(",", "").isdigit()
    assert (unit.endswith("s") and unit != "s") == (unit not in {"s", "min", "h"} and number != "1")


def test_point_in_time_has_its_zone() -> None:
    assert exact(NOON) == "2026-05-10 12:00:07 UTC"
    assert to_the_minute(NOON) == "2026-05-10 12:00 UTC"


def test_a_zone_that_was_chosen_has_times_as_people_write_them() -> None:
    with timezone.override("Europe/Berlin"):
        assert exact(NOON) == "May 10, 2026, 2:00 PM"
        with translation.override("zh-hant"):
            assert exact(NOON) == to_the_minute(NOON) == "2026年5月10日 14:00"


def test_words_have_the_exact_time_behind_them() -> None:
    expected = '<time datetime="2026-05-10T12:00:07+00:00" title="2026-05-10 12:00:07 UTC">3 min ago</time>'
    assert ago_tag(NOON, NOON + timedelta(minutes=3)) == expected


def test_exact_time_says_how_long_ago_it_was() -> None:
    tag = moment_tag(timezone.now() - timedelta(days=2, minutes=1))
    assert 'title="2 days ago"' in tag
    assert tag.endswith(" UTC</time>")


def test_every_template_knows_times() -> None:
    template = engines["django"].from_string("{{ at|moment }}|{{ at|ago }}|{{ none|moment }}{{ none|ago }}")
    first, second, nothing = template.render({"at": NOON, "none": None}).split("|")
    assert first.startswith("<time ")
    assert second.startswith("<time ")
    assert nothing == ""
