"""The embedder of many languages: its file is delivered here, made by `training/encoder.py`."""

from pathlib import Path
from typing import Any

from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError, TextRole
from apps.llm.embedding.delivered import DeliveredModelError, checked_files, new_tokenizer, read_description
from apps.llm.embedding.local import LocalEmbedder

FOLDER = Path(__file__).parent / "model"
MODEL = "multilingual-e5-small"
DIMENSION = 384
# Chinese texts of 512 tokens have some 700 characters, English ones 2,000.
MAX_TOKENS = 512
BEGIN, END, UNKNOWN = ("<s>", 0), ("</s>", 2), 3


class E5Embedder(LocalEmbedder):
    """multilingual-e5-small with integers: 384 dimensions; a text counts up to its 512th token.

    It knows Latin letters, Chinese in both scripts and Japanese. The model was trained with questions and passages that
    begin differently. Its vectors all point into one corner, so the mean of many sentences is taken from each.

    threads: see `LocalEmbedder`. folder: with `encoder.onnx`, `tokenizer.json` and `model.json`. Raises
    EmbeddingUnavailableError.
    """

    def __init__(self, threads: int, folder: Path = FOLDER) -> None:
        try:
            name = read_description(folder, MODEL)["name"]
        except DeliveredModelError as error:
            raise EmbeddingUnavailableError(str(error), retryable=False) from error
        super().__init__(EmbeddingSpaceId(f"{MODEL}/{name}", DIMENSION), threads)
        self._folder = folder

    def open_files(self) -> tuple[Any, Path]:
        """See `LocalEmbedder.open_files`."""
        files = self.check()
        return make_tokenizer(files["tokenizer.json"]), files["encoder.onnx"]

    def check(self) -> dict[str, Path]:
        """Return the files, which are what they should be. Raises EmbeddingUnavailableError."""
        try:
            return checked_files(self._folder, MODEL)
        except DeliveredModelError as error:
            raise EmbeddingUnavailableError(str(error), retryable=False) from error

    def phrase(self, text: str, role: TextRole) -> str:
        """Return a text as the model was trained with it."""
        return f"{role}: {text}"

    def count_known(self, tokenizer: Any, text: str) -> float:
        """Return the share of the letters and digits of a text that are in the vocabulary; 1 for a text without any."""
        encoding = tokenizer.encode(text, add_special_tokens=False)
        unknown = [
            text[start:end]
            for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
            if number == UNKNOWN
        ]
        letters = count_letters(text)
        return 1.0 - sum(map(count_letters, unknown)) / letters if letters else 1.0


def count_letters(text: str) -> int:
    """Return how many letters and digits a text has."""
    return sum(map(str.isalnum, text))


def make_tokenizer(file: Path) -> Any:
    """Return the tokenizer, which cuts texts to the tokens that the model reads."""
    from tokenizers.processors import TemplateProcessing

    tokenizer = new_tokenizer(file)
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BEGIN[0]} $A {END[0]}", pair=None, special_tokens=[BEGIN, END]
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer
