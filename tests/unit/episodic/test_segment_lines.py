"""Events as lines of NDJSON."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given

from apps.core.domain.origin import WriteOrigin
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.lines import decode_line, encode_line, event_document
from tests.integration.episodic.segments import any_record, some_records

RECORD = some_records(1)[0]


@given(any_record)
def test_any_event_comes_back_as_it_was(record: EventRecord) -> None:
    assert decode_line(encode_line(record)) == record


@given(any_record)
def test_a_line_is_one_line_of_json(record: EventRecord) -> None:
    line = encode_line(record)

    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == event_document(record)


def test_a_line_says_what_an_operator_looks_for() -> None:
    record = replace(RECORD, key=ScopeKey("ana", "", "chef"), timestamp=datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC))

    document = json.loads(encode_line(record))

    assert list(document) == [
        *("arrival", "id", "user_id", "household_id", "persona_id", "timestamp", "event_type"),
        *("content", "importance", "source", "metadata", "identity", "recorded_at"),
    ]
    assert (document["user_id"], document["household_id"], document["persona_id"]) == ("ana", None, "chef")
    assert document["timestamp"] == "2026-02-03T04:05:06.000007+00:00"


def test_text_is_kept_as_text_and_not_as_escapes() -> None:
    assert "Grüße 記憶".encode() in encode_line(replace(RECORD, content="Grüße 記憶"))


def test_offset_of_the_writer_is_kept() -> None:
    there = RECORD.timestamp.astimezone(timezone(timedelta(hours=5, minutes=45)))

    back = decode_line(encode_line(replace(RECORD, timestamp=there)))

    assert (back.timestamp, back.timestamp.utcoffset()) == (there, timedelta(hours=5, minutes=45))


def test_line_of_an_old_file_is_in_utc() -> None:
    document = {**event_document(RECORD), "timestamp": "2026-01-02T03:04:05.000006+00:00"}

    old = decode_line(json.dumps(document).encode() + b"\n")

    assert (old.timestamp, old.timestamp.tzinfo) == (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), UTC)


def test_origin_is_named_unless_an_app() -> None:
    assert "origin" not in event_document(RECORD)
    assert event_document(replace(RECORD, origin=WriteOrigin.PERSON))["origin"] == "person"


def test_line_of_unknown_origin_is_refused() -> None:
    document = {**event_document(RECORD), "origin": "oracle"}
    with pytest.raises(ValueError):
        decode_line(json.dumps(document).encode() + b"\n")


@pytest.mark.parametrize("content", ["\ud800", "a\udfffb"])
def test_lone_surrogate_is_refused_because_no_utf_8_holds_it(content: str) -> None:
    with pytest.raises(ValueError):
        encode_line(replace(RECORD, content=content))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_number_that_json_does_not_know_is_refused(number: float) -> None:
    with pytest.raises(ValueError):
        encode_line(replace(RECORD, metadata={"a": number}))


@pytest.mark.parametrize(
    "line", [b"", b"\xff", b"[]", b"{}", b"1", encode_line(RECORD).replace(b'"metadata":{', b'"metadata":[],"x":{')]
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode_line(line)
