"""Examples of the operations of knowledge sync: the decisions of a team."""

from typing import Any

from apps.core.schemas.examples import Example

SOURCE_ID = "6b3f1c8e-40d7-4a92-9b15-7e2c8d0f6a31"
RUN_ID = "c0a87e15-3d42-4f6b-8e91-5b7d2f90a3c6"
CHECKPOINT_ID = "9e4d2b70-1f83-4c5a-b6e8-0a7c3d92f415"
SUPERSEDED_ID = "2d8f5a91-7c3e-5b04-a1d6-f39e07c48b52"
ITEM_ID = "81c6e4d3-52b9-5f7a-90e2-4d8b1a6f3c07"
CONFLICT_ID = "f52b9c07-8ae1-4d36-b740-6c1e95d8a2f3"
POINTERS = ("d1a4c7e8-6f29-4b83-a5d0-92e7b3c8f146", "47e9b2d5-0c86-4a1f-8d73-e5f1a9c60b28")
OLD = "8f2b6d14c3a97e50d1f4b8a2639c7e05d41f8b3a"
NEW = "3d7a90e5f21c6b84a0d9e3f75b128c46e0a9d7f1"
HASHES = (
    "ba6bdf3f70eba5dd5b1d2f675c8589b3da96a32719007b4fd8035c943610fda9",
    "647bf53b11c5783fea4a30b7456ff17255093824b9737fd1b4d691bda134644e",
)
BY_SOURCE = {"uuid": SOURCE_ID}
BY_RUN = {"uuid": RUN_ID}
BY_ITEM = {"uuid": ITEM_ID}
BY_CONFLICT = {"uuid": CONFLICT_ID}
CREATED = ("sync_sources_create",)
# After a sync of a repository with two decisions and an empty file.
SYNCED = (*CREATED, "sync_runs_list")
LISTED = (*SYNCED, "sync_items_list")
LOGGED = (*LISTED, "sync_items_history")

