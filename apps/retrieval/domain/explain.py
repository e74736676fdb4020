"""Explain the place of a result in a search."""

from dataclasses import asdict
from typing import Any

from apps.retrieval.domain.query import Hit, SearchMode


def explain_hit(hit: Hit, mode: SearchMode) -> dict[str, Any]:
    """Return the parts of a result's score.

    In hybrid mode the score is (vector contribution + keyword contribution) x substance.
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
        substance = hit.substance if mode is SearchMode.HYBRID else 1.0
        vector_part = parts.get("vector", {}).get("contribution", 0.0)
        parts["keyword"] = {
            "bm25": hit.keyword,
            "weight": 1 - hit.vector_weight if mode is SearchMode.HYBRID else 1.0,
            "contribution": round(hit.score / substance - vector_part, 6),
            "terms": [asdict(share) for share in hit.terms],
        }
    if mode is SearchMode.HYBRID:
        parts["substance"] = hit.substance
    return parts
