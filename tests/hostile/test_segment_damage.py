"""A damaged segment file is recognised, whatever happened to it, and never yields a wrong event."""

import hashlib
import os
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file import access
from apps.episodic.domain.segment_file.format import (
    BLOCK,
    BLOCK_LINES,
    FOOTER_SIZE,
    HEADER_SIZE,
    PAGE,
    RUN,
    Damage,
    Extent,
    Footer,
    SegmentDamagedError,
    SegmentSummary,
    short_digest,
)
from apps.episodic.domain.segment_file.reader import SegmentFile
from tests.effort import examples
from tests.integration.episodic.segments import some_records, write_file

RECORDS = some_records(BLOCK_LINES + 10)
EDITS = settings(max_examples=examples(200), deadline=None)


class Good:
    """A good file, and what it holds."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "good.segment"
        self.summary: SegmentSummary = write_file(self.path, RECORDS)
        self.content = self.path.read_bytes()
        self.footer = Footer.unpack(self.content[-FOOTER_SIZE:]) or pytest.fail("no footer")
        self.tables = self.content[self.footer.identities.end : -FOOTER_SIZE]

    def part(self, section: Extent) -> bytes:
        return self.content[section.offset : section.end]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    return Good(tmp_path_factory.mktemp("good"))


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a damaged file goes; each test writes its own."""
    return tmp_path_factory.mktemp("bad") / "bad.segment"


def code_of(call: Callable[[], object]) -> Damage | None:
    try:
        call()
    except SegmentDamagedError as error:
        return error.code
    return None


def flipped(content: bytes, position: int, mask: int) -> bytes:
    return content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :]


def readings(path: Path) -> Iterator[Callable[[], object]]:
    """Every way of reading; each yields what is right, or says what is wrong."""
    file = SegmentFile.open(path)

    def check(read: object, expected: object) -> None:
        assert read == expected

    yield lambda: check(list(file.events()), RECORDS)
    yield lambda: check(file.read_runs(range(len(file.runs))), RECORDS)
    yield lambda: check(file.find([RECORDS[3].identity]), {RECORDS[3].identity: RECORDS[3]})
    yield lambda: check(file.find([record.identity for record in RECORDS]), {each.identity: each for each in RECORDS})


def damage_of_every_reading(path: Path) -> list[Damage | None]:
    """What each way of reading says. Fails when one answers something wrong, or fails otherwise."""
    try:
        return [code_of(reading) for reading in readings(path)]
    except SegmentDamagedError as error:
        return [error.code]


@EDITS
@given(data=st.data(), mask=st.integers(1, 255))
def test_a_flipped_byte_is_noticed_wherever_it_is(good: Good, bad: Path, data: st.DataObject, mask: int) -> None:
    position = data.draw(st.integers(0, len(good.content) - 1))
    bad.write_bytes(flipped(good.content, position, mask))

    codes = damage_of_every_reading(bad)

    assert set(codes) <= {None, Damage.CHECKSUM, Damage.UNKNOWN_VERSION}
    in_place = code_of(lambda: SegmentFile(bad, SegmentFile.open(good.path)._contents).verify(good.summary.sha256))
    assert in_place is Damage.CHECKSUM


def test_flipped_byte_is_noticed_in_header_tables_and_footer_by_opening(good: Good, bad: Path) -> None:
    """Every single one of them."""
    data = range(HEADER_SIZE, good.footer.identities.end)
    for position in set(range(len(good.content))) - set(data):
        bad.write_bytes(flipped(good.content, position, 1 << position % 8))
        code = code_of(lambda: SegmentFile.open(bad))
        states_another_version = position < HEADER_SIZE and code is Damage.UNKNOWN_VERSION
        assert code is Damage.CHECKSUM or states_another_version, position


