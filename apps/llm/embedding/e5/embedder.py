"""The embedder of many languages: its file is delivered here, made by `training/encoder.py`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError, TextRole
from apps.llm.embedding.delivered import DeliveredModelError, checked_files, read_description
from apps.llm.embedding.local import LocalEmbedder
from apps.llm.embedding.vocabulary.vocabulary import BEGIN, END, UNKNOWN, get_vocabulary

FOLDER = Path(__file__).parent / "model"
MODEL = "multilingual-e5-small"
DIMENSION = 384
# What stands before a text in each role. The model was trained with "passage:" in two pieces, not in these three; with
# 4 bits it finds more with three (docs/decisions/0102).
PREFIXES = {TextRole.QUERY: ("▁que", "ry", ":"), TextRole.PASSAGE: ("▁pass", "age", ":")}
# Chinese texts of 512 tokens have some 700 characters, English ones 2,000.
MAX_TOKENS = 512


class E5Embedder(LocalEmbedder):
    """multilingual-e5-small with integers: 384 dimensions; a text counts up to its 512th token.

    It knows the languages that the model was trained in, about a hundred. It was trained with questions and passages
    that begin differently. Its vectors all point into one corner, so the mean of many sentences is taken from each.

    threads: see `LocalEmbedder`. folder: with `encoder.onnx` and `model.json`. Raises EmbeddingUnavailableError.
    """

    def __init__(self, threads: int, folder: Path = FOLDER) -> None:
        try:
            name = read_description(folder, MODEL)["name"]
        except DeliveredModelError as error:
            raise EmbeddingUnavailableError(str(error), retryable=False) from error
        super().__init__(EmbeddingSpaceId(f"{MODEL}/{name}", DIMENSION), threads)
        self._folder = folder

    def open_files(self) -> Path:
        """See `LocalEmbedder.open_files`."""
        return self.check()

    def check(self) -> Path:
        """Return the file of the model, which is what it should be, as the vocabulary is.

        Raises EmbeddingUnavailableError.
        """
        try:
            get_vocabulary().open()
            return checked_files(self._folder, MODEL)["encoder.onnx"]
        except DeliveredModelError as error:
            raise EmbeddingUnavailableError(str(error), retryable=False) from error

    def cut(self, text: str, role: TextRole) -> list[int]:
        """See `LocalEmbedder.cut`."""
        vocabulary = get_vocabulary()
        numbers = [BEGIN, *map(vocabulary.number, PREFIXES[role]), *vocabulary.numbers(text)]
        return [*numbers[: MAX_TOKENS - 1], END]

    def inputs(self, numbers: npt.NDArray[np.int32]) -> Mapping[str, npt.NDArray[Any]]:
        """See `LocalEmbedder.inputs`."""
        return {"vectors": get_vocabulary().vectors(numbers)}

    def count_known(self, text: str) -> float:
        """Return the share of the letters and digits of a text that are in the vocabulary; 1 for a text without any."""
        unknown = sum(count_letters(piece) for number, piece in get_vocabulary().pieces(text) if number == UNKNOWN)
        letters = count_letters(text)
        return 1.0 - unknown / letters if letters else 1.0


def count_letters(text: str) -> int:
    """Return how many letters and digits a text has."""
    return sum(map(str.isalnum, text))
