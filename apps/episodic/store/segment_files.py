"""What segment files are called and how one is written, wherever they are kept. Names hold nothing of a user."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO
from uuid import UUID

from apps.core.steps import Step
from apps.episodic.domain.event import EventRecord
from apps.episodic.domain.segment_file.format import SegmentSummary
from apps.episodic.domain.segment_file.writer import SegmentWriter

# As what the folder is called where it is not that of this hub.
THE_TIMELINE = "the timeline"
SUFFIX = ".segment"
PART_SUFFIX = ".segment.part"
QUARANTINE = "quarantine"
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,89}\.segment")


@dataclass(frozen=True)
class ArchiveListing:
    """Names of files of the archive, ascending. others: what maintenance did not put there."""

    segments: tuple[str, ...]
    parts: tuple[str, ...]
    quarantined: tuple[str, ...]
    others: tuple[str, ...]


def is_file_name(name: str) -> bool:
    """Return whether a name is one of a segment file, and so no path."""
    return _NAME.fullmatch(name) is not None


def require_file_name(name: str) -> str:
    """Return the name of a segment file. Raises ValueError for any other, such as a path."""
    if not is_file_name(name):
        raise ValueError("That is no name of a segment file.")
    return name


def new_file_name(segment_uuid: UUID, now: datetime) -> str:
    """Return a new name for a file of a segment: a process may still know the tables of the last one."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S%f}-{segment_uuid}{SUFFIX}"


def aside_name(name: str, taken: Iterable[str]) -> str:
    """Return a name for a file in the quarantine, which none there has."""
    stem, names, number = name.removesuffix(SUFFIX), set(taken), 1
    target = name
    while target in names:
        number += 1
        target = f"{stem}-{number}{SUFFIX}"
    return target


def write_stream(segment_uuid: UUID, stream: IO[bytes], records: Iterable[EventRecord], step: Step) -> SegmentSummary:
    """Write a file, and hand it to the system. records: in ascending `archive_order`."""
    step("write")
    writer = SegmentWriter(stream, segment_uuid)
    for record in records:
        writer.add(record)
    summary = writer.finish()
    step("flush")
    stream.flush()
    return summary
