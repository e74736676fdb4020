"""What is written into a segment file."""

import hashlib
import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.format import BLOCK_BYTES, BLOCK_LINES, FORMAT_VERSION
from apps.episodic.domain.segment_file.lines import encode_line
from apps.episodic.domain.segment_file.reader import SegmentFile
from apps.episodic.domain.segment_file.writer import SegmentWriter
from tests.effort import examples
from tests.integration.episodic.segments import SEGMENT, any_record, in_order, some_records, write_file

MANY = some_records(3 * BLOCK_LINES + 7, users=6)


def ndjson(records: list[EventRecord]) -> bytes:
    return b"".join(encode_line(record) for record in records)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(any_record, min_size=1, max_size=12, unique_by=lambda record: record.archive_order))
def test_any_events_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, records: list[EventRecord]
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.segment"
    summary = write_file(path, in_order(records))
    file = SegmentFile.open(path, SEGMENT)

    file.verify(summary.sha256)
    assert list(file.events()) == in_order(records)
    assert list(file.scopes) == sorted({record.key for record in records})


def test_the_figures_are_those_of_the_file(tmp_path: Path) -> None:
    summary = write_file(tmp_path / "a.segment", MANY)
    content = (tmp_path / "a.segment").read_bytes()

    assert summary.event_count == len(MANY)
    assert summary.first_timestamp == min(record.timestamp for record in MANY)
    assert summary.last_timestamp == max(record.timestamp for record in MANY)
    assert summary.size_bytes == len(content)
    assert summary.sha256 == hashlib.sha256(content).hexdigest()
    assert summary.format_version == FORMAT_VERSION


def test_the_file_begins_with_what_it_is_in_words(tmp_path: Path) -> None:
    write_file(tmp_path / "a.segment", MANY)

    first_line = (tmp_path / "a.segment").read_bytes()[8:].split(b"\n")[0]

    assert json.loads(first_line) == {"format": "memoryhub-timeline", "version": 1, "segment": str(SEGMENT)}


def test_zstandard_reads_the_events_as_ndjson(tmp_path: Path) -> None:
    write_file(tmp_path / "a.segment", MANY)

    with (tmp_path / "a.segment").open("rb") as stream:
        reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
        assert reader.read() == ndjson(MANY)


@pytest.mark.skipif(which("zstd") is None, reason="The zstd command is not installed.")
def test_zstd_command_reads_and_tests_file(tmp_path: Path) -> None:
    write_file(tmp_path / "a.segment", MANY)

    assert subprocess.run(["zstd", "-dc", tmp_path / "a.segment"], capture_output=True, check=True).stdout == ndjson(
        MANY
    )
    subprocess.run(["zstd", "-t", tmp_path / "a.segment"], capture_output=True, check=True)


def test_block_ends_at_its_number_of_lines_and_at_its_bytes(tmp_path: Path) -> None:
    lines = [replace(MANY[0], arrival=number, content="x" * (BLOCK_BYTES // 3)) for number in range(4)]
    write_file(tmp_path / "long.segment", lines)
    write_file(tmp_path / "many.segment", [replace(MANY[0], arrival=number) for number in range(BLOCK_LINES + 1)])

    assert SegmentFile.open(tmp_path / "long.segment").runs["count"].tolist() == [2, 2]
    assert SegmentFile.open(tmp_path / "many.segment").runs["count"].tolist() == [BLOCK_LINES, 1]


def test_event_longer_than_block_has_one_to_itself(tmp_path: Path) -> None:
    sizes = [10, 3 * BLOCK_BYTES, 10]
    records = [replace(MANY[0], arrival=number, content="é" * size) for number, size in enumerate(sizes)]
    summary = write_file(tmp_path / "a.segment", records)
    file = SegmentFile.open(tmp_path / "a.segment")

    file.verify(summary.sha256)
    assert file.runs["count"].tolist() == [1, 1, 1]
    assert list(file.events()) == records


def test_a_run_is_what_one_scope_has_in_one_block(tmp_path: Path) -> None:
    write_file(tmp_path / "a.segment", MANY)
    file = SegmentFile.open(tmp_path / "a.segment")

    for number, run in enumerate(file.runs):
        records = file.read_runs([number])
        assert {record.key for record in records} == {file.scopes[run["scope"]]}
        assert len(records) == run["count"]
    assert sum(len(set(block)) for block in _keys_by_block()) == len(file.runs)


def _keys_by_block() -> list[list[ScopeKey]]:
    keys = [record.key for record in MANY]
    return [keys[start : start + BLOCK_LINES] for start in range(0, len(keys), BLOCK_LINES)]


@pytest.mark.parametrize("second", [MANY[0], MANY[1]])
def test_events_out_of_order_are_refused(second: EventRecord) -> None:
    writer = SegmentWriter(io.BytesIO(), SEGMENT)
    writer.add(MANY[1])

    with pytest.raises(ValueError, match="ascending"):
        writer.add(second)


def test_a_file_without_events_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        SegmentWriter(io.BytesIO(), SEGMENT).finish()


def test_a_naive_timestamp_is_refused() -> None:
    with pytest.raises(ValueError):
        SegmentWriter(io.BytesIO(), SEGMENT).add(replace(MANY[0], timestamp=MANY[0].timestamp.replace(tzinfo=None)))


def test_the_same_events_make_the_same_file(tmp_path: Path) -> None:
    one, other = (write_file(tmp_path / name, MANY) for name in ("a.segment", "b.segment"))

    assert one == other
