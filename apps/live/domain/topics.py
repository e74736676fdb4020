"""What browsers hear about: topics, and never contents."""

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
