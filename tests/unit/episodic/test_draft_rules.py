"""What may be recorded."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.errors import InvalidInputError
from apps.episodic.domain.event import MAX_AHEAD, EventDraft, require_recordable

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
DRAFT = EventDraft(NOW, "message", "tea")


def check(**changes: Any) -> None:
    require_recordable(replace(DRAFT, **changes), max_content_chars=10, now=NOW)


@pytest.mark.parametrize("event_type", ["message", "Chat.Message", "order:paid", "a/b-c_d", "7up", "x" * 100])
def test_word_of_up_to_hundred_characters_is_event_type(event_type: str) -> None:
    check(event_type=event_type)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("event_type", "", "invalid"),
        ("event_type", "x" * 101, "invalid"),
        ("event_type", "two words", "invalid"),
        ("event_type", "message\n", "invalid"),
        ("event_type", ".hidden", "invalid"),
        ("event_type", "\u017fs", "invalid"),
        ("content", " \n", "blank"),
        ("content", "x" * 11, "max_length"),
        ("importance", -0.01, "invalid"),
        ("importance", 1.01, "invalid"),
        ("importance", math.nan, "invalid"),
        ("source", "", "invalid"),
        ("source", "x" * 65, "invalid"),
        ("timestamp", NOW.replace(tzinfo=None), "naive"),
        ("timestamp", NOW + MAX_AHEAD + timedelta(microseconds=1), "in_the_future"),
    ],
)
def test_anything_else_is_refused_with_its_field_named(field: str, value: Any, code: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        check(**{field: value})
    assert (refusal.value.attr, refusal.value.code) == (field, code)


@pytest.mark.parametrize("timestamp", [NOW + MAX_AHEAD, datetime.min.replace(tzinfo=UTC)])
def test_the_past_and_a_day_ahead_are_accepted(timestamp: datetime) -> None:
    check(timestamp=timestamp)


@pytest.mark.parametrize(("importance", "content"), [(0, "x" * 10), (1, ".")])
def test_the_limits_themselves_are_allowed(importance: float, content: str) -> None:
    check(importance=importance, content=content)
