"""Whether the embedder reads a text, so that its vector says something."""

import re

from apps.llm.domain.embedder import EmbeddingError
from apps.llm.embedding.embedder import known_share

# Of a text of which the embedder knows less, as of Chinese with MiniLM, the vector is like that of any other.
LEAST_KNOWN = 0.8
# Signs and emoji, which say nothing about the language of a text.
_SIGNS = re.compile(r"[^\w\s]+|_+")


def can_read(text: str) -> bool:
    """Return whether the configured embedder knows the words of a text.

    Also where it does not answer: then embedding says why.
    """
    try:
        return known_share(_SIGNS.sub(" ", text)) >= LEAST_KNOWN
    except EmbeddingError:
        return True
