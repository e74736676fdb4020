"""Figures of answers to questions whose evidence is known."""

from apps.semantic.domain.evaluation import EvaluatedAnswer


def test_evidence_at_the_cutoff_counts() -> None:
    answer = EvaluatedAnswer("travel", ranks=(5, 6, None, 1), seconds=0.1)
    assert [answer.recall(cutoff) for cutoff in (1, 4, 5, 6)] == [0.25, 0.25, 0.5, 0.75]


def test_reciprocal_rank_is_that_of_the_first_evidence() -> None:
    assert EvaluatedAnswer("travel", ranks=(4, None, 2), seconds=0.1).reciprocal_rank == 0.5
    assert EvaluatedAnswer("travel", ranks=(None,), seconds=0.1).reciprocal_rank == 0.0
