"""What is in force comes before what is not: the order of hits that follow items of knowledge (spec 003)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

IN_FORCE = "accepted"
# Of the score of a hit that is not in force so much counts.
OTHER_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Standing:
    """How a hit stands. share: of its score that counts, 1 for what is in force. by: keys of what took its place."""

    key: int
    score: float
    share: float = 1.0
    by: tuple[int, ...] = ()


def share_of_score(managed_by: str, metadata: Mapping[str, Any]) -> float:
    """Return which share of the score of a memory counts: 1 unless it follows an item that is not in force."""
    status = metadata.get("status", IN_FORCE) if managed_by else IN_FORCE
    return 1.0 if status == IN_FORCE else OTHER_SHARE


def put_in_force_first(hits: Sequence[Standing]) -> list[int]:
    """Return the keys of hits and of what took their places: what is in force in its order, the others below.

    What took the place of a hit stands where that stood, or before. What is not in force comes after all that took its
    place, and after whatever is at least as good as the share of its score.
    """
    counted: dict[int, float] = {}
    for hit in hits:
        for key in (hit.key,) if hit.share == 1 else hit.by:
            counted[key] = max(hit.score, counted.get(key, hit.score))
    order = list(counted)
    for hit in hits:
        if hit.share == 1:
            continue
        counted[hit.key] = hit.score - abs(hit.score) * (1 - hit.share)
        before = [place for place, key in enumerate(order) if key in hit.by or counted[key] >= counted[hit.key]]
        order.insert(before[-1] + 1 if before else 0, hit.key)
    return order
