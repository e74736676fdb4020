"""The judge of pairs answers for each pair alone, whatever it is read with, and however far (decision 107)."""

from itertools import permutations

import numpy as np

from apps.llm.pair_judge.judge import PairJudge

MATTERS = (
    "The boiler stands in the cellar.",
    "Rent is due on the first of the month.",
    "Grandpa wears glasses.",
    "鍋爐在地下室。",
    "Le chat dort sur l'armoire.",
    "The tram to the harbour leaves every ten minutes, except on Sundays and on public holidays.",
)
OF_ONE_MATTER = [
    ("The boiler stands in the cellar.", "You find the boiler down in the basement."),
    ("Ana works at the bakery.", "Ana has left the bakery for a job at a law firm."),
    ("鍋爐在地下室。", "地下室裡有鍋爐。"),
]


def test_pairs_of_other_matters_alone_are_answered() -> None:
    answers = PairJudge().read(list(permutations(MATTERS, 2)))
    assert len(answers) == 30
    for answer in answers:
        assert answer is not None
        assert abs(sum(answer[:4]) - 1) < 1e-5
        assert answer.both + answer.unrelated > 0.9


def test_a_pair_is_answered_alike_alone_and_among_others_on_several_threads() -> None:
    pairs = [*permutations(MATTERS, 2), *OF_ONE_MATTER]
    together = PairJudge(threads=3).read(pairs)
    alone = [PairJudge().read([pair])[0] for pair in pairs]
    np.testing.assert_allclose([one[:4] for one in together if one], [one[:4] for one in alone if one], atol=1e-4)
    assert [max(answer.replaces, answer.same) > 0.5 for answer in together if answer] == [False] * 30 + [True] * 3
