"""Fields that take exactly what they say."""

import math
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.core.schemas import fields
from apps.core.schemas.serializers import ScopeInput, StrictSerializer

JSON_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
JSON_VALUES = st.recursive(
    JSON_SCALARS | STORABLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STORABLE, inner, max_size=3)
)


def refused(field: Any, value: Any) -> str:
    """The code with which a field refuses a value."""
    with pytest.raises(ValidationError) as error:
        field.run_validation(value)
    return str(error.value.get_codes()[0])


@pytest.mark.parametrize("value", [1, 1.5, True, [], {}, None, "a\x00", "a\ud800", "\ud83d"])
def test_text_is_text(value: Any) -> None:
    refused(fields.StrictCharField(), value)


@given(st.text())
def test_identifier_is_kept_as_it_is_or_refused(text: str) -> None:
    try:
        kept = fields.IdentifierField().run_validation(text)
    except ValidationError:
        assert "\x00" in text or not text.isprintable() or not text.strip() or len(text) > 200
    else:
        assert kept == text


@pytest.mark.parametrize("value", ["", " ", "\u3000", "\u200b\u200d", "\u2028", "\x1f", "\u00ad", "\ufeff"])
def test_an_identifier_can_be_seen(value: str) -> None:
    assert refused(fields.IdentifierField(), value) == "blank"


def test_what_unicode_calls_ignorable_cannot_be_seen() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    fillers = "".join(filter(ignorable.fullmatch, map(chr, range(sys.maxunicode + 1))))
    assert {"\u115f", "\u1160", "\u3164", "\uffa0", "\U000e0041"} < set(fillers)
    assert refused(fields.VisibleTextField(), fillers) == "blank"
    assert refused(fields.VisibleTextField(), "\u200b\u3164\u2800") == "blank"
    assert fields.VisibleTextField().run_validation(f"{fillers}ㄱ") == f"{fillers}ㄱ"


@pytest.mark.parametrize("value", [" ana", "ана", "用户", "👩‍💻", "a\u200bb", "."])
def test_any_visible_identifier_is_one(value: str) -> None:
    assert fields.IdentifierField().run_validation(value) == value


@pytest.mark.parametrize("value", ["1", True, None, [], math.inf, -math.inf, math.nan, 10**400])
def test_a_number_is_a_finite_number(value: Any) -> None:
    refused(fields.StrictFloatField(min_value=-1e308, max_value=1e308), value)


@pytest.mark.parametrize("value", ["1", True, 1.5, math.inf, math.nan, None])
def test_a_whole_number_is_one(value: Any) -> None:
    refused(fields.StrictIntegerField(), value)


def test_whole_number_may_be_written_with_point() -> None:
    assert fields.StrictIntegerField().run_validation(2.0) == 2


@pytest.mark.parametrize("value", [0, 1, "true", "yes", None, []])
def test_a_boolean_is_true_or_false(value: Any) -> None:
    refused(fields.StrictBooleanField(), value)


@pytest.mark.parametrize("value", ["blue", "\ud800", 1, None, ["red"], {}, "", True])
def test_a_choice_is_one_of_its_words(value: Any) -> None:
    refused(fields.StrictChoiceField(choices=["red", "1", "True"]), value)


def test_refused_choice_is_sent_back_short_and_printable() -> None:
    with pytest.raises(ValidationError) as error:
        fields.StrictChoiceField(choices=["red"]).run_validation("\ud800" * 1_000_000)
    str(error.value.detail[0]).encode()  # type: ignore[index]
    assert len(str(error.value.detail[0])) < 200  # type: ignore[index]


@given(st.datetimes(timezones=st.timezones() | st.just(UTC), allow_imaginary=False))
def test_a_datetime_with_an_offset_becomes_utc(moment: datetime) -> None:
    try:
        expected = moment.astimezone(UTC)
    except OverflowError:
        assert refused(fields.AwareDateTimeField(), moment.isoformat()) == "overflow"
        return
    if (moment.utcoffset() or timedelta()).total_seconds() % 60 == 0:
        assert fields.AwareDateTimeField().run_validation(moment.isoformat()) == expected


