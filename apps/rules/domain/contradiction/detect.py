"""Whether two texts contradict each other, by cheap evidence that a person can check (DESIGN D6)."""

from dataclasses import replace

from apps.rules.domain.contradiction.changes import MIN_COMMON, change
from apps.rules.domain.contradiction.evidence import NOTICE_ONLY, Evidence, strongest
from apps.rules.domain.contradiction.negation import denial, negation
from apps.rules.domain.contradiction.several import may_both_hold
from apps.rules.domain.contradiction.subjects import have_other_speakers
from apps.rules.domain.contradiction.swaps import swap
from apps.rules.domain.contradiction.text import analysed
from apps.rules.domain.contradiction.values import MIN_SHARED_NEAR, value

# One statement is a small part of a longer memory: superseding that for it would lose the rest.
MAX_ACTED_CHARS = 1500


def contradiction(first: str, second: str, similarity: float | None = None) -> Evidence | None:
    """The strongest evidence that two texts contradict each other; None for none.

    similarity: the cosine of their embeddings, None where it is not known. Symmetric but for the order of the pairs
    in the evidence. Accepts any str.
    """
    one, other = analysed(first), analysed(second)
    if one is other or one.sentences == other.sentences or have_other_speakers(one, other):
        return None
    # Most memories have little in common: what cannot be there is not looked for.
    shared = len(one.whole.content & other.whole.content)
    found = strongest(
        (
            negation(one, other) if shared else None,
            denial(one, other, similarity) if shared else None,
            swap(one, other),
            value(one, other, similarity) if shared >= MIN_SHARED_NEAR else None,
            change(one, other, similarity) if shared >= MIN_COMMON else None,
        )
    )
    if found and (max(len(first), len(second)) > MAX_ACTED_CHARS or may_both_hold(found.reason, first, second)):
        return replace(found, score=min(found.score, NOTICE_ONLY))
    return found
