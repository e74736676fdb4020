"""Events as JSON Lines from outside."""

import json
from io import BytesIO
from typing import Any

import pytest

from apps.core.schemas.bodies import item_limit
from apps.episodic.imports.importer import GROUP_LINES, EventLine, groups_of, read_events, read_lines

EVENT = {"timestamp": "2026-03-01T23:30:00-05:00", "event_type": "visit", "content": "dinner"}
LINE = json.dumps(EVENT).encode()


def checked(*lines: bytes) -> list[EventLine]:
    return list(read_events(BytesIO(b"\n".join(lines))))


def problems(*lines: bytes) -> list[tuple[int, str | None, str]]:
    return [(one.line, one.attr, one.code) for line in checked(*lines) for one in line.problems]


def test_line_is_an_event_as_in_recording_one() -> None:
    [line] = checked(LINE)
    assert line.draft is not None
    assert (line.number, line.draft.content, line.draft.timestamp.isoformat()) == (1, "dinner", EVENT["timestamp"])


def test_line_of_an_export_is_an_event_too() -> None:
    exported = {**EVENT, "arrival": 7, "id": "x", "identity": "x", "recorded_at": "x", "household_id": None}
    [line] = checked(json.dumps(exported).encode())
    assert line.draft is not None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", (None, "parse_error")),
        (b"tea", (None, "parse_error")),
        (b"\xff\xfe", (None, "parse_error")),
        (b"NaN", (None, "parse_error")),
        (b"[" * 101 + b"]" * 101, (None, "parse_error")),
        (b"[" + b"[]," * 90_000 + b"[]]", (None, "parse_error")),
        (b"[]", ("non_field_errors", "invalid")),
        (b"null", ("non_field_errors", "null")),
        (b'{"content": "a", "content": "b"}', ("content", "repeated")),
        (json.dumps({**EVENT, "timestamp": "2026-03-01T23:30:00"}).encode(), ("timestamp", "naive")),
        (json.dumps({**EVENT, "segment": 1}).encode(), ("segment", "unknown_field")),
        (json.dumps({**EVENT, "content": "x" * 100_001}).encode(), ("content", "max_length")),
        (b"x" * (item_limit().size + 1), (None, "too_large")),
    ],
)
def test_bad_line_is_named_with_field_and_reason_and_stops_no_other(line: bytes, problem: tuple[Any, str]) -> None:
    assert problems(LINE, b"", line, LINE) == [(3, *problem)]
    assert [one.number for one in checked(LINE, b"", line, LINE) if one.draft] == [1, 4]


def test_every_field_at_fault_is_named() -> None:
    assert {attr for _, attr, _ in problems(b'{"content": "", "importance": 2}')} == {
        "timestamp", "event_type", "content", "importance",
    }  # fmt: skip


def test_files_of_other_systems_are_read() -> None:
    text = b"\xef\xbb\xbf" + LINE + b"\r\n  \r\n" + LINE
    assert [(line.number, line.draft is not None) for line in read_events(BytesIO(text))] == [(1, True), (3, True)]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_long_line_is_passed_over_without_keeping_it(end: bytes) -> None:
    lines = [b"a" * 10, b"b" * 11, b"c" * 95, b"d"]
    assert [None if line is None else line.strip() for line in read_lines(BytesIO(b"\n".join(lines) + end), 10)] == [
        b"a" * 10, None, None, b"d",
    ]  # fmt: skip


def test_groups_are_bounded_by_lines_and_bytes() -> None:
    small = [EventLine(number, 100, None) for number in range(GROUP_LINES + 1)]
    large = [EventLine(number, 3 << 20, None) for number in range(4)]
    assert [len(group) for group in groups_of(iter(small))] == [GROUP_LINES, 1]
    assert [len(group) for group in groups_of(iter(large))] == [3, 1]
