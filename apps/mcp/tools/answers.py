"""How the tools of MCP answer in sentences."""

from collections.abc import Mapping
from typing import Any

from apps.mcp.domain.answers import Json

# What a save did, for a model. Those of UNCHANGED have changed nothing.
SAVED = {
    "inserted": "Saved as {id}.",
    "updated": "Saved: memory {id} says so now.",
    "merged": "Saved: it was merged into memory {id}.",
    "superseded_existing": "Saved as {id}. It replaces an older memory that it contradicts.",
    "skipped": "Nothing changed: memory {id} says this already.",
    "kept_existing": "Nothing changed: memory {id} contradicts this, and the rules of the hub keep it. To replace it, "
    "use update with action correct.",
    "rejected": "Nothing changed: the rules of the hub refuse this, because of memory {id}.",
}
UNCHANGED = {"skipped", "kept_existing", "rejected"}


def answer(said: str, **data: Any) -> Json:
    """Return what a handler answers: a text for the model, and the same as data."""
    return {"said": said, "data": data}


def indent(text: str) -> str:
    """Return a text as part of a list: its further lines stand below the first one."""
    return text.replace("\r\n", "\n").replace("\n", "\n  ")


def say_save(saved: Mapping[str, Any], texts: Mapping[str, str]) -> Json:
    """Return the answer to a save or a correction. texts: instead of the usual ones."""
    memory, action = saved["memory"], saved["action"]
    text = {**SAVED, **texts}[action].format(id=memory["id"])
    if saved["conflict"]:
        text += " A receipt of the decision is kept; a person can review it."
    return answer(
        text,
        changed=action not in UNCHANGED,
        action=action,
        reason=saved["reason"],
        id=memory["id"],
        content=memory["content"][:500],
        conflict=saved["conflict"],
    )
