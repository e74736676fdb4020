"""Classes of origin: whom a write comes from, as the key or the tool says and never the content (DESIGN D20)."""

from collections.abc import Iterable
from enum import StrEnum

MAX_ORIGIN_CHARS = 10
LOWER_ORIGIN = "lower_origin"
CONNECTED = "A key that a person connected is an app: it writes as app, document or derived."


class WriteOrigin(StrEnum):
    """Whom a write comes from, the most trusted first.

    person: said by a person. app: saved by an application. document: read in a document. derived: made by the hub from
    a conversation.
    """

    PERSON = "person"
    APP = "app"
    DOCUMENT = "document"
    DERIVED = "derived"

    def is_below(self, other: "WriteOrigin") -> bool:
        """Return whether it is of a lower class than another one."""
        return ORIGIN_ORDER.index(self) > ORIGIN_ORDER.index(other)


ORIGIN_ORDER = tuple(WriteOrigin)


def lowest_origin(origins: Iterable[WriteOrigin]) -> WriteOrigin:
    """Return the class of what is made of several, at least one: the lowest of theirs."""
    return max(origins, key=ORIGIN_ORDER.index)
