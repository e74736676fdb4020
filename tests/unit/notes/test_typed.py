"""What a person typed into a field changes nothing else in the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.notes.domain.merge import as_in_file, plain_ends


@pytest.mark.parametrize(
    ("before", "typed", "expected"),
    [
        ("a\nb\n", "a\r\nb\r\nc\r\n", "a\nb\nc\n"),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n"),
        ("a\rb\r", "a\r\nc\r\n", "a\rc\r"),
        ("", "a\r\nb", "a\nb"),
        ("\ufeffa\n", "\ufeffb\r\n", "\ufeffb\n"),
        ("\ufeffa\n", "b\r\n", "\ufeffb\n"),
        ("a\r\nb\nc\n", "a\r\nb\r\nx\r\nc\r\n", "a\r\nb\nx\r\nc\n"),
        ("a\r\nb\nc\n", "a\r\nc\r\n", "a\r\nc\n"),
        ("a\u2028b\n", "a\u2028b\r\nc", "a\u2028b\nc"),
    ],
)
def test_line_ends_and_the_mark_stay_as_they_were(before: str, typed: str, expected: str) -> None:
    assert as_in_file(typed, before) == expected


@given(st.text(alphabet="ab\r\n\ufeff", max_size=20), st.text(alphabet="ab\n", max_size=20))
def test_what_was_not_typed_in_is_the_same_file(before: str, typed: str) -> None:
    assert as_in_file(plain_ends(before).replace("\n", "\r\n"), before) == before
    assert plain_ends(as_in_file(typed, before)).removeprefix("\ufeff") == typed
