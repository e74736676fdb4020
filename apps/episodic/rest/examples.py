"""Examples of the operations of the timeline."""

import json

from apps.core.schemas.examples import Example

EVENT_ID = "5d0f4e0a-5a3b-4c1a-9a53-8f3f6f2c7d11"
BY_ID = {"uuid": EVENT_ID}
AFTER = ("events_record",)
VISIT = {
    "user_id": "ana",
    "household_id": "home",
    "timestamp": "2026-03-02T09:30:00+01:00",
    "event_type": "visit",
    "content": "Ana was at the dentist.",
    "importance": 0.6,
    "source": "conversation",
    "metadata": {"message": "m-118"},
}
QUESTION = {
    "user_id": "ben",
    "household_id": "home",
    "timestamp": "2026-03-02T18:05:00+01:00",
    "event_type": "message",
    "content": "Ben asked what is for dinner.",
}
CALL = {"user_id": "ben", "timestamp": "2026-03-02T18:30:00+01:00", "event_type": "call", "content": "Ben called Ana."}
VISIT_RECORDED = {
    "id": EVENT_ID,
    **VISIT,
    "persona_id": None,
    "origin": "app",
    "recorded_at": "2026-03-02T19:40:12.453000Z",
}
QUESTION_RECORDED = {
    **VISIT_RECORDED,
    **QUESTION,
    "id": "d1bb6304-22a2-4e20-a52f-36cb1336f938",
    "importance": 0.5,
    "source": "user",
    "metadata": {},
}
SEGMENT_ID = "2a1b23c4-5c96-4a53-a2f8-223da5f036a8"
SEGMENT = {
    "id": SEGMENT_ID,
    "state": "archived",
    "rows": "gone",
    "event_count": 1,
    "first_timestamp": "2026-03-02T08:30:00Z",
    "last_timestamp": "2026-03-02T08:30:00Z",
    "file_name": f"20260302T194012453000-{SEGMENT_ID}.segment",
    "format_version": 1,
    "size_bytes": 778,
    "sha256": "92c8330aec1d95d7d246e52d7291869b477a5fa4342ce7d90d4335adde757728",
    "opened_at": "2026-03-02T19:40:12.453000Z",
    "closed_at": "2026-03-03T19:40:30Z",
    "sealed_at": "2026-03-03T19:40:31Z",
    "archived_at": "2026-03-03T19:40:32Z",
    "ended_at": None,
    "checked_at": "2026-03-03T19:40:32Z",
    "damage": None,
    "lost_count": 0,
    "replaced_by": None,
}
QUERY_DIAGNOSTICS = {
    "matched_count": 1,
    "filtered_count": 0,
    "considered_count": 1,
    "filtered": {
        "time_window": 0,
        "event_type": 0,
        "filter": 0,
        "beyond_text_limit": 0,
        "not_compared": 0,
        "no_match": 0,
    },
    "hot": 1,
    "archived": 0,
    "complete": True,
    "segments": {"total": 0, "read": 0, "quarantined": 0},
    "took_ms": 9.51,
    "mode": "hybrid",
    "index": "exact",
    "compared_by_meaning": 1,
    "fallback": None,
}

EXAMPLES = {
    "events_record": Example(
        "Record an event", body=VISIT, status=201, answer={"action": "recorded", "event": VISIT_RECORDED}
    ),
    "events_record_batch": Example(
        "Record many events",
        after=AFTER,
        body={"events": [QUESTION, VISIT, {**QUESTION, "timestamp": "2026-03-02T18:06:00", "content": "Thanks!"}]},
        answer={
            "results": [
                {"status": 201, "action": "recorded", "event": QUESTION_RECORDED},
                {"status": 200, "action": "duplicate", "event": VISIT_RECORDED},
                {
                    "status": 400,
                    "type": "validation_error",
                    "errors": [
                        {
                            "code": "naive",
                            "detail": "A datetime needs an offset, for example 2023-05-08T13:56:00Z.",
                            "attr": "timestamp",
                        }
                    ],
                },
            ],
            "count": 3,
        },
    ),
    "events_import": Example(
        "Import events",
        body=f"{json.dumps(CALL)}\n{json.dumps(CALL)}\n{json.dumps({**CALL, 'timestamp': '2026-03-02T18:06:00'})}\n",
        answer={
            "lines": 3,
            "recorded": 1,
            "duplicates": 1,
            "failed": 1,
            "errors": [
                {
                    "line": 3,
                    "code": "naive",
                    "detail": "A datetime needs an offset, for example 2023-05-08T13:56:00Z.",
                    "attr": "timestamp",
                }
            ],
        },
    ),
    "events_list": Example(
        "List events",
        after=AFTER,
        query={
            "household_id": "home",
            "from": "2026-03-01T00:00:00Z",
            "event_types": "visit,message",
            "filter": '{"importance": {"gte": 0.6}}',
            "limit": 20,
            "count": True,
        },
        answer={"next": None, "previous": None, "total": 1, "results": [VISIT_RECORDED]},
    ),
    "events_retrieve": Example("Show an event", after=AFTER, path=BY_ID, answer=VISIT_RECORDED),
    "events_delete": Example("Remove an event", after=AFTER, path=BY_ID, status=204),
    "events_query": Example(
        "Find events",
        after=AFTER,
        body={
            "user_id": "ana",
            "query": "When was Ana at the dentist?",
            "time_window": {"from": "2026-02-01", "to": "2026-04-01"},
            "timezone": "Europe/Berlin",
            "filter": {"event_type": {"in": ["visit", "message"]}},
            "include": ["team:kitchen"],
            "limit": 3,
        },
        answer={
            "results": [{**VISIT_RECORDED, "score": 0.959381, "similarity": 0.918761}],
            "count": 1,
            "diagnostics": QUERY_DIAGNOSTICS,
        },
    ),
    "segments_list": Example(
        "List segments",
        after=AFTER,
        query={"state": "archived", "limit": 20},
        answer={"next": None, "previous": None, "results": [SEGMENT]},
    ),
    "timeline_status": Example(
        "Show the state of the timeline",
        after=AFTER,
        answer={
            "status": "ready",
            "detail": None,
            "healthy": True,
            "events": {"total": 1, "hot": 1, "archived": 0, "unreadable": 0},
            "segments": {
                "open": 1,
                "sealing": 0,
                "sealed": 0,
                "archived": 0,
                "compacted": 0,
                "quarantined": 0,
                "pruned": 0,
            },
            "archive_bytes": 0,
            "warnings": [],
        },
    ),
}
