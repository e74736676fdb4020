"""How likely a hit is what was asked for, in [0, 1]: the same for every question, scope and mode (decision 0076).

A score orders the hits of one search and says nothing of another. Relevance is the product of two small logistic
models: whether the rows that were searched answer the question at all, by the best hits, and whether this hit does if
one does, by how far it stays behind them. Of a hit they see

- nearness: the cosine, in deviations above what two texts have that mean nothing in common (`Background`), since every
  embedding space puts that elsewhere;
- coverage: BM25 divided by the information of the question, the sum of the rarity of its words. A word that no row
  has is the rarest of all;
- closeness: to a time that the question names, `domain.times`; its weight was chosen, and never lowers a relevance.

The numbers are fitted by `manage.py fit_relevance` for even odds: of hits with 0.5, half are relevant where relevant
and other hits are equally frequent.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apps.retrieval.domain.postings import Floats, Slots

# What a person asks for, and what is added without being asked for.
MIN_RELEVANCE = 0.1
MIN_RELEVANCE_UNASKED = 0.3
# By the best of so many hits it is judged whether there is an answer, whatever the limit of the search.
BEST_OF = 10
DIGITS = 4
# No space is so narrow.
MIN_SPREAD = 0.005


class Background(NamedTuple):
    """The cosines of texts that have nothing in common: their mean, and their usual distance from it (a deviation)."""

    mean: float
    spread: float


class Weights(NamedTuple):
    """Of a logistic model. rows: of the logarithm of how many rows were searched."""

    constant: float
    nearness: float = 0.0
    coverage: float = 0.0
    best_nearness: float = 0.0
    best_coverage: float = 0.0
    rows: float = 0.0
    substance: float = 0.0
    closeness: float = 0.0


class Model(NamedTuple):
    """Whether there is an answer, and whether a hit is one if there is."""

    answered: Weights
    fits: Weights


BOTH = Model(
    Weights(-5.821, best_nearness=1.494, best_coverage=7.022, rows=-0.714),
    Weights(
        -9.065,
        nearness=0.465,
        coverage=6.541,
        best_nearness=-0.361,
        best_coverage=-4.97,
        substance=9.304,
        closeness=1.0,
    ),
)
BY_VECTOR = Model(
    Weights(-9.0, best_nearness=2.445, rows=-0.531),
    Weights(-0.873, nearness=0.806, best_nearness=-0.542),
)
BY_WORDS = Model(
    Weights(0.277, best_coverage=11.788, rows=-0.911),
    Weights(-0.144, coverage=7.687, best_coverage=-6.145, closeness=1.0),
)


class Evidence(NamedTuple):
    """What is known of some rows, by row. coverage: None where no words were compared, nearness where no vectors.

    best_nearness, best_coverage: of the best hits. rows: how many were searched. substance: see `domain.substance`.
    closeness: to the times that the question names, None where it names none.
    """

    nearness: Floats | None
    coverage: Floats | None
    best_nearness: float
    best_coverage: float
    rows: int
    substance: Floats | None = None
    closeness: Floats | None = None

    @property
    def model(self) -> Model | None:
        """Return the model for what is known; None where nothing is."""
        if self.nearness is None:
            return None if self.coverage is None else BY_WORDS
        return BY_VECTOR if self.coverage is None else BOTH


def measure_background(questions: npt.NDArray[Any], statements: npt.NDArray[Any]) -> Background:
    """Return the background of a space from the unit vectors of questions and of statements that answer none."""
    cosines = questions.astype(np.float64) @ statements.astype(np.float64).T
    return Background(round(float(cosines.mean()), 6), max(round(float(cosines.std()), 6), MIN_SPREAD))


def gather_evidence(
    similarity: Floats | None,
    keyword: Floats | None,
    substance: Floats | None,
    best: Slots,
    background: Background | None,
    information: float,
    rows: int,
) -> Evidence:
    """Return the evidence of rows from their cosines and BM25.

    best: which of them are the best hits. background: None where cosines say nothing. information: of the question, 0
    where it has no words.
    """
    nearness = coverage = None
    best_nearness = best_coverage = 0.0
    if similarity is not None and background is not None:
        nearness = (similarity - background.mean) / background.spread
        best_nearness = float(nearness[best].max(initial=0.0))
    if keyword is not None and information > 0:
        coverage = keyword / information
        best_coverage = float(coverage[best].max(initial=0.0))
    return Evidence(nearness, coverage, best_nearness, best_coverage, rows, substance)


def relevance_of(evidence: Evidence, model: Model | None = None) -> Floats | None:
    """Return how likely each row is what was asked for; None where nothing is known that could tell.

    model: instead of the one for what is known.
    """
    model = evidence.model if evidence.model is None or model is None else model
    if model is None:
        return None
    return np.asarray((weigh(model.answered, evidence) * weigh(model.fits, evidence)).round(DIGITS))


def weigh(weights: Weights, evidence: Evidence) -> Floats:
    """Return what a logistic model says of each row; of all the same where it sees only the best."""
    total = (
        weights.constant
        + weights.best_nearness * evidence.best_nearness
        + weights.best_coverage * evidence.best_coverage
        + weights.rows * np.log1p(evidence.rows)
    )
    if weights.nearness and evidence.nearness is not None:
        total = total + weights.nearness * evidence.nearness
    if weights.coverage and evidence.coverage is not None:
        total = total + weights.coverage * evidence.coverage
    if weights.substance and evidence.substance is not None:
        total = total + weights.substance * evidence.substance
    if weights.closeness and evidence.closeness is not None:
        total = total + weights.closeness * evidence.closeness
    return np.asarray(1 / (1 + np.exp(-total)))
