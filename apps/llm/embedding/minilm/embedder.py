"""The MiniLM embedder."""

from pathlib import Path
from typing import Any

from apps.llm.domain.embedder import EmbeddingSpaceId, EmbeddingUnavailableError, TextRole
from apps.llm.embedding.local import LocalEmbedder
from apps.llm.embedding.minilm import source
from apps.llm.embedding.minilm.preparation import prepare
from apps.llm.embedding.minilm.source import Precision

UNKNOWN = "[UNK]"


class MiniLMEmbedder(LocalEmbedder):
    """all-MiniLM-L6-v2: 384 dimensions; a text counts up to its 256th token.

    models_dir: where the model file is, or will be built. threads: see `LocalEmbedder`.
    """

    def __init__(self, models_dir: Path, precision: Precision, threads: int) -> None:
        super().__init__(EmbeddingSpaceId(f"{source.MODEL}/{precision}", source.DIMENSION), threads)
        self._models_dir = models_dir
        self.precision = precision

    def open_files(self) -> Path:
        """See `LocalEmbedder.open_files`."""
        try:
            path = prepare(self._models_dir, self.precision)
        except OSError as error:
            raise EmbeddingUnavailableError(
                f"The model cannot be kept in {self._models_dir}: {error.strerror}.", retryable=True
            ) from error
        self._tokenizer = load_tokenizer()
        return path

    def cut(self, text: str, role: TextRole) -> list[int]:
        """See `LocalEmbedder.cut`; the model knows no roles."""
        numbers: list[int] = self._tokenizer.encode(text).ids
        return numbers

    def count_known(self, text: str) -> float:
        """Return the share of the tokens of a text that are in the vocabulary; 1 for a text without tokens."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return 1.0 - ids.count(self._tokenizer.token_to_id(UNKNOWN)) / len(ids) if ids else 1.0


def load_tokenizer() -> Any:
    """Load the tokenizer, which cuts texts to the tokens that the model reads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(source.tokenizer().read().decode())
    tokenizer.enable_truncation(source.MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer
