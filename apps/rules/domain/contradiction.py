"""Whether two texts contradict each other, by cheap evidence that a person can check (DESIGN D6)."""

from apps.rules.domain.contradiction_evidence import Evidence, strongest
from apps.rules.domain.contradiction_negation import denial, negation
from apps.rules.domain.contradiction_swaps import swap
from apps.rules.domain.contradiction_text import analysed
from apps.rules.domain.contradiction_values import value


def contradiction(first: str, second: str, similarity: float | None = None) -> Evidence | None:
    """The strongest evidence that two texts contradict each other; None for none.

    similarity: the cosine of their embeddings, None where it is not known. Symmetric but for the order of the pairs
    in the evidence. Accepts any str.
    """
    one, other = analysed(first), analysed(second)
    if one is other or one.sentences == other.sentences:
        return None
    return strongest(
        (negation(one, other), denial(one, other, similarity), swap(one, other), value(one, other, similarity))
    )
