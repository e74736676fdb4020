"""Times and types of all events of a file, without the rest of them: what a histogram counts."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from apps.episodic.domain.segment_file.access import opened, read_lines
from apps.episodic.domain.segment_file.format import Array, Damage, SegmentDamagedError, microseconds

_decode = json.JSONDecoder().decode
# Of an event: eight bytes of its time, four of its type.
BYTES_PER_EVENT = 12


@dataclass(frozen=True)
class EventColumns:
    """Columns in the order of lines. times: microseconds since 1970. types: places in `names`."""

    times: Array
    types: Array
    names: tuple[str, ...]


def read_columns(path: Path, blocks: Array) -> EventColumns:
    """Read the times and types of a file. blocks: array of `format.BLOCK`. Raises SegmentDamagedError."""
    times: list[int] = []
    types: list[int] = []
    numbers: dict[str, int] = {}
    with opened(path) as descriptor:
        for block in range(len(blocks)):
            try:
                for line in read_lines(descriptor, blocks, block):
                    document = _decode(line.decode())
                    times.append(microseconds(datetime.fromisoformat(document["timestamp"])))
                    types.append(numbers.setdefault(document["event_type"], len(numbers)))
            except (ValueError, KeyError, TypeError) as error:
                raise SegmentDamagedError(Damage.MISMATCH, f"A line of block {block} is no event.") from error
    return EventColumns(np.array(times, dtype=np.int64), np.array(types, dtype=np.int32), tuple(numbers))
