"""Draw the icons of the installed web UI from `static/memoryhub/logo.svg`: `python .ci/draw_icons.py`.

Each shape is a signed distance, so that edges are smooth at every size without a graphics library.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

STATIC = Path(__file__).resolve().parents[1] / "static"
LOGO = STATIC / "memoryhub" / "logo.svg"
FOLDER = STATIC / "webui" / "icons"
UNITS = 64  # the side of the view box of the logo
# Name -> side in pixels, and whether a system may cut the corners: then the colour goes to the edge, and all that is
# drawn lies within four fifths of the width (https://www.w3.org/TR/appmanifest/#icon-masks).
ICONS = {
    "icon-192.png": (192, False),
    "icon-512.png": (512, False),
    "maskable-512.png": (512, True),
    "apple-180.png": (180, True),
}
Layer = tuple[np.ndarray, tuple[int, int, int]]


def colour(text: str) -> tuple[int, int, int]:
    """Return the parts of a colour such as `#fff`."""
    digits = text.removeprefix("#")
    whole = "".join(2 * one for one in digits) if len(digits) == 3 else digits
    return int(whole[:2], 16), int(whole[2:4], 16), int(whole[4:], 16)


def layers(x: np.ndarray, y: np.ndarray) -> Iterator[Layer]:
    """Yield the shapes of the logo from the lowest: the distance of each point from its edge, and its colour."""
    stroke: dict[str, str] = {}
    for shape in ElementTree.parse(LOGO).iter():  # noqa: S314  (a file of this repository)
        kind, given = shape.tag.rpartition("}")[2], shape.attrib
        if kind == "g":
            stroke = given
        elif kind == "rect":
            radius, half = float(given["rx"]), float(given["width"]) / 2
            dx, dy = (np.abs(place - half) - half + radius for place in (x, y))
            outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
            yield outside + np.minimum(np.maximum(dx, dy), 0) - radius, colour(given["fill"])
        elif kind == "circle":
            yield np.hypot(x - float(given["cx"]), y - float(given["cy"])) - float(given["r"]), colour(given["fill"])
        elif kind == "path":
            x1, y1, x2, y2 = (float(number) for number in re.findall(r"[\d.]+", given["d"]))
            along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2)
            share = np.clip(along, 0, 1)
            distance = np.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1))
            yield distance - float(stroke["stroke-width"]) / 2, colour(stroke["stroke"])


def draw(side: int, *, is_maskable: bool) -> np.ndarray:
    """Return an icon: rows of pixels of red, green, blue and opacity."""
    scale = side / UNITS * (0.8 if is_maskable else 1)
    places = (np.arange(side) + 0.5 - side / 2) / scale + UNITS / 2
    x, y = np.meshgrid(places, places)
    image = np.zeros((side, side, 4))
    for number, (distance, paint) in enumerate(layers(x, y)):
        cover = np.clip(0.5 - distance * scale, 0, 1)[..., None]
        if number == 0 and is_maskable:
            cover = np.ones_like(cover)
        image[..., :3] = np.where(image[..., 3:] > 0, image[..., :3] * (1 - cover) + np.array(paint) * cover, paint)
        image[..., 3:] += (1 - image[..., 3:]) * cover
    image[..., 3] *= 255
    return np.rint(image).astype(np.uint8)


def png(image: np.ndarray) -> bytes:
    """Return an image as a file (https://www.w3.org/TR/png/)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = image.shape[0]
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    head = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (side, is_maskable) in ICONS.items():
        (FOLDER / name).write_bytes(png(draw(side, is_maskable=is_maskable)))