VALUES = {
    "name": "decisions",
    "user_id": "team:platform",
    "kind": "git",
    "location": "https://git.example.org/platform/decisions.git",
    "folder": "docs/adr",
    "layer": "team",
    "staleness_seconds": 21_600,
    "webhook_secret": "forge",
}
SOURCE: dict[str, Any] = {
    "id": SOURCE_ID,
    **VALUES,
    "project": "",
    "branch": "",
    "include": [],
    "exclude": [],
    "convention": "auto",
    "mapping": {},
    "resolutions": {},
    "credentials": "",
    "webhook": f"/api/sync/webhooks/{SOURCE_ID}",
    "staleness": "6h",
    "session_threshold": None,
    "daily_at": None,
    "max_items": None,
    "enabled": True,
    "paused": "",
    "created_at": "2026-05-04T08:10:31.402000Z",
    "created_by": "key:operator",
    "updated_at": "2026-05-04T08:10:31.402000Z",
}
RUN: dict[str, Any] = {
    "id": RUN_ID,
    "source": SOURCE_ID,
    "kind": "full",
    "state": "waiting",
    "reason": "manual",
    "actor": "key:operator",
    "item_id": "",
    "from_commit": "",
    "to_commit": "",
    "fallback": "",
    "progress": {"step": "", "done": 0, "total": 0},
    "counts": {
        "added": 0,
        "updated": 0,
        "deleted": 0,
        "unchanged": 0,
        "conflicts": 0,
        "failed": 0,
        "remaining": 0,
    },
    "code": "",
    "detail": "",
    "requested_at": "2026-05-04T08:12:05.118000Z",
    "started_at": None,
    "ended_at": None,
}
ENDED: dict[str, Any] = {
    **RUN,
    "state": "partial",
    "to_commit": NEW,
    "counts": {**RUN["counts"], "added": 2, "failed": 1},
    "code": "PARTIAL_FAILURE",
    "detail": "1 file could not be read.",
    "started_at": "2026-05-04T08:12:05.644000Z",
    "ended_at": "2026-05-04T08:12:06.871000Z",
}
DETAIL = {
    **ENDED,
    "failed_items": [{"path": "docs/adr/0018-draft.md", "code": "empty", "detail": "The file is empty."}],
    "checkpoint": CHECKPOINT_ID,
    "rolled_back_by": None,
}
SUPERSEDED: dict[str, Any] = {
    "id": SUPERSEDED_ID,
    "source": SOURCE_ID,
    "source_name": "decisions",
    "item_id": "ADR-0012",
    "path": "docs/adr/0012-calls-between-services.md",
    "type": "adr",
    "title": "Calls between services",
    "summary": "Services need data of each other.",
    "status": "superseded",
    "layer": "team",
    "constraints": [],
    "tags": [],
    "supersedes": [],
    "superseded_by": ["ADR-0017"],
    "hash": HASHES[0],
    "commit": NEW,
    "pointer": POINTERS[0],
    "synced_at": "2026-05-04T08:12:06.850000Z",
}
ITEM: dict[str, Any] = {
    **SUPERSEDED,
    "id": ITEM_ID,
    "item_id": "ADR-0017",
    "path": "docs/adr/0017-events-between-services.md",
    "title": "Events between services",
    "summary": "Services publish what has changed, and do not call each other.",
    "status": "accepted",
    "constraints": [
        {"text": "No service calls another one while it answers a request.", "severity": "blocking"},
    ],
    "tags": ["messaging"],
    "supersedes": ["ADR-0012"],
    "superseded_by": [],
    "hash": HASHES[1],
    "pointer": POINTERS[1],
}
PREVIEWED = ("item_id", "type", "title", "summary", "status", "layer", "constraints", "tags", "superseded_by")
CONFLICT: dict[str, Any] = {
    "id": CONFLICT_ID,
    "source": SOURCE_ID,
    "run": RUN_ID,
    "type": "orphaned_pointer",
    "item_id": "ADR-0012",
    "pointers": [POINTERS[0]],
    "detail": {},
    "suggested": "delete_memory",
    "resolution": "",
    "state": "open",
    "detected_at": "2026-05-05T08:12:06.850000Z",
    "resolved_at": None,
    "resolved_by": "",
}
CHANGED = ("path", "title", "status", "layer", "superseded_by", "hash", "commit")
CONTENTS = (
    "[ADR] Calls between services (superseded by ADR-0017)\nServices need data of each other.\nRef: decisions/ADR-0012",
    "[ADR] Events between services (accepted)\nServices publish what has changed, and do not call each other.\n"
    "Blocking: No service calls another one while it answers a request.\nRef: decisions/ADR-0017",
)
MANIFEST = ("id", "item_id", "path", "type", "title", "status", "layer", "hash", "commit", "pointer")


