"""Put the first hits of a search into the order that somebody else gave them (docs/decisions/0089)."""

from collections.abc import Mapping, Sequence

from apps.retrieval.domain.query import Hit, RerankShare


def reorder(hits: Sequence[Hit], scores: Mapping[int, float]) -> tuple[Hit, ...]:
    """Return the hits, first those that have a score, the best first, then the others. scores: by the ids of rows.

    Equal scores leave the order as it was.
    """
    scored = [
        hit._replace(rerank=RerankShare(scores[hit.id], place)) for place, hit in enumerate(hits, 1) if hit.id in scores
    ]
    best_first = sorted(scored, key=lambda hit: -scores[hit.id])
    return (*best_first, *(hit for hit in hits if hit.id not in scores))
