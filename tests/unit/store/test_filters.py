"""Filters of the store as filters of the hub, over rows in memory."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.filters.match import matches
from apps.store.domain.filters import MAX_COMPARISONS, MAX_DEPTH, read_filter

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, "", "a", "b", "1"])
NAMES = st.sampled_from(["a", "b.c", "d-e", "$x"])
SIGNS = st.sampled_from(["$gt", "$gte", "$lt", "$lte"])


def is_kind(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def expected(value: dict[str, Any], name: str, sign: str, operand: Any) -> bool:
    """Whether a member compares so, said plainly."""
    one = value.get(name)
    if sign in {"$eq", "$ne"}:
        return (is_kind(one) == is_kind(operand) and one == operand) is (sign == "$eq")
    if is_kind(one) != is_kind(operand):
        return False
    return {"$gt": one > operand, "$gte": one >= operand, "$lt": one < operand, "$lte": one <= operand}[sign]


@given(st.dictionaries(NAMES, SCALARS), NAMES, SIGNS | st.sampled_from(["$eq", "$ne"]), SCALARS)
def test_a_comparison_is_of_one_kind(value: dict[str, Any], name: str, sign: str, operand: Any) -> None:
    asked = {name: {sign: operand}}
    if sign not in {"$eq", "$ne"} and (operand is None or isinstance(operand, bool)):
        with pytest.raises(InvalidInputError):
            read_filter(asked)
        return
    assert matches(read_filter(asked), {"value": value}) is expected(value, name, sign, operand)
    if sign == "$eq":
        assert matches(read_filter({name: operand}), {"value": value}) is expected(value, name, sign, operand)


def test_what_cannot_be_read_is_named() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH + 1):
        deep = {"a": deep}
    for asked, words in (
        ({"a": {"$in": [1]}}, "Unsupported operator: [$]in"),
        ({"a": {"$eq": 1, "b": 2}}, "Unsupported operator: b"),
        ({"a": {"b": {"$gt": [1]}}}, "number"),
        (deep, "deeply"),
        ({str(n): n for n in range(MAX_COMPARISONS + 1)}, "Too many"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            read_filter(asked)
