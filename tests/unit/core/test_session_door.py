"""What needs a session of the database is in the modules that ask the door for its connection, and nowhere else."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
# Locks that end with a transaction are those of `pg_..._xact_lock`. Words of sentences are not statements.
NEEDS_SESSION = re.compile(
    r"pg_(?:try_)?advisory_(?:un)?lock(?:_shared)?\b|\bLISTEN \{|\"LISTEN |\bDECLARE .* CURSOR\b"
)
ASKS = "apps.core.db.sessions import"
DOOR = "apps/core/db/sessions.py"


def sources() -> dict[str, str]:
    found = [path for top in ("apps", "memoryhub") for path in (PROJECT / top).rglob("*.py")]
    return {str(path.relative_to(PROJECT)): path.read_text() for path in found if "migrations" not in path.parts}


def test_sessions_are_those_of_the_door() -> None:
    users = {name for name, text in sources().items() if NEEDS_SESSION.search(text)} - {DOOR}
    assert users == {"apps/core/db/session_locks.py", "apps/live/listener.py", "memoryhub/process/prepare.py"}
    assert {name for name in users if ASKS not in sources()[name]} == set()


def test_first_keys_of_session_locks_differ() -> None:
    """Two jobs that shared a number would keep each other from working."""
    numbers = re.compile(r"^_?[A-Z_]*LOCKS?(?:, [A-Z_]+)? = (0x[0-9A-Fa-f_]+|\d[\d_]*)", re.MULTILINE)
    found = [int(value, 0) for text in sources().values() for value in numbers.findall(text)]
    assert len(found) > 15
    assert sorted(found) == sorted(set(found))
