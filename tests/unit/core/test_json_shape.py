"""The depth and the width of JSON, measured without parsing it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.domain import json_shape
from apps.core.domain.json_shape import JsonShape, find_excess
from tests.timing import assert_quick

TEXTS = st.text(alphabet='ab"\\[]{},: é\U0001f642', max_size=12)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=25,
)


def depth_of(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth_of, value.values() if isinstance(value, dict) else value), default=0)


def count_of(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 1
    return 1 + sum(map(count_of, value.values() if isinstance(value, dict) else value))


def measured(body: bytes, part: int) -> JsonShape:
    shape = JsonShape()
    for first in range(0, len(body), part):
        shape.add(json_shape.np.frombuffer(body[first : first + part], dtype=json_shape.np.uint8))
    return shape


@given(value=VALUES, part=st.integers(1, 40), is_ascii=st.booleans())
def test_depth_is_exact_and_values_are_bounded_wherever_the_parts_end(value: Any, part: int, is_ascii: bool) -> None:
    body = json.dumps(value, ensure_ascii=is_ascii).encode()
    shape = measured(body, part)
    assert shape.depth == depth_of(value)
    assert count_of(value) <= shape.values <= 2 * count_of(value)
    assert measured(body, len(body)) == shape


@given(value=VALUES)
def test_what_is_within_both_limits_is_never_refused(value: Any) -> None:
    body = json.dumps(value).encode()
    assert find_excess(body, depth_of(value), 2 * count_of(value)) is None
    if depth_of(value):
        assert "too deeply" in str(find_excess(body, depth_of(value) - 1, 2 * count_of(value)))


@pytest.mark.parametrize("unit", [b"[],", b'{"a":0},', b"0,", b'"\\\\",', b'"[",'])
def test_many_values_are_refused_and_their_measuring_is_linear(unit: bytes) -> None:
    body = b"[" + unit * 100_000 + b"0]"
    assert find_excess(body, 100, 100_000) == "too many values: at most 100000"
    assert find_excess(body, 100, 500_000) is None
    for size in (1, 2):
        assert_quick(lambda _, size=size: find_excess(body * size, 10**9, 10**9), "", 0.5 * size)  # type: ignore[misc]


def test_what_is_in_texts_counts_for_nothing() -> None:
    body = json.dumps({"content": '[[{{,,\\"[' * 100_000}).encode()
    assert find_excess(body, 1, 3) is None


def test_depth_ends_the_measuring_at_once() -> None:
    body = b"[" * 50_000_000
    assert_quick(lambda _: find_excess(body, 100, 10**9), "", 0.1)
