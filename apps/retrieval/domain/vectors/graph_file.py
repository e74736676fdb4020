"""The rows of a graph as they lie in its file, read without hnswlib.

hnswlib returns vectors as lists of Python numbers: 40,000 of 384 took two seconds and 680 MB. In its file they lie
at equal distances behind a head. The layout, that of version 0.8, is written down here, and checked as far as the head
tells it.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_HEAD = np.dtype(
    [
        ("links_offset", "<u8"), ("capacity", "<u8"), ("count", "<u8"), ("size", "<u8"), ("id_offset", "<u8"),
        ("vector_offset", "<u8"), ("max_level", "<i4"), ("entry", "<u4"), ("max_links", "<u8"),
        ("max_ground_links", "<u8"), ("links", "<u8"), ("multiplier", "<f8"), ("breadth", "<u8"),
    ]
)  # fmt: skip


class StoredRows(NamedTuple):
    """ids, vectors of shape (rows, dimension) that stay on the disk until they are read, and which were removed."""

    ids: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    removed: npt.NDArray[np.bool_]


def read_graph_rows(path: Path, dimension: int) -> StoredRows:
    """Return what is in the file of a graph. Raises ValueError for a file of another layout, OSError without one."""
    with path.open("rb") as file:
        head = np.fromfile(file, dtype=_HEAD, count=1)
    is_known = False
    if len(head):
        links = int(head[0]["max_ground_links"])
        offsets = [int(head[0][name]) for name in ("links_offset", "vector_offset", "id_offset", "size")]
        is_known = offsets == [0, 4 + 4 * links, 4 + 4 * links + 4 * dimension, 12 + 4 * links + 4 * dimension]
    if not is_known:
        raise ValueError("no graph in the layout of hnswlib 0.8")
    # The links of a row follow their number, in two bytes, and whether the row was removed.
    row = np.dtype(
        {
            "names": ["removed", "vector", "id"],
            "formats": ["u1", ("<f4", (dimension,)), "<i8"],
            "offsets": [2, int(head[0]["vector_offset"]), int(head[0]["id_offset"])],
            "itemsize": int(head[0]["size"]),
        }
    )
    count = int(head[0]["count"])
    if count == 0:
        return StoredRows(np.zeros(0, np.int64), np.zeros((0, dimension), np.float32), np.zeros(0, np.bool_))
    rows = np.memmap(path, dtype=row, mode="r", offset=_HEAD.itemsize, shape=(count,))
    return StoredRows(np.array(rows["id"]), rows["vector"], rows["removed"] % 2 == 1)
