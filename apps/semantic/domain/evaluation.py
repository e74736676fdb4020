"""Measures of how well a ranking finds the evidence: recall, reciprocal rank, latency."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

CUTOFFS = (5, 10, 20)


@dataclass(frozen=True)
class EvaluatedAnswer:
    """The result of a search for one question.

    ranks: the 1-based rank of each piece of evidence, None where it was not returned. seconds: wall time.
    """

    category: str
    ranks: tuple[int | None, ...]
    seconds: float

    def recall(self, cutoff: int) -> float:
        """Return the share of the evidence among the first `cutoff` results."""
        return sum(rank is not None and rank <= cutoff for rank in self.ranks) / len(self.ranks)

    @property
    def reciprocal_rank(self) -> float:
        """Return one divided by the rank of the first evidence found; 0 without any."""
        found = [rank for rank in self.ranks if rank is not None]
        return 1 / min(found) if found else 0.0


@dataclass(frozen=True)
class Quality:
    """The figures of a set of answers; shares in [0, 1].

    recall: mean share of the evidence in the top k. complete: share of questions with all of it there.
    mrr: mean reciprocal rank of the first evidence found.
    """

    questions: int
    recall: Mapping[int, float]
    complete: Mapping[int, float]
    mrr: float

    def as_json(self) -> dict[str, Any]:
        """Return the figures, rounded."""
        return {
            "questions": self.questions,
            **{f"recall@{k}": round(value, 4) for k, value in self.recall.items()},
            **{f"complete@{k}": round(value, 4) for k, value in self.complete.items()},
            "mrr": round(self.mrr, 4),
        }


def evidence_ranks(evidence: Collection[str], returned: Sequence[str]) -> tuple[int | None, ...]:
    """Return the rank of each piece of evidence among the returned keys."""
    ranks = {key: rank for rank, key in reversed(list(enumerate(returned, start=1)))}
    return tuple(ranks.get(key) for key in sorted(evidence))


def quality(answers: Sequence[EvaluatedAnswer]) -> Quality:
    """Return the figures of some answers; zeros for none."""
    if not answers:
        zero = dict.fromkeys(CUTOFFS, 0.0)
        return Quality(0, zero, zero, 0.0)
    shares = {k: [answer.recall(k) for answer in answers] for k in CUTOFFS}
    return Quality(
        questions=len(answers),
        recall={k: fmean(values) for k, values in shares.items()},
        complete={k: fmean(value == 1.0 for value in values) for k, values in shares.items()},
        mrr=fmean(answer.reciprocal_rank for answer in answers),
    )


def by_category(answers: Iterable[EvaluatedAnswer]) -> dict[str, Quality]:
    """Return the figures of each category, by its name."""
    groups: dict[str, list[EvaluatedAnswer]] = {}
    for answer in answers:
        groups.setdefault(answer.category, []).append(answer)
    return {name: quality(group) for name, group in sorted(groups.items())}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the smallest value that `share` of all do not exceed. 0.0 for none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
