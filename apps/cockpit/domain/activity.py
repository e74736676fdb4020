"""What happened, as one stream: entries of several sources, merged by time and grouped."""

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate

# Entries of the same actor, kind and person are one group while each follows the next within this time.
GROUP_SPAN = timedelta(minutes=10)
# So many of a group are named.
NAMED = 3
# The actor of what no caller asked for.
THE_HUB = "The hub"
ACTOR_KINDS = {"key": "key", "admin": "person", "person": "person", "command": "command", "user": "person"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing that happened. source, position: where its row is; positions rise with time within a source.

    verb: names the phrase. subject: id of the object. words: what the row itself says, without contents. tone: good,
    warn, bad, info or empty.
    """

    at: datetime
    source: str
    position: int
    kind: str
    verb: str
    actor: str = ""
    person: str = ""
    subject: str = ""
    words: str = ""
    tone: str = ""
    amount: int = 1


@dataclass
class Group:
    """Entries that are shown as one row, the latest first."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def first(self) -> Entry:
        """Return the latest entry, which represents all."""
        return self.entries[0]

    @property
    def count(self) -> int:
        """Return how many things happened."""
        return sum(one.amount for one in self.entries)

    @property
    def began(self) -> datetime:
        """Return when the earliest of them happened."""
        return self.entries[-1].at

    @property
    def named(self) -> list[Entry]:
        """Return those that are named."""
        return [one for one in self.entries if one.subject][:NAMED]

    def takes(self, entry: Entry) -> bool:
        """Return whether an entry that happened before belongs to the group."""
        first = self.first
        same = (first.kind, first.verb, first.actor, first.person, first.tone, first.words)
        is_same = same == (entry.kind, entry.verb, entry.actor, entry.person, entry.tone, entry.words)
        return is_same and self.began - entry.at <= GROUP_SPAN


def merge(sources: Iterable[Sequence[Entry]]) -> list[Entry]:
    """Return the entries of all sources, the latest first. Each source stays in the order of its positions."""
    streams = (zip(accumulate((entry.at for entry in entries), min), entries, strict=True) for entries in sources)
    return [entry for _, entry in heapq.merge(*streams, key=lambda pair: pair[0], reverse=True)]


def group(entries: Iterable[Entry], most: int) -> tuple[list[Group], list[Entry]]:
    """Return at most `most` groups, the latest first, and the entries that they consist of.

    An entry joins a group that is open for its actor, kind and person, also where others happened between.
    """
    groups: list[Group] = []
    taken: list[Entry] = []
    opened: dict[tuple[str, ...], Group] = {}
    for entry in entries:
        key = (entry.kind, entry.verb, entry.actor, entry.person, entry.words)
        found = opened.get(key)
        if found is None or not found.takes(entry):
            if len(groups) == most:
                break
            found = opened[key] = Group()
            groups.append(found)
        found.entries.append(entry)
        taken.append(entry)
    return groups, taken


@dataclass(frozen=True)
class Places:
    """How far each source was read: the position of the last row taken. Those that are missing begin at their end."""

    by_source: Mapping[str, int]

    def __str__(self) -> str:
        return "_".join(f"{source}.{position}" for source, position in sorted(self.by_source.items()))

    @classmethod
    def parse(cls, text: str) -> "Places":
        """Return the places that a request names; what is none is left out."""
        found = re.findall(r"([a-z]{1,20})\.(\d{1,18})(?:_|$)", text[:500])
        return cls({source: int(position) for source, position in found})

    def before(self, source: str) -> int | None:
        """Return the position before which a source continues; None for its newest row."""
        return self.by_source.get(source)

    def moved(self, entries: Iterable[Entry]) -> "Places":
        """Return the places after these entries were taken."""
        places = dict(self.by_source)
        for entry in entries:
            places[entry.source] = min(places.get(entry.source, entry.position), entry.position)
        return Places(places)


def describe_actor(actor: str) -> tuple[str, str]:
    """Return the name of an actor as people know it, and what it is: key, person, command or hub."""
    prefix, colon, name = actor.partition(":")
    kind = ACTOR_KINDS.get(prefix) if colon else None
    if kind and name.strip():
        return name.strip(), kind
    return (THE_HUB, "hub") if actor in ("", "system", "hub") or not colon else (actor, "hub")