def test_flipped_byte_in_block_leaves_other_blocks_readable(good: Good, bad: Path) -> None:
    bad.write_bytes(flipped(good.content, HEADER_SIZE + 100, 4))
    file = SegmentFile.open(bad)

    first = [number for number, run in enumerate(file.runs) if run["block"] == 0]
    second = [number for number, run in enumerate(file.runs) if run["block"] == 1]
    assert code_of(lambda: file.read_runs(first[:1])) is Damage.CHECKSUM
    assert code_of(lambda: list(file.events())) is Damage.CHECKSUM
    assert file.read_runs(second) == RECORDS[BLOCK_LINES:]
    assert file.find([RECORDS[-1].identity]) == {RECORDS[-1].identity: RECORDS[-1]}


def test_flipped_byte_among_identities_never_makes_event_unknown(good: Good, bad: Path) -> None:
    section = good.footer.identities
    for position in range(section.offset, section.end, 7):
        bad.write_bytes(flipped(good.content, position, 1))
        file = SegmentFile.open(bad)
        assert code_of(lambda file=file: file.find([RECORDS[0].identity])) is Damage.CHECKSUM
        assert list(file.events()) == RECORDS


@EDITS
@given(data=st.data())
def test_truncated_file_is_noticed_at_any_length(good: Good, bad: Path, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(good.content) - 1))
    bad.write_bytes(good.content[:length])

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.TRUNCATED


@EDITS
@given(data=st.data())
def test_file_that_shrinks_after_it_was_opened_is_noticed(good: Good, bad: Path, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, good.footer.identities.end - 1))
    bad.write_bytes(good.content)
    file = SegmentFile.open(bad)
    os.truncate(bad, length)

    assert code_of(lambda: file.verify(good.summary.sha256)) is Damage.CHECKSUM
    assert code_of(lambda: file.find([record.identity for record in RECORDS])) is Damage.TRUNCATED
    if length < good.footer.identities.offset - 8:
        assert code_of(lambda: list(file.events())) is Damage.TRUNCATED


@EDITS
@given(start=st.integers(0, 20_000), size=st.integers(1, 600), junk=st.binary(min_size=1, max_size=64))
def test_overwritten_stretch_never_yields_wrong_event(
    good: Good, bad: Path, start: int, size: int, junk: bytes
) -> None:
    start %= len(good.content)
    size = min(size, len(good.content) - start)
    bad.write_bytes(good.content[:start] + (junk * size)[:size] + good.content[start + size :])

    damage_of_every_reading(bad)


@EDITS
@given(st.binary(max_size=2_000))
@example(b"SQLite format 3\x00" * 40)
@example(b"\x50\x2a\x4d\x18\xff\xff\xff\xff" * 40)
@example(b"\x28\xb5\x2f\xfd" * 400)
@example(b"\x00" * 4_096)
def test_a_foreign_file_is_recognised(bad: Path, content: bytes) -> None:
    bad.write_bytes(content)

    code = code_of(lambda: SegmentFile.open(bad))

    assert code is (Damage.NOT_A_SEGMENT if len(content) >= HEADER_SIZE else Damage.TRUNCATED)


def test_an_empty_file_is_a_truncated_one(bad: Path) -> None:
    bad.write_bytes(b"")

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.TRUNCATED


def test_an_unknown_version_in_the_header_is_said(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content.replace(b'"version":1', b'"version":2', 1))

    with pytest.raises(SegmentDamagedError, match="unknown_version: Its format has version 2") as caught:
        SegmentFile.open(bad)
    assert caught.value.code is Damage.UNKNOWN_VERSION


def test_an_unknown_version_in_the_footer_is_said(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content[:-FOOTER_SIZE] + replace(good.footer, version=7).pack())

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.UNKNOWN_VERSION


def test_a_later_version_with_another_end_is_said(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content.replace(b'"version":1,', b'"version":12,', 1)[:-100] + b"something else" * 30)

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.UNKNOWN_VERSION


