"""The pieces of text that the delivered models read, each with its vector: those of multilingual-e5-small.

Written by `training/vocabulary.py`. The embedder and the judge of pairs have both in memory once (docs/decisions/0102).
"""

import threading
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apps.llm.embedding.delivered import checked_files

FOLDER = Path(__file__).parent / "model"
WHAT = "the vocabulary of multilingual-e5-small"
BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
# A vector has 384 values in blocks of 32, and a block one scale: a value is its four bits, less eight, times the scale.
# The low halves of the bytes come first.
DIMENSION, BLOCK = 384, 32
BLOCKS = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
ZERO = 8


class Piece(NamedTuple):
    """A piece of a text: its number, and what it is in the text, which may be nothing."""

    number: int
    text: str


class Vocabulary:
    """Cuts texts into pieces, and knows their vectors, which stay in their file until they are asked for.

    folder: with `pieces.model`, `vectors.bin` and `model.json`.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: tuple[Any, npt.NDArray[Any]] | None = None

    def number(self, piece: str) -> int:
        """Return the number of a piece, which may begin with ▁ for a space. Raises DeliveredModelError."""
        number: int = self.open()[0].piece_to_id(piece)
        return number

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of the pieces of a text. Raises DeliveredModelError."""
        numbers: list[int] = self.open()[0].encode(text, return_type=int)
        return numbers

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of a text. Raises DeliveredModelError."""
        found = self.open()[0].encode(text, return_type="offset_mapping")
        return [Piece(n, text[start:end]) for n, (start, end) in zip(found["ids"], found["offsets"], strict=True)]

    def vectors(self, numbers: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """Return the vectors of pieces, (..., 384). Raises DeliveredModelError."""
        blocks = self.open()[1][numbers]
        halves, scales = blocks["halves"], blocks["scale"].astype(np.float32)[..., None]
        values = np.concatenate((halves & 15, halves >> 4), axis=-1).astype(np.float32)
        values -= ZERO
        values *= scales
        return values.reshape(*numbers.shape, DIMENSION)

    def open(self) -> tuple[Any, npt.NDArray[Any]]:
        """Return what cuts texts, and the vectors: now rather than at the first text. Raises DeliveredModelError."""
        if self._opened is None:
            with self._lock:
                if self._opened is None:
                    self._opened = self._open()
        return self._opened

    def _open(self) -> tuple[Any, npt.NDArray[Any]]:
        from sentencepiece import SentencePieceProcessor

        files = checked_files(self._folder, WHAT)
        rows = np.memmap(files["vectors.bin"], BLOCKS, "r").reshape(-1, DIMENSION // BLOCK)
        return SentencePieceProcessor(model_file=str(files["pieces.model"])), rows


@cache
def get_vocabulary() -> Vocabulary:
    """Return the vocabulary of this process."""
    return Vocabulary()
