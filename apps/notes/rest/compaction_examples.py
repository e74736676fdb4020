"""Examples of the operations of compactions."""

from apps.core.schemas.examples import Example

ANA = {"user_id": "ana"}
COMPACTION_ID = "3f2f0a54-7d0e-4f0c-9a38-5a4f9f0e6c21"
BY_ID = {"uuid": COMPACTION_ID}
BEFORE = ("notes_main_append", "notes_compact")
ASKED = {
    "id": COMPACTION_ID,
    **ANA,
    "state": "asked",
    "automatic": False,
    "code": "",
    "detail": "",
    "facts_before": 0,
    "facts_after": 0,
    "counts": {"kept": 0, "shortened": 0, "merged": 0, "dropped": 0},
    "model": None,
    "created_at": "2026-03-02T19:45:00.120000+00:00",
    "drafted_at": None,
    "decided_at": None,
    "decided_by": "",
}
DRAFTED = {
    **ASKED,
    "state": "drafted",
    "facts_before": 3,
    "facts_after": 2,
    "counts": {"kept": 1, "shortened": 0, "merged": 2, "dropped": 0},
    "model": {
        "asked": "gpt-4o-mini",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "code": "",
        "cost_usd": "0.000210000",
        "attempts": 1,
    },
    "drafted_at": "2026-03-02T19:45:04.530000+00:00",
}
DECIDED = {**DRAFTED, "decided_at": "2026-03-02T19:46:00+00:00", "decided_by": "key:operator"}
KEPT = {"number": 3, "text": "Ana rows on Sundays.", "action": "kept", "into": "", "reason": "", "code": ""}
MERGED = {**KEPT, "number": 1, "text": "Ana likes green tea.", "action": "merged", "into": "Ana likes green tea a lot."}
DETAIL = {
    **DRAFTED,
    "text": "## Preferences\n\n- Ana likes green tea a lot.\n- Ana rows on Sundays.\n",
    "diff": "--- MEMORY.md\n+++ draft\n ## Preferences\n \n-- Ana likes green tea.\n - Ana likes green tea a lot.\n",
    "is_current": True,
    "facts": [MERGED, KEPT],
}

EXAMPLES = {
    "notes_compact": Example("Ask for a shorter MEMORY.md", body=ANA, status=202, answer=ASKED),
    "notes_compactions_list": Example(
        "List the compactions of MEMORY.md",
        after=BEFORE,
        query={**ANA, "limit": 20},
        answer={"next": None, "previous": None, "results": [DRAFTED]},
    ),
    "notes_compactions_retrieve": Example("Show what a compaction changes", after=BEFORE, path=BY_ID, answer=DETAIL),
    "notes_compactions_apply": Example(
        "Apply a draft to MEMORY.md", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "applied"}
    ),
    "notes_compactions_discard": Example(
        "Discard a draft", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "discarded"}
    ),
    "notes_compactions_undo": Example(
        "Undo a draft that was applied", after=BEFORE, path=BY_ID, answer={**DECIDED, "state": "undone"}
    ),
}
