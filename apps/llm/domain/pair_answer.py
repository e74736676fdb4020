"""What the judge of pairs answers about an older and a newer statement."""

from typing import NamedTuple


class PairAnswer(NamedTuple):
    """The probabilities that the newer one replaces the older one, says the same, holds beside it, or is about
    something else. They add up to 1; their order is that of the model's outputs.

    knows_words: whether the judge has words for both texts, and for what only one of them has. Else it spells them, and
    all that is strange looks the same to it.
    """

    replaces: float
    same: float
    both: float
    unrelated: float
    knows_words: bool = True

    @property
    def probabilities(self) -> dict[str, float]:
        """Return the answers with their probabilities."""
        return {name: getattr(self, name) for name in ANSWERS}

    @property
    def verdict(self) -> str:
        """Return the likeliest answer."""
        return max(ANSWERS, key=lambda name: getattr(self, name))


ANSWERS = PairAnswer._fields[:4]
