"""The keyword document of a memory, as it is stored: hashed terms with their counts."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from apps.core.domain.text import TEXT_PIPELINE_VERSION, date_words, term_hash, terms
from apps.semantic.domain.memory import MemoryDraft

# Raise the last digits when the composition of the document changes, the pipeline's part when its words do.
LEXEMES_VERSION = TEXT_PIPELINE_VERSION * 100 + 1
LEXEME = np.dtype([("term", "<u8"), ("count", "<u2")])
_MAX_COUNT = 65_535

LexemeArray = npt.NDArray[np.void]


def pack(words: Iterable[str]) -> bytes:
    """The stored form of index terms: one 10-byte record per distinct term, ascending by hash."""
    counts = Counter(term_hash(word) for word in words)
    records = np.array(sorted((term, min(count, _MAX_COUNT)) for term, count in counts.items()), dtype=LEXEME)
    return records.tobytes()


def unpack(blobs: Sequence[bytes]) -> tuple[LexemeArray, npt.NDArray[np.int64]]:
    """The records of several documents, one after the other, and how many each has."""
    sizes = np.array([len(blob) // LEXEME.itemsize for blob in blobs], dtype=np.int64)
    return np.frombuffer(b"".join(blobs), dtype=LEXEME), sizes


def memory_lexemes(draft: MemoryDraft) -> bytes:
    """The packed terms of a memory: of its content, keywords and context, and of the date when it happened."""
    words = [*terms(draft.content), *terms(" ".join(draft.keywords)), *terms(draft.context)]
    if draft.occurred_at is not None:
        words += date_words(draft.occurred_at)
    return pack(words)
