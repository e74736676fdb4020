"""Examples: a search, and the state of the store."""

from apps.core.schemas.examples import Example
from apps.semantic.rest.examples.memories import CONFLICT_ID, LISBON_ID, MOVED, SCOPE

INDEX = {
    "kind": "exact or hnsw",
    "model": "minilm/all-MiniLM-L6-v2@float32",
    "dimension": 384,
    "indexes": 1,
    "bytes": 6800,
    "memories": 1,
    "graphs": 0,
    "graph_memories": 0,
    "backlog": 0,
    "evictions": 0,
    "evictions_per_minute": 0.0,
    "making": None,
    "missing": None,
    "level": "ok",
    "reasons": [],
}
WEB_CHECKS = {"embedding": "ok", "index": "ok", "timeline": "ok"}

EXAMPLES = {
    "search": Example(
        "Find memories",
        after=("memories_save", "memories_save_batch"),
        body={
            **SCOPE,
            "query": "Where does Ana live?",
            "limit": 5,
            "min_confidence": 0.3,
            "filter": {"type": {"in": ["home", "work"]}},
            "include": ["team:kitchen"],
            "explain": True,
        },
        answer={
            "results": [
                {
                    "memory": MOVED,
                    "score": 0.845763,
                    "similarity": 0.691526,
                    "confidence": 1.0,
                    "conflict": {"id": CONFLICT_ID, "with": LISBON_ID, "state": "open"},
                    "replaced": None,
                    "in_force": True,
                    "succeeds": None,
                    "explain": {
                        "mode": "hybrid",
                        "score": 0.845763,
                        "vector": {"similarity": 0.691526, "weight": 0.5, "contribution": 0.345763},
                        "keyword": {
                            "bm25": 0.817391,
                            "weight": 0.5,
                            "contribution": 0.5,
                            "terms": [
                                {"term": "ana", "weight": 1.0, "idf": 0.182322, "score": 0.170227},
                                {"term": "live", "weight": 1.0, "idf": 0.693147, "score": 0.647164},
                            ],
                        },
                        "substance": 1.0,
                        "current_first": None,
                        "in_force": None,
                    },
                }
            ],
            "count": 1,
            "diagnostics": {
                "matched_count": 1,
                "filtered_count": 1,
                "considered_count": 2,
                "filtered": {"filter": 1, "min_confidence": 0},
                "index": "exact",
                "mode": "hybrid",
                "took_ms": 8.461,
            },
        },
    ),
    "status": Example(
        "Show the state of the memory store",
        after=("memories_save",),
        answer={
            "status": "healthy",
            "store": {"host": "embedded", "name": "memoryhub"},
            "collection": "semantic_memory",
            "count": 1,
            "index": INDEX,
            "checks": {
                "database": "ok",
                "migrations": "ok",
                "embedding": "ok",
                "index": "ok",
                "timeline": "ok",
                "web": "ok",
                "disk": "ok",
                "worker": "ok",
                "schedules": "ok",
            },
            "ready": True,
            "processes": [
                {
                    "kind": "web",
                    "host": "hub.home",
                    "pid": 4711,
                    "started_at": "2026-03-01T16:58:44.120000Z",
                    "seen_seconds_ago": 1.2,
                    "ready": True,
                    "checks": WEB_CHECKS,
                    "index": INDEX,
                },
                {
                    "kind": "worker",
                    "host": "hub.home",
                    "pid": 4712,
                    "started_at": "2026-03-01T16:58:44.310000Z",
                    "seen_seconds_ago": 0.4,
                    "ready": True,
                    "checks": {},
                    "index": None,
                },
            ],
            "bridge": {
                "suspended": False,
                "suspended_by": [],
                "policies": 0,
                "pending": 0,
                "failed": 0,
                "timeline_lag_ms": 0,
                "last_ingestion_lag_ms": None,
                "segment_count": 0,
            },
            "judge": {
                "state": "off",
                "model": None,
                "waiting": 0,
                "asked_today": 0,
                "pairs_per_day": 100,
                "counts": {},
                "last_run_at": None,
                "last_end": None,
                "last_error": None,
            },
        },
    ),
}
