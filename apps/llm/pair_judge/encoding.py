"""How two texts are put to the judge of pairs: as one sequence of numbers. Training and answering share it."""

from typing import Any

from apps.core.domain.caches import SizedCache

BOS, PAD, EOS = 0, 1, 2
# Of each text. Of a longer one the beginning and the end are read.
MOST_TOKENS = 96
MAX_CHARS = 4_000
_cache = SizedCache("pieces of texts", megabytes=2, entry_bytes=300, char_bytes=16)


class PairEncoder:
    """Turns pairs of texts into numbers. tokenizer: of the `tokenizers` library, without special tokens."""

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
