"""Names of acts: `<what>.<verb>`, made of the name of a route."""

import re
from enum import StrEnum

CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
METHOD_VERBS = {"GET": "open", "POST": "create", "PUT": "replace", "PATCH": "change", "DELETE": "delete"}
# Last words of the names of routes that say what is done there.
# fmt: off
VERBS = frozenset({
    "accept", "add", "apply", "aside", "batch", "change", "checkpoints", "compact", "create", "csv", "delete",
    "discard", "dismiss", "execute", "export", "files", "forget", "import", "load", "override", "password", "pause",
    "redeliver", "reinforce", "rehearse", "rerun", "resolve", "restore", "resume", "revert", "revoke", "rollback",
    "rotate", "run", "sessions", "sync", "undo",
})
# fmt: on
MAX_ACTION_CHARS = 100
_WORD = re.compile(r"[a-z][a-z0-9_]{0,49}")


class Outcome(StrEnum):
    """How an act ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


def outcome_of(status: int) -> Outcome:
    """Return how a request ended, by the status of its answer."""
    if status < 400:
        return Outcome.DONE
    return Outcome.REFUSED if status < 500 else Outcome.FAILED


def action_of_route(name: str, method: str) -> str:
    """Return the act of a route: `key-rotate` is `key.rotate`, and DELETE of `memory` is `memory.delete`."""
    bare = name.rpartition(":")[2].removeprefix("cockpit_").replace("-", "_")
    what, _, last = bare.rpartition("_")
    if what and last in VERBS and method in {"GET", "POST"}:
        return f"{what}.{last}"[:MAX_ACTION_CHARS]
    return f"{bare or 'unknown'}.{METHOD_VERBS.get(method, 'call')}"[:MAX_ACTION_CHARS]


def action_on_page(model: str, page: str, chosen: str = "") -> str:
    """Return the act of a page of the admin. model: in words. page: the end of its route. chosen: the action of a list.

    What was chosen comes from the request, so that anything but a name is not repeated.
    """
    verb = chosen if page == "changelist" else page
    what = model.lower().replace(" ", "_")
    return f"{what}.{verb if _WORD.fullmatch(verb) else 'list'}"[:MAX_ACTION_CHARS]