def page(*results: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with all of a list."""
    return {"next": None, "previous": None, "total": len(results), "results": list(results)}


WHOLE: dict[str, str | int | bool] = {"limit": 20, "count": True}
OF_SOURCE: dict[str, str | int | bool] = {"source": SOURCE_ID, **WHOLE}

EXAMPLES = {
    "sync_sources_create": Example("Create a source", body=VALUES, status=201, answer=SOURCE),
    "sync_sources_list": Example(
        "List sources", after=CREATED, query={"include": "team:platform", **WHOLE}, answer=page(SOURCE)
    ),
    "sync_sources_retrieve": Example("Show a source", after=CREATED, path=BY_SOURCE, answer=SOURCE),
    "sync_sources_update": Example(
        "Change a source",
        after=CREATED,
        path=BY_SOURCE,
        body={"session_threshold": 10, "resolutions": {"orphaned_pointer": "manual"}},
        answer={**SOURCE, "session_threshold": 10, "resolutions": {"orphaned_pointer": "manual"}},
    ),
    "sync_sources_delete": Example("Delete a source", after=CREATED, path=BY_SOURCE, status=204),
    "sync_sources_pause": Example(
        "Pause a source",
        after=CREATED,
        path=BY_SOURCE,
        body={"reason": "The repository moves."},
        answer={**SOURCE, "paused": "The repository moves."},
    ),
    "sync_sources_resume": Example("Resume a source", after=CREATED, path=BY_SOURCE, answer=SOURCE),
    "sync_sources_sync": Example(
        "Sync a source", after=CREATED, path=BY_SOURCE, body={"kind": "full", "wait": False}, status=202, answer=RUN
    ),
    "sync_sources_should_sync": Example(
        "Ask whether a sync is due",
        after=CREATED,
        path=BY_SOURCE,
        answer={
            "should_sync": True,
            "reason": "threshold",
            "detail": "It was never synced.",
            "due_at": "2026-05-04T08:11:00.220000Z",
        },
    ),
    "sync_sources_session": Example(
        "Count a session",
        after=CREATED,
        path=BY_SOURCE,
        answer={
            "last_sync_at": None,
            "last_full_sync_at": None,
            "last_commit": "",
            "sessions_since_sync": 1,
            "items": 0,
            "pointers": 0,
            "refused_files": 0,
            "open_conflicts": 0,
            "retries": 0,
            "next_try_at": None,
            "checksum": "",
            "paused": "",
        },
    ),
    "sync_sources_preview": Example(
        "Preview a sync",
        after=CREATED,
        path=BY_SOURCE,
        body={"mapping": {"statuses": {"discontinued": "deprecated"}, "kinds": {"text": "RFC"}}},
        answer={
            "from_commit": "",
            "commit": NEW,
            "files": [
                {
                    "path": one["path"],
                    "item": {name: one[name] for name in PREVIEWED},
                    "code": "",
                    "detail": "",
                }
                for one in (SUPERSEDED, ITEM)
            ]
            + [{"path": "docs/adr/0018-draft.md", "item": None, "code": "empty", "detail": "The file is empty."}],
            "delta": {"added": ["ADR-0012", "ADR-0017"], "updated": [], "deleted": [], "unchanged": 0},
            "conflicts": [],
            "changes": [
                {"action": "create", "item_id": item_id, "pointer": None, "reason": "added"}
                for item_id in ("ADR-0012", "ADR-0017")
            ],
            "advice": "",
            "statuses": {"superseded": 1, "accepted": 1},
        },
    ),
    "sync_sources_state": Example(
        "Show the state of a source",
        after=SYNCED,
        path=BY_SOURCE,
        answer={
            "last_sync_at": "2026-05-04T08:12:06.850000Z",
            "last_full_sync_at": "2026-05-04T08:12:06.850000Z",
            "last_commit": NEW,
            "sessions_since_sync": 0,
            "items": 2,
            "pointers": 2,
            "refused_files": 1,
            "open_conflicts": 0,
            "retries": 0,
            "next_try_at": None,
            "checksum": "5c1f0e9a7b64d2838f3e6a15c0d9b7421ea85f6d39c0b1742e8f5a6d90c3b7e1",
            "paused": "",
        },
    ),
    "sync_sources_manifest": Example(
        "Show the manifest of a source",
        after=SYNCED,
        path=BY_SOURCE,
        answer={"results": [{name: one[name] for name in MANIFEST} for one in (SUPERSEDED, ITEM)], "count": 2},
    ),
    "sync_sources_files": Example(
        "List files that cannot be read",
        after=SYNCED,
        path=BY_SOURCE,
        query={"refused": True, **WHOLE},
        answer=page(
            {"path": "docs/adr/0018-draft.md", "item_id": None, "code": "empty", "detail": "The file is empty."}
        ),
    ),
    "sync_sources_checkpoints": Example(
        "List checkpoints",
        after=SYNCED,
        path=BY_SOURCE,
        query=WHOLE,
        answer=page(
            {
                "id": CHECKPOINT_ID,
                "run": RUN_ID,
                "kind": "full",
                "state": "partial",
                "commit": "",
                "created_at": "2026-05-04T08:12:05.702000Z",
            }
        ),
    ),
    "sync_sources_rollback": Example(
        "Roll a source back",
        after=(*SYNCED, "sync_sources_checkpoints"),
        path=BY_SOURCE,
        body={"checkpoint": CHECKPOINT_ID},
        answer={
            **DETAIL,
            "id": "a9d36c58-0e71-4f2b-8b94-d6e1f7c3025a",
            "kind": "rollback",
            "state": "complete",
            "counts": {**RUN["counts"], "deleted": 2},
            "from_commit": NEW,
            "to_commit": "",
            "code": "",
            "detail": "",
            "failed_items": [],
            "checkpoint": "40b8e2f6-9c15-4d7a-a3e8-7f21d05c6b94",
        },
    ),
    "sync_runs_list": Example("List syncs", after=CREATED, query=OF_SOURCE, answer=page(ENDED)),
    "sync_runs_retrieve": Example("Show a sync", after=SYNCED, path=BY_RUN, answer=DETAIL),
    "sync_runs_changes": Example(
        "List what a sync changed",
        after=SYNCED,
        path=BY_RUN,
        query=WHOLE,
        answer=page(
            *(
                {
                    "item_id": one["item_id"],
                    "action": "create",
                    "pointer": one["pointer"],
                    "before": None,
                    "after": {**{name: one[name] for name in CHANGED}, "content": content},
                }
                for one, content in ((SUPERSEDED, CONTENTS[0]), (ITEM, CONTENTS[1]))
            )
        ),
    ),
    "sync_items_list": Example("List items", after=SYNCED, query=OF_SOURCE, answer=page(ITEM, SUPERSEDED)),
    "sync_items_retrieve": Example(
        "Read an item",
        after=LISTED,
        path=BY_ITEM,
        answer={
            **ITEM,
            "content": {
                "commit": NEW,
                "path": ITEM["path"],
                "text": "---\nid: ADR-0017\ntitle: Events between services\n---\n\nEach service keeps a copy.\n",
            },
        },
    ),
    "sync_items_diff": Example(
        "Compare an item at two commits",
        after=LOGGED,
        path=BY_ITEM,
        query={"from": OLD, "to": NEW},
        answer={
            "old": OLD,
            "new": NEW,
            "path": ITEM["path"],
            "diff": " title: Events between services\n-status: proposed\n+status: accepted\n",
        },
    ),
    "sync_items_history": Example(
        "Show the history of an item",
        after=LISTED,
        path=BY_ITEM,
        answer={
            "results": [
                {"commit": NEW, "at": "2026-05-04T07:58:00Z", "subject": "Accept events between services"},
                {"commit": OLD, "at": "2026-04-20T14:03:00Z", "subject": "Propose events between services"},
            ],
            "count": 2,
        },
    ),
    "sync_conflicts_list": Example(
        "List pointer conflicts", after=CREATED, query={"state": "open", **OF_SOURCE}, answer=page(CONFLICT)
    ),
    "sync_conflicts_retrieve": Example(
        "Show a pointer conflict", after=(*CREATED, "sync_conflicts_list"), path=BY_CONFLICT, answer=CONFLICT
    ),
    "sync_conflicts_resolve": Example(
        "Resolve a pointer conflict",
        after=(*CREATED, "sync_conflicts_list"),
        path=BY_CONFLICT,
        body={"resolution": "delete_memory"},
        answer={
            **CONFLICT,
            "resolution": "delete_memory",
            "state": "resolved",
            "resolved_at": "2026-05-05T09:01:44.318000Z",
            "resolved_by": "key:operator",
        },
    ),
}
