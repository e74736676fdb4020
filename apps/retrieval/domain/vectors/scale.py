"""What the cosines of an embedding space mean, so that a threshold means the same in each (docs/decisions/0088).

Thresholds are stated on one scale: the cosines of all-MiniLM-L6-v2, by which they were measured. Each other space has
curves from its cosines to that scale, fitted by `manage.py fit_scale`.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Curve:
    """A rising line through points, each a cosine of the space and what it is on the scale, both from -1 to 1.

    Without points both are the same. Raises ValueError for points that do not rise from (-1, -1) to (1, 1).
    """

    points: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.points:
            return
        rises = all(x < y and of_x < of_y for (x, of_x), (y, of_y) in pairwise(self.points))
        if not rises or self.points[0] != (-1.0, -1.0) or self.points[-1] != (1.0, 1.0):
            raise ValueError("The points of a curve must rise from (-1, -1) to (1, 1).")

    @cached_property
    def columns(self) -> tuple[Floats, Floats]:
        """Return the cosines of the points, and what they are on the scale."""
        own, scaled = np.array(self.points, float).T
        return own, scaled

    def place(self, cosine: float) -> float:
        """Return what a cosine is on the scale."""
        return float(self.place_all(np.float64(cosine))) if self.points else cosine

    def place_all(self, cosines: Any) -> Any:
        """Return what cosines are on the scale; of any shape."""
        if not self.points:
            return cosines
        return np.interp(cosines, *self.columns)

    def cosine(self, value: float) -> float:
        """Return the cosine of the space that is `value` on the scale."""
        if not self.points:
            return value
        own, scaled = self.columns
        return float(np.interp(value, scaled, own))


@dataclass(frozen=True)
class Scale:
    """The curves of a space. statements: of two texts that are stored. questions: of a question and such a text."""

    statements: Curve = field(default_factory=Curve)
    questions: Curve = field(default_factory=Curve)


# Of the space by which thresholds were measured, and of one of which nothing is known.
PLAIN_SCALE = Scale()
