"""Days in facts: a relative one is resolved, one that is complete or comes every year stays as it was said."""

from datetime import date

import pytest

from apps.notes.domain.extraction.dates import resolve_chinese_dates, resolve_dates

MONDAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("We fly to Rome on 12 December.", "We fly to Rome on 12 December (2026-12-12)."),
        ("We fly to Rome on 12 December 2027.", "We fly to Rome on 12 December 2027."),
        ("My birthday is on 6 May.", "My birthday is on 6 May."),
        ("Our wedding anniversary is May 4th.", "Our wedding anniversary is May 4th."),
        ("I was born on 3 March.", "I was born on 3 March."),
        ("The fair is on 1 June every year.", "The fair is on 1 June every year."),
        ("My birthday party is on 12 December.", "My birthday party is on 12 December (2026-12-12)."),
        ("My birthday is tomorrow.", "My birthday is tomorrow (2026-11-24)."),
    ],
)
def test_english_day(said, kept):
    assert resolve_dates(said, MONDAY) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("我們十二月十二日飛羅馬。", "我們十二月十二日（2026-12-12）飛羅馬。"),
        ("我們2027年12月12日飛羅馬。", "我們2027年12月12日飛羅馬。"),
        ("我的生日是五月六日。", "我的生日是五月六日。"),
        ("生日派對在12月12日。", "生日派對在12月12日（2026-12-12）。"),
    ],
)
def test_chinese_day(said, kept):
    assert resolve_chinese_dates(said, MONDAY) == kept
