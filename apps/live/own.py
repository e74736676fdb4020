"""What changed of each person: for the sockets that are open, and for pages that open one a moment later."""

from collections.abc import Iterable, Mapping

from apps.live.domain.topics import EVERY_PERSON, MINE, read_own_note

# For so long a change is remembered for pages that were made before it and open their socket after it.
REMEMBERED_MS = 300_000
MANY = 10_000


class OwnTopics:
    """The topics of people with their versions, in milliseconds, the latest changes of a few minutes."""

    def __init__(self) -> None:
        self._versions: dict[str, dict[str, int]] = {}
        self._changed: dict[str, int] = {}

    def hear(self, notes: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Remember what was notified (`own_note`). Return its topics by person; each comes with `mine`."""
        heard: dict[str, dict[str, int]] = {}
        for note, version in notes.items():
            if (read := read_own_note(note)) is not None:
                digest, topic = read
                heard.setdefault(digest, {}).update({topic: version, MINE: version})
        for digest, topics in heard.items():
            self._versions.setdefault(digest, {}).update(topics)
            self._changed[digest] = max(topics.values())
        self._drop(heard)
        return heard

    def since(self, digest: str, moment: int) -> dict[str, int]:
        """Return what changed of a person after a moment; nothing for no person."""
        known = {**self._versions.get(EVERY_PERSON, {}), **self._versions.get(digest, {})}
        return {topic: version for topic, version in known.items() if version > moment} if digest else {}

    def _drop(self, heard: Iterable[str]) -> None:
        """Drop people of whom nothing changed for long, where there are many."""
        newest = max((self._changed[digest] for digest in heard), default=0)
        if len(self._changed) > MANY:
            for digest in [one for one, at in self._changed.items() if at + REMEMBERED_MS < newest]:
                del self._changed[digest], self._versions[digest]
