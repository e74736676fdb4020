"""What the judge of pairs answers about an older and a newer statement."""

from typing import NamedTuple


class PairAnswer(NamedTuple):
    """The probabilities that the newer one replaces the older one, says the same, holds beside it, or is about
    something else. They add up to 1; their order is that of the model's outputs.
    """

    replaces: float
    same: float
    both: float
    unrelated: float

    @property
    def verdict(self) -> str:
        """Return the likeliest answer."""
        return max(self._fields, key=lambda name: getattr(self, name))