def test_missing_file_is_said_whenever_it_is_missed(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content)
    file = SegmentFile.open(bad)
    bad.unlink()

    calls: list[Callable[[], object]] = [
        lambda: SegmentFile.open(bad),
        lambda: SegmentFile.open(bad / "below"),
        lambda: SegmentFile.open(good.path / "below a file"),
        lambda: file.read_runs([0]),
        lambda: list(file.events()),
        lambda: file.find([RECORDS[0].identity]),
        lambda: file.verify(good.summary.sha256),
    ]
    assert {code_of(call) for call in calls} == {Damage.MISSING}


def test_directories_pipes_and_sockets_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    codes = {code_of(lambda path=path: SegmentFile.open(path)) for path in (tmp_path, *tmp_path.iterdir())}

    assert codes == {Damage.NOT_A_SEGMENT}


def test_file_that_was_exchanged_for_another_good_one_is_noticed(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content)
    file = SegmentFile.open(bad)
    write_file(bad, some_records(2 * BLOCK_LINES, seed=9))

    assert code_of(lambda: file.read_runs([0])) is Damage.CHECKSUM
    assert code_of(lambda: file.find([RECORDS[0].identity])) is Damage.CHECKSUM
    assert code_of(lambda: file.verify(good.summary.sha256)) is Damage.CHECKSUM