@given(st.datetimes())
def test_a_naive_datetime_is_refused(moment: datetime) -> None:
    assert refused(fields.AwareDateTimeField(), moment.isoformat()) == "naive"


@given(st.dictionaries(STORABLE, JSON_VALUES, max_size=4))
def test_an_object_of_json_is_kept_as_it_is(value: dict[str, Any]) -> None:
    assert fields.JSONObjectField().run_validation(value) == value


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_object_may_be_nested_to_limit_and_no_deeper() -> None:
    deepest = {"a": nested(fields.MAX_JSON_DEPTH - 1)}
    assert fields.JSONObjectField().run_validation(deepest) == deepest
    assert refused(fields.JSONObjectField(), nested(fields.MAX_JSON_DEPTH + 10)) == "too_deep"
    assert refused(fields.JSONObjectField(), nested(900)) == "too_deep"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([], "not_an_object"),
        ("{}", "not_an_object"),
        ({"a": math.inf}, "not_finite"),
        ({"a": [{"b": math.nan}]}, "not_finite"),
        ({"a": "\x00"}, "characters"),
        ({"\ud800": 1}, "characters"),
        ({"a": "x" * 20_001}, "too_large"),
        ({"a": [0] * 10_000}, "too_large"),
        ({"a": [""] * 20_000}, "too_large"),
        ({"a": [{}] * 20_000}, "too_large"),
        ({"a": [[]] * 20_000}, "too_large"),
        ({"a": [[{}] * 100] * 200}, "too_large"),
    ],
)
def test_object_that_cannot_be_stored_is_refused(value: Any, code: str) -> None:
    assert refused(fields.JSONObjectField(), value) == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("1,2", "not_a_list"),
        ({"0": 1}, "not_a_list"),
        ([1, "2"], "not_a_list"),
        ([True], "not_a_list"),
        ([[1]], "not_a_list"),
        ([], "length"),
        ([1.0] * 16_001, "length"),
        ([math.nan], "not_finite"),
        ([math.inf], "not_finite"),
        ([10**400], "not_finite"),
        ([1e300], "not_finite"),
        ([0, 0.0, -0.0], "zero"),
        ([1e-320], "zero"),
    ],
)
def test_vector_that_has_no_direction_is_refused(value: Any, code: str) -> None:
    assert refused(fields.VectorField(), value) == code


def test_a_vector_becomes_float32() -> None:
    vector = fields.VectorField().run_validation([1, -2.5])
    assert vector.dtype == np.float32
    assert vector.tolist() == [1.0, -2.5]


class Inner(StrictSerializer):
    number = fields.StrictFloatField()


class Outer(StrictSerializer):
    inner = Inner()
    name = serializers.CharField(required=False)


def test_unknown_fields_are_named_at_every_level() -> None:
    for body, place in (({"inner": {"number": 1}, "x": 1}, ["x"]), ({"inner": {"number": 1, "y": 1}}, ["inner", "y"])):
        serializer = Outer(data=body)
        assert not serializer.is_valid()
        detail: Any = serializer.errors
        for name in place:
            detail = detail[name]
        assert detail[0].code == "unknown_field"


def test_at_most_ten_unknown_fields_are_named() -> None:
    serializer = ScopeInput(data={f"field {n}": 1 for n in range(1_000)})
    assert not serializer.is_valid()
    assert len(serializer.errors) == 10


def test_refused_choice_comes_with_the_words_that_would_do():
    field = fields.StrictChoiceField(choices=[("active", "Active"), ("deleted", "Deleted")])
    for wrong, shown in (("gone", '"gone"'), (7, '"int"')):
        with pytest.raises(ValidationError) as caught:
            field.run_validation(wrong)
        assert isinstance(caught.value.detail, list)
        assert str(caught.value.detail[0]) == f"{shown} is not a valid choice. Choose one of: active, deleted."
