"""At most one message of a topic in a second, the first one at once, and the last one never lost."""

COALESCE_SECONDS = 1.0
# So many topics are remembered before those that no longer count are dropped.
MANY = 1_000


class Coalescer:
    """Topics that were noted and are due. All times are of one clock, in seconds."""

    def __init__(self, seconds: float = COALESCE_SECONDS) -> None:
        self._seconds = seconds
        self._taken: dict[str, float] = {}
        self._due: dict[str, float] = {}

    def note(self, topic: str, now: float) -> None:
        """Note that a topic has changed: it is due now, or when its last message is a second old."""
        if topic not in self._due:
            last = self._taken.get(topic)
            self._due[topic] = now if last is None else max(now, last + self._seconds)

    def take(self, now: float) -> list[str]:
        """Return the topics that are due, in the order in which they were noted. They count as sent."""
        due = [topic for topic, at in self._due.items() if at <= now]
        for topic in due:
            del self._due[topic]
            self._taken[topic] = now
        if len(self._taken) > MANY:  # topics of people, who may be any number
            self._taken = {topic: at for topic, at in self._taken.items() if at + self._seconds > now}
        return due

    def wait(self, now: float) -> float | None:
        """Return in how many seconds a topic is due; None when nothing waits."""
        return max(0.0, min(self._due.values()) - now) if self._due else None
