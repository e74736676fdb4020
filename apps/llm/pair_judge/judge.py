"""The judge of pairs: a small model that says how a newer statement stands to an older one, on this machine.

It answers with four probabilities: the newer one replaces the older one, says the same, holds beside it, or is about
something else. Trained by `training/`; its file lies here, with a checksum (docs/decisions/0069).
"""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from apps.core.domain.caches import SizedCache
from apps.llm.domain.pair_answer import PairAnswer
from apps.llm.embedding.batches import batches_by_length
from apps.llm.embedding.delivered import DeliveredModelError, checked_files, new_tokenizer, read_description
from apps.llm.embedding.local import open_session

BOS, PAD, EOS = 0, 1, 2
# Of each text. Of a longer one the beginning and the end are read.
MOST_TOKENS = 96
MAX_CHARS = 4_000
_cache = SizedCache("pieces of texts", megabytes=2, entry_bytes=300, char_bytes=16)


class PairEncoder:
    """Turns pairs of texts into numbers, for training and answering alike.

    tokenizer: of the `tokenizers` library, without special tokens.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.numbers = _cache.remember(self._encode)

    def pair(self, older: str, newer: str) -> tuple[list[int], list[int]]:
        """Return the numbers of a pair, and to which text each belongs: 1 for the older one, 2 for the newer one."""
        first, second = [BOS, *self.numbers(older), EOS], [EOS, *self.numbers(newer), EOS]
        return first + second, [1] * len(first) + [2] * len(second)

    def _encode(self, text: str) -> tuple[int, ...]:
        """Return the numbers of a text."""
        if len(text) > MAX_CHARS:
            text = f"{text[: MAX_CHARS // 2]} {text[-MAX_CHARS // 2 :]}"
        numbers: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        if len(numbers) > MOST_TOKENS:
            numbers = numbers[: MOST_TOKENS // 2] + numbers[-MOST_TOKENS // 2 :]
        return tuple(numbers)


FOLDER = Path(__file__).parent / "model"
WHAT = "the judge of pairs"
BATCH_TOKENS = 512


class PairJudgeError(Exception):
    """The judge's file is missing or damaged."""


class PairJudge:
    """Reads pairs with ONNX Runtime on one thread. folder: with `pairs.onnx`, `tokenizer.json` and `model.json`."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Read which model it is. Raises PairJudgeError."""
        self._folder = folder
        self._lock = threading.Lock()
        self._runtime: tuple[PairEncoder, Any] | None = None
        try:
            self.name: str = read_description(folder, WHAT)["name"]
        except DeliveredModelError as error:
            raise PairJudgeError(str(error)) from error

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairAnswer]:
        """Return the answer for each pair of an older and a newer text. Raises PairJudgeError."""
        encoder, session = self.load()
        encoded = [encoder.pair(older, newer) for older, newer in pairs]
        found: dict[int, PairAnswer] = {}
        for batch in batches_by_length([len(numbers) for numbers, _ in encoded], BATCH_TOKENS):
            shape = len(batch), max(len(encoded[place][0]) for place in batch)
            ids, parts = np.full(shape, PAD, dtype=np.int32), np.zeros(shape, dtype=np.int32)
            for row, place in enumerate(batch):
                numbers, belongs = encoded[place]
                ids[row, : len(numbers)], parts[row, : len(numbers)] = numbers, belongs
            for place, row in zip(
                batch, session.run(None, {"token_ids": ids, "parts": parts})[0].tolist(), strict=True
            ):
                found[place] = PairAnswer(*row)
        return [found[place] for place in range(len(pairs))]

    def load(self) -> tuple[PairEncoder, Any]:
        """Load the files now rather than at the first pair. Raises PairJudgeError."""
        if self._runtime is None:
            with self._lock:
                if self._runtime is None:
                    self._runtime = open_files(self._folder)
        return self._runtime


def open_files(folder: Path) -> tuple[PairEncoder, Any]:
    """Check the files, and open them. Raises PairJudgeError."""
    try:
        files = checked_files(folder, WHAT)
    except DeliveredModelError as error:
        raise PairJudgeError(str(error)) from error
    return PairEncoder(new_tokenizer(files["tokenizer.json"])), open_session(files["pairs.onnx"])


@cache
def get_pair_judge() -> PairJudge:
    """Return the judge of this process."""
    return PairJudge()