def test_error_of_medium_is_damage_and_one_of_machine_is_not(good: Good, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SegmentFile.open(good.path)

    def failing(number: int) -> Callable[..., bytes]:
        def pread(*_: object) -> bytes:
            raise OSError(number, os.strerror(number))

        return pread

    monkeypatch.setattr(access.os, "pread", failing(5))
    assert code_of(lambda: file.read_runs([0])) is Damage.UNREADABLE
    monkeypatch.setattr(access.os, "pread", failing(12))
    with pytest.raises(OSError, match="memory"):
        file.read_runs([0])


# What follows has checksums that hold, as only a mistake of a program makes it.


def rewritten(good: Good, **sections: bytes) -> bytes:
    """The file with other tables of the same size, and checksums of them."""
    base = good.footer.identities.end
    tables = bytearray(good.tables)
    for name, content in sections.items():
        section: Extent = getattr(good.footer, name)
        tables[section.offset - base : section.end - base] = content
    footer = replace(good.footer, tables_sha256=hashlib.sha256(tables).digest())
    return good.content[:base] + bytes(tables) + footer.pack()


def test_rewriting_nothing_leaves_a_good_file(good: Good) -> None:
    assert rewritten(good) == good.content


@pytest.mark.parametrize("field", ["offset", "size", "lines"])
@pytest.mark.parametrize("value", [0, 1, 2**31 - 1, 2**32 - 1])
def test_blocks_that_do_not_lie_where_table_says_are_noticed_by_opening(
    good: Good, bad: Path, field: str, value: int
) -> None:
    blocks = np.frombuffer(good.part(good.footer.blocks), dtype=BLOCK).copy()
    blocks[field][1] = value
    bad.write_bytes(rewritten(good, blocks=blocks.tobytes()))

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.MISMATCH


@pytest.mark.parametrize("field", ["block", "start", "count"])
@pytest.mark.parametrize("value", [0, 127, 2**16 - 1])
def test_runs_that_do_not_fill_blocks_are_noticed_by_opening(good: Good, bad: Path, field: str, value: int) -> None:
    runs = np.frombuffer(good.part(good.footer.runs), dtype=RUN).copy()
    runs[field][2] = value if value != runs[field][2] else value + 1
    bad.write_bytes(rewritten(good, runs=runs.tobytes()))

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.MISMATCH


@pytest.mark.parametrize("name", ["identities", "blocks", "runs", "scopes", "pages"])
@pytest.mark.parametrize("value", [Extent(0, 0), Extent(2**63, 2**62), Extent(100, 2**40), Extent(2**64 - 1, 1)])
def test_footer_whose_sections_lie_elsewhere_is_noticed_without_allocating_them(
    good: Good, bad: Path, name: str, value: Extent
) -> None:
    bad.write_bytes(good.content[:-FOOTER_SIZE] + replace(good.footer, **{name: value}).pack())

    assert _peak_memory(lambda: code_of(lambda: SegmentFile.open(bad))) < 1_000_000
    assert code_of(lambda: SegmentFile.open(bad)) in {Damage.MISMATCH, Damage.TRUNCATED}


def test_block_that_claims_to_be_huge_is_noticed_without_allocating_it(good: Good, bad: Path) -> None:
    """The table says 3 GB, and then the frame 900 MB."""
    blocks = np.frombuffer(good.part(good.footer.blocks), dtype=BLOCK).copy()
    blocks["raw_size"][0] = 3_000_000_000
    bad.write_bytes(rewritten(good, blocks=blocks.tobytes()))
    assert code_of(lambda: SegmentFile.open(bad)) is Damage.MISMATCH

    frame, blocks = _claiming(good, 900_000_000)
    content = bytearray(rewritten(good, blocks=blocks.tobytes()))
    content[HEADER_SIZE : HEADER_SIZE + len(frame)] = frame
    bad.write_bytes(content)
    file = SegmentFile.open(bad)
    assert code_of(lambda: file.read_runs([0])) is Damage.MISMATCH
    assert _peak_memory(lambda: code_of(lambda: file.read_runs([0]))) < 1_000_000


def _claiming(good: Good, size: int) -> tuple[bytes, np.ndarray]:
    """The first block with another content size in its frame, and the table with the digest of that."""
    blocks = np.frombuffer(good.part(good.footer.blocks), dtype=BLOCK).copy()
    start, length = int(blocks["offset"][0]), int(blocks["size"][0])
    frame = bytearray(good.content[start : start + length])
    # Single segment, four bytes of content size (RFC 8878 section 3.1.1.1); the rest no longer fits, and need not.
    frame[4], frame[5:9] = 0b1010_0100, size.to_bytes(4, "little")
    blocks["digest"][0] = short_digest(bytes(frame))
    return bytes(frame), blocks


def _peak_memory(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("scopes", [b"[]", b"1", b"{", b'[["a"]]', b"\xff\xff"])
def test_scopes_that_cannot_be_read_are_noticed(good: Good, bad: Path, scopes: bytes) -> None:
    size = good.footer.scopes.size
    bad.write_bytes(rewritten(good, scopes=scopes.ljust(size)))

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.MISMATCH


def test_tables_that_say_otherwise_than_events_are_noticed_by_verifying(good: Good, bad: Path) -> None:
    runs = np.frombuffer(good.part(good.footer.runs), dtype=RUN).copy()
    runs["last"][0] += 1
    pages = np.frombuffer(good.part(good.footer.pages), dtype=PAGE).copy()
    pages["prefix"][0] -= 1
    for tables in ({"runs": runs.tobytes()}, {"pages": pages.tobytes()}):
        content = rewritten(good, **tables)
        bad.write_bytes(content)
        file = SegmentFile.open(bad)
        assert code_of(lambda file=file: file.verify(file.digest())) is Damage.MISMATCH


def test_a_time_beyond_the_calendar_is_noticed(good: Good, bad: Path) -> None:
    bad.write_bytes(good.content[:-FOOTER_SIZE] + replace(good.footer, last=2**62).pack())

    assert code_of(lambda: SegmentFile.open(bad)) is Damage.MISMATCH


def test_an_error_never_tells_what_an_event_says(good: Good, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = replace(RECORDS[0], content="a secret of ana's")
    write_file(bad, [secret])

    def not_an_event(line: bytes) -> EventRecord:
        raise ValueError(line)

    monkeypatch.setattr(access, "decode_line", not_an_event)
    with pytest.raises(SegmentDamagedError) as caught:
        list(SegmentFile.open(bad).events())
    assert caught.value.code is Damage.MISMATCH
    assert "secret" not in str(caught.value)
