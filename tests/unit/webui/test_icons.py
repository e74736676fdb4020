"""The icons of the installed web UI are what the script draws from the logo."""

import runpy
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[3]
DRAWING: dict[str, Any] = runpy.run_path(str(PROJECT / ".ci" / "draw_icons.py"))


def pixels(file: Path) -> np.ndarray:
    """The pixels of a file that the script has written."""
    data, place, rows, side = file.read_bytes(), 8, b"", 0
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + size]
        side = struct.unpack(">I", body[:4])[0] if kind == b"IHDR" else side
        rows += body if kind == b"IDAT" else b""
        place += size + 12
    lines = np.frombuffer(zlib.decompress(rows), np.uint8).reshape(side, 1 + 4 * side)
    return lines[:, 1:].reshape(side, side, 4)


@pytest.mark.parametrize("name", DRAWING["ICONS"])
def test_an_icon_is_that_of_the_logo(name: str) -> None:
    side, is_maskable = DRAWING["ICONS"][name]
    drawn = DRAWING["draw"](side, is_maskable=is_maskable)
    kept = pixels(DRAWING["FOLDER"] / name)
    assert np.array_equal(drawn, kept)
    assert tuple(kept[side // 2, side // 2]) == (255, 255, 255, 255)  # the middle of the logo is a white disc
    assert kept[0, 0, 3] == (255 if is_maskable else 0)
