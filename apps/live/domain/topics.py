"""What browsers hear about: topics, and never contents."""

from hashlib import sha256

TOPICS = (
    "memories",
    "conflicts",
    "timeline",
    "rules",
    "notes",
    "knowledge",
    "jobs",
    "deliveries",
    "models",
    "keys",
    "people",
    "accounts",
    "audit",
    "health",
    "samples",
)
# For accounts with a bound: when something changes says what others do, so they are sent a beat instead.
TICK = "tick"
# For the others: the socket is not dead. No page is refreshed by it.
ALIVE = "alive"
ACCOUNTS, HEALTH = "accounts", "health"
KNOWN = frozenset(TOPICS)

# What a person hears of on their own pages: each of these says that something of theirs has changed, and no one else's.
OWN_TOPICS = ("memories", "conflicts", "timeline", "notes", "keys", "people")
# Goes with each of them, and is what a service says that has no table of its own (`services.person_changed`).
MINE = "mine"
OWN_KNOWN = frozenset({*OWN_TOPICS, MINE})
# Stands for all people, each of whom hears of their own: after a lost connection anything may have changed.
EVERY_PERSON = "*"
DIGEST_CHARS = 32


def person_digest(user_id: str) -> str:
    """Return the mark of a user between processes: no notification names one. a trigger makes the same."""
    return sha256(user_id.encode()).hexdigest()[:DIGEST_CHARS]


def own_note(digest: str, topic: str) -> str:
    """Return what is notified about a person's topic."""
    return f"{digest} {topic}"


def read_own_note(note: str) -> tuple[str, str] | None:
    """Return the digest and the topic of a notification; None for any other text."""
    digest, _, topic = note.partition(" ")
    is_digest = len(digest) == DIGEST_CHARS and digest.isalnum()
    return (digest, topic) if topic in OWN_KNOWN and (is_digest or digest == EVERY_PERSON) else None
