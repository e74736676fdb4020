"""The keyword document of a row, as it is stored: hashed terms with their counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.text.terms import TEXT_PIPELINE_VERSION, Token, date_words, term_hash, terms, terms_of

# Raise the last digits when the composition of the document changes, the pipeline's part when its words do.
LEXEMES_VERSION = TEXT_PIPELINE_VERSION * 100 + 1
LEXEME = np.dtype([("term", "<u8"), ("own", "<u2"), ("lent", "<u2")])
_MAX_COUNT = 65_535

LexemeArray = npt.NDArray[np.void]


def pack(words: Iterable[str], unlent: Iterable[str] = ()) -> bytes:
    """Return the stored form of index terms: one 12-byte record per distinct term, ascending by hash.

    own: how often the document has the term. lent: how many of those its neighbours may borrow, which are
    those of `words` but not of `unlent`.
    """
    lent = Counter(map(term_hash, words))
    own = lent.copy()
    own.update(map(term_hash, unlent))
    records = [(term, min(own[term], _MAX_COUNT), min(lent[term], _MAX_COUNT)) for term in sorted(own)]
    return np.array(records, dtype=LEXEME).tobytes()


def unpack(blobs: Sequence[bytes]) -> tuple[LexemeArray, npt.NDArray[np.int64]]:
    """Return the records of several documents, one after the other, and how many each has."""
    sizes = np.array([len(blob) // LEXEME.itemsize for blob in blobs], dtype=np.int64)
    return np.frombuffer(b"".join(blobs), dtype=LEXEME), sizes


def document_lexemes(
    content: str | Sequence[Token],
    keywords: Iterable[str] = (),
    context: str = "",
    occurred_at: datetime | None = None,
) -> bytes:
    """Return the packed terms of a row: of its content, keywords and context, and of the day when it happened,
    in the offset of `occurred_at`. content: or its tokens."""
    words = terms(content) if isinstance(content, str) else terms_of(content)
    words = [*words, *terms(" ".join(keywords)), *terms(context)]
    # A day is not lent: the neighbours have their own.
    return pack(words, [] if occurred_at is None else date_words(occurred_at))
