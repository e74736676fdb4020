"""Events and files of segments for tests: as odd as they can be, or as many as are wanted."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from apps.core.domain.origin import WriteOrigin
from apps.episodic.domain.event import EventRecord, ScopeKey
from apps.episodic.domain.segment_file.format import SegmentSummary
from apps.episodic.domain.segment_file.writer import SegmentWriter

SEGMENT = UUID("5e9ed0d5-0000-4000-8000-00000000cafe")
START = datetime(2026, 1, 1, tzinfo=UTC)

names = st.text(min_size=1, max_size=5)
moments = st.datetimes(timezones=st.just(UTC))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
keys = st.builds(ScopeKey, names, st.just("") | names, st.just("") | names)
any_record = st.builds(
    EventRecord,
    arrival=st.integers(0, 2**63 - 1),
    uuid=st.uuids(),
    key=keys,
    timestamp=moments,
    event_type=names,
    content=st.text() | st.sampled_from(["a\u2028b\u2029\x85\r\n\x1e", "\x00", "\U0001f9ea" * 9, "\ufeff", '"\\"']),
    importance=st.floats(0, 1),
    source=names,
    metadata=st.dictionaries(st.text(), values, max_size=3),
    identity=st.uuids(),
    recorded_at=moments,
    origin=st.sampled_from(WriteOrigin),
)


def in_order(records: Iterable[EventRecord]) -> list[EventRecord]:
    return sorted(records, key=lambda record: record.archive_order)


def some_records(count: int, *, seed: int = 0, users: int = 5, first: int = 0) -> list[EventRecord]:
    """Events of some users within thirty days, in `archive_order`. Those of different `first` share no arrival."""
    source = random.Random(seed)
    return in_order(_random_record(source, first + number, users) for number in range(count))


def _random_record(source: random.Random, arrival: int, users: int) -> EventRecord:
    user = source.randrange(users)
    fields: dict[str, Any] = {
        "key": ScopeKey(f"user {user}", f"home {user // 2}" if user % 3 else "", source.choice(["", "chef", "nurse"])),
        # Some share a moment, so that arrival decides.
        "timestamp": START + timedelta(hours=source.randrange(720), microseconds=source.choice([0, 0, 1, 999_999])),
        "event_type": source.choice(["message", "visit"]),
        "content": f"event {arrival} " + "word " * source.randrange(20),
        "importance": source.random(),
        "metadata": {"turn": arrival} if source.random() < 0.5 else {},
        "identity": UUID(int=source.getrandbits(128)),
    }
    return EventRecord(
        arrival=arrival, uuid=UUID(int=source.getrandbits(128)), source="user", recorded_at=START, **fields
    )


def write_file(path: Path, records: Iterable[EventRecord], segment: UUID = SEGMENT) -> SegmentSummary:
    """Writes a file of events that are in order already."""
    with path.open("wb") as stream:
        writer = SegmentWriter(stream, segment)
        for record in records:
            writer.add(record)
        return writer.finish()
