"""The place of a note: no path leads out of the folder."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError
from apps.notes.domain.places import MAIN, NotePlace, daily_place, parse_place

REFUSED = {
    "parent": "..",
    "parent inside": "daily/../../MEMORY.md",
    "absolute": "/etc/passwd",
    "empty part": "daily//a.md",
    "nul": "a\0.md",
    "line end": "a\nb.md",
    "backslash": "daily\\a.md",
    "drive": "c:a.md",
    "hidden": ".git",
    "hidden below": "daily/.x.md",
    "device": "con.md",
    "device in capitals": "LPT1.txt",
    "trailing dot": "a.",
    "trailing space": "a ",
    "300 characters": "a" * 300,
    "too deep": "/".join("abcdefghi"),
    "other users": "users/ben/MEMORY.md",
    "other users in capitals": "Users/ben/MEMORY.md",
    "decomposed": "e\u0301.md",
    "surrogate": "\ud800.md",
    "nothing": "",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_hostile_path_is_refused(kind):
    with pytest.raises(InvalidInputError) as refused:
        parse_place(REFUSED[kind])
    assert refused.value.attr == "path"


@pytest.mark.parametrize("path", ["MEMORY.md", "daily/2026-03-04.md", "projects/火星/plan.md", "a b.md"])
def test_plain_path_is_taken_as_it_is(path):
    assert str(parse_place(path)) == path


@given(st.text(max_size=60))
def test_what_is_taken_has_no_part_that_leads_elsewhere(path):
    try:
        place = parse_place(path)
    except InvalidInputError:
        return
    assert all(segment not in {"", ".", ".."} and "/" not in segment for segment in place.segments)


def test_daily_log_knows_its_day():
    assert daily_place(date(2026, 3, 4)) == NotePlace(("daily", "2026-03-04.md"))
    assert daily_place(date(2026, 3, 4)).day == date(2026, 3, 4)
    assert MAIN.day is None
    assert NotePlace(("daily", "2026-13-04.md")).day is None
