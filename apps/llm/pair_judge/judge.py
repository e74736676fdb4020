"""The judge of pairs: a small model that says how a newer statement stands to an older one, on this machine.

It answers with four probabilities: the newer one replaces the older one, says the same, holds beside it, or is about
something else. Trained by `training/`; its file lies here, with a checksum (docs/decisions/0069).
"""

import math
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import category

from apps.core.domain.caches import SizedCache
from apps.llm.domain.pair_answer import PairAnswer
from apps.llm.embedding.batches import batches_by_length, padded
from apps.llm.embedding.delivered import DeliveredModelError, checked_files, read_description
from apps.llm.embedding.local import BATCH_TOKENS, LocalRuntime, open_runtime
from apps.llm.embedding.vocabulary.vocabulary import BEGIN, END, PAD, UNKNOWN, Vocabulary, get_vocabulary

# Of each text. Of a longer one the beginning and the end are read.
MOST_TOKENS = 96
MAX_CHARS = 4_000
# The vocabulary has the words of the languages that the judge was trained in, and letters of others. A text is not read
# with more than this share of its letters outside of it, or with fewer letters to a piece. Below the last bound its
# words are spelled, and texts that spell other words look the same (docs/decisions/0101).
MOST_UNKNOWN, LEAST_LETTERS, KNOWN_LETTERS = 0.2, 1.7, 2.3
# Fewer letters say nothing. Characters from here on are written without spaces, and each is a piece.
COUNTED_LETTERS, WIDE = 10, "\u2e80"
_cache = SizedCache("pieces of texts", megabytes=2, entry_bytes=300, char_bytes=16)


class Pieces(NamedTuple):
    """A text as numbers. strange: what has none. unknown: its share of the letters. letters: to a piece, on average."""

    numbers: tuple[int, ...]
    strange: frozenset[str]
    unknown: float
    letters: float

    @property
    def is_readable(self) -> bool:
        """Return whether what the judge says of it means anything."""
        return self.unknown <= MOST_UNKNOWN and self.letters >= LEAST_LETTERS

    def knows_words_with(self, other: "Pieces") -> bool:
        """Return whether the judge has words for this text and another, and sees wherein they differ."""
        return min(self.letters, other.letters) >= KNOWN_LETTERS and self.strange == other.strange


class PairEncoder:
    """Turns pairs of texts into numbers, for training and answering alike.

    Raises DeliveredModelError.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        vocabulary.open()
        self.pieces = _cache.remember(self._encode)

    def pair(self, older: str, newer: str) -> tuple[list[int], list[int]]:
        """Return the numbers of a pair, and to which text each belongs: 1 for the older one, 2 for the newer one."""
        first, second = [BEGIN, *self.pieces(older).numbers, END], [END, *self.pieces(newer).numbers, END]
        return first + second, [1] * len(first) + [2] * len(second)

    def _encode(self, text: str) -> Pieces:
        """Return the pieces of a text."""
        if len(text) > MAX_CHARS:
            text = f"{text[: MAX_CHARS // 2]} {text[-MAX_CHARS // 2 :]}"
        found = self._read(text)
        # There are no pieces for words in capitals.
        return self._read(text.lower()) if found.letters < KNOWN_LETTERS and text.isupper() else found

    def _read(self, text: str) -> Pieces:
        found = self.vocabulary.pieces(text)
        numbers = [piece.number for piece in found]
        letters = unknown = narrow = pieces = 0
        strange = set()
        for number, part in found:
            # Signs of vowels are letters too.
            of_piece = [letter for letter in part if category(letter)[0] in "LM"]
            letters += len(of_piece)
            if number == UNKNOWN:
                strange.add(part.strip())
                unknown += len(of_piece)
            spelled = sum(letter < WIDE for letter in of_piece)
            narrow, pieces = narrow + spelled, pieces + (spelled > 0)
        counts = narrow >= COUNTED_LETTERS and 2 * narrow >= letters
        if len(numbers) > MOST_TOKENS:
            numbers = numbers[: MOST_TOKENS // 2] + numbers[-MOST_TOKENS // 2 :]
        share = unknown / letters if letters else 1.0
        return Pieces(tuple(numbers), frozenset(strange), share, narrow / pieces if counts else math.inf)


FOLDER = Path(__file__).parent / "model"
WHAT = "the judge of pairs"
# Smaller batches are not worth a thread.
LEAST_TOKENS = 64


class PairJudgeError(Exception):
    """The judge's file is missing or damaged."""


class PairJudge:
    """Reads pairs with ONNX Runtime. folder: with `pairs.onnx` and `model.json`.

    threads: how many batches run at once when a call has several; a batch itself runs on one thread.
    """

    def __init__(self, folder: Path = FOLDER, threads: int = 1) -> None:
        """Read which model it is. Raises PairJudgeError."""
        self._folder = folder
        self._threads = threads
        self._lock = threading.Lock()
        self._runtime: tuple[PairEncoder, LocalRuntime] | None = None
        try:
            self.name: str = read_description(folder, WHAT)["name"]
        except DeliveredModelError as error:
            raise PairJudgeError(str(error)) from error

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairAnswer | None]:
        """Return the answer for each pair of an older and a newer text, None where it cannot read one of them.

        Raises PairJudgeError.
        """
        encoder, runtime = self.load()
        found: list[PairAnswer | None] = [None] * len(pairs)
        read = [place for place, pair in enumerate(pairs) if all(encoder.pieces(text).is_readable for text in pair)]
        encoded = [encoder.pair(*pairs[place]) for place in read]
        lengths = [len(numbers) for numbers, _ in encoded]

        def run(batch: list[int]) -> None:
            """Fill in the answers of one batch, padded to its longest pair."""
            ids, parts = (
                padded([encoded[number][0] for number in batch], PAD),
                padded([encoded[number][1] for number in batch]),
            )
            inputs = {"vectors": encoder.vocabulary.vectors(ids), "parts": parts}
            answers = runtime.session.run(None, inputs)[0].tolist()
            for number, answer in zip(batch, answers, strict=True):
                older, newer = map(encoder.pieces, pairs[read[number]])
                replaces, same, both, unrelated = answer
                found[read[number]] = PairAnswer(replaces, same, both, unrelated, older.knows_words_with(newer))

        budget = min(BATCH_TOKENS, max(LEAST_TOKENS, math.ceil(sum(lengths) / self._threads)))
        runtime.spread(run, list(batches_by_length(lengths, budget)))
        return found

    def load(self) -> tuple[PairEncoder, LocalRuntime]:
        """Load the files now rather than at the first pair. Raises PairJudgeError."""
        if self._runtime is None:
            with self._lock:
                if self._runtime is None:
                    self._runtime = open_files(self._folder, self._threads)
        return self._runtime


def open_files(folder: Path, threads: int) -> tuple[PairEncoder, LocalRuntime]:
    """Check the files, and open them. Raises PairJudgeError."""
    try:
        return PairEncoder(get_vocabulary()), open_runtime(checked_files(folder, WHAT)["pairs.onnx"], threads, "judge")
    except DeliveredModelError as error:
        raise PairJudgeError(str(error)) from error


@cache
def get_pair_judge() -> PairJudge:
    """Return the judge of this process."""
    # `training` encodes pairs without Django.
    from django.conf import settings

    return PairJudge(threads=settings.MEMORYHUB.embedding.threads)
