"""How well a ranking finds the evidence: recall, reciprocal rank, latency."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

CUTOFFS = (5, 10, 20)


@dataclass(frozen=True)
class EvaluatedAnswer:
    """What a search returned for one question.

    ranks: the 1-based rank of each piece of evidence, None where it was not returned. seconds: wall time.
    """

    category: str
    ranks: tuple[int | None, ...]
    seconds: float


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
        return {
            "questions": self.questions,
            **{f"recall@{k}": round(value, 4) for k, value in self.recall.items()},
            **{f"complete@{k}": round(value, 4) for k, value in self.complete.items()},
            "mrr": round(self.mrr, 4),
        }


def evidence_ranks(evidence: Collection[str], returned: Sequence[str]) -> tuple[int | None, ...]:
    """The rank of each piece of evidence among the returned keys."""
    ranks = {key: rank for rank, key in reversed(list(enumerate(returned, start=1)))}
    return tuple(ranks.get(key) for key in sorted(evidence))


def quality(answers: Sequence[EvaluatedAnswer]) -> Quality:
    """The figures of some answers; zeros for none."""
    if not answers:
        zero = dict.fromkeys(CUTOFFS, 0.0)
        return Quality(0, zero, zero, 0.0)
    shares = {k: [_share(answer, k) for answer in answers] for k in CUTOFFS}
    return Quality(
        questions=len(answers),
        recall={k: fmean(values) for k, values in shares.items()},
        complete={k: fmean(value == 1.0 for value in values) for k, values in shares.items()},
        mrr=fmean(_reciprocal(answer) for answer in answers),
    )


def by_category(answers: Iterable[EvaluatedAnswer]) -> dict[str, Quality]:
    """The figures of each category, by its name."""
    groups: dict[str, list[EvaluatedAnswer]] = {}
    for answer in answers:
        groups.setdefault(answer.category, []).append(answer)
    return {name: quality(group) for name, group in sorted(groups.items())}


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that `share` of all do not exceed. 0.0 for none."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _share(answer: EvaluatedAnswer, cutoff: int) -> float:
    return sum(rank is not None and rank <= cutoff for rank in answer.ranks) / len(answer.ranks)


def _reciprocal(answer: EvaluatedAnswer) -> float:
    found = [rank for rank in answer.ranks if rank is not None]
    return 1 / min(found) if found else 0.0
