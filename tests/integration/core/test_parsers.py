"""Reading request bodies without surprises."""

from io import BytesIO
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from apps.core.schemas.parsers import StrictJSONParser
from tests.timing import assert_quick


def parsed(text: str) -> Any:
    return StrictJSONParser().parse(BytesIO(text.encode()))


def test_the_member_that_is_there_twice_is_named() -> None:
    with pytest.raises(ValidationError) as error:
        parsed('{"a": {"b": 1, "c": 2, "b": 3}, "d": 4}')
    assert error.value.get_codes() == {"b": ["repeated"]}


def test_same_name_in_several_objects_is_no_repetition() -> None:
    assert parsed('[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


def test_repetition_after_many_members_is_found_at_once() -> None:
    """Counting each name took minutes."""
    members = [f'"{number}": 0' for number in range(100_000)]

    def refused(text: str) -> None:
        with pytest.raises(ValidationError):
            parsed(text.lstrip("x "))

    assert_quick(refused, f"{{{', '.join([*members, members[-1]])}}}", 2)
