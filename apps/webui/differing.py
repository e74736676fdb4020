"""Two texts beside each other, with the words marked that differ."""

from django.template.defaultfilters import truncatechars

from apps.semantic.domain.word_diff import Piece, differences

# Texts that share less of the shorter one are different ones altogether: marks on nearly every word say nothing.
LEAST_SHARED = 0.4


def differing(one: str, other: str, chars: int) -> tuple[list[Piece], list[Piece]]:
    """Return both texts, cut to so many characters, in pieces; `same` alone where they share little."""
    texts = truncatechars(one, chars), truncatechars(other, chars)
    marked = differences(*texts)
    shared = sum(len(piece.text) for piece in marked[0] if piece.kind == "same")
    if shared < LEAST_SHARED * min(len(text) for text in texts):
        return [Piece(texts[0], "same")], [Piece(texts[1], "same")]
    return marked
