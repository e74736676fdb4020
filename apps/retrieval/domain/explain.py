"""Explain the place of a result in a search."""

from dataclasses import asdict
from typing import Any

from apps.core.domain.clock import iso
from apps.retrieval.domain.query import Hit, SearchMode
from apps.retrieval.domain.times.closeness import TIME_WEIGHT


def explain_hit(hit: Hit, mode: SearchMode) -> dict[str, Any]:
    """Return the parts of a result's score.

    In hybrid mode the score is (vector contribution + keyword contribution) x substance, and where the query names a
    time x the factor of `time`. There an end that is null is open. Of a reranker that made the order: its own score,
    and which place the hit had before.
    """
    parts: dict[str, Any] = {"mode": mode, "score": hit.score}
    if hit.similarity is not None:
        weight = hit.vector_weight if mode is SearchMode.HYBRID else float(mode is SearchMode.VECTOR)
        parts["vector"] = {
            "similarity": hit.similarity,
            "weight": weight,
            "contribution": round(weight * hit.similarity, 6),
        }
    if hit.keyword is not None:
        factors = hit.substance * (hit.time.factor if hit.time else 1.0) if mode is SearchMode.HYBRID else 1.0
        vector_part = parts.get("vector", {}).get("contribution", 0.0)
        parts["keyword"] = {
            "bm25": hit.keyword,
            "weight": 1 - hit.vector_weight if mode is SearchMode.HYBRID else 1.0,
            "contribution": round(hit.score / factors - vector_part, 6),
            "terms": [asdict(share) for share in hit.terms],
        }
    if mode is SearchMode.HYBRID:
        parts["substance"] = hit.substance
    if hit.time is not None:
        parts["time"] = {
            "named": [{"words": one.words, "from": iso(one.start), "to": iso(one.end)} for one in hit.time.named],
            "closeness": hit.time.closeness,
            "weight": TIME_WEIGHT,
            "factor": hit.time.factor,
        }
    if hit.rerank is not None:
        parts["rerank"] = {"score": hit.rerank.score, "place_before": hit.rerank.place}
    return parts
