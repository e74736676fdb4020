"""Names of the hub's hidden files beside a note, by which a later process knows what a killed one left.

`.new` is being written, and may be cut off: it is never a note. `.part` is whole and about to be exchanged with the
note, or was exchanged, and then it is what was there before. `.displaced` is what an exchange took away.
"""

import re
import secrets
from dataclasses import dataclass

from apps.notes.domain.text import digest

_HIDDEN = re.compile(
    r"\.(?P<note>.+?)(?:\.(?P<expected>[0-9a-f]{64}))?(?:\.(?P<mark>[0-9a-f]{16}))?\.[0-9a-f]{8}"
    r"\.(?P<state>new|part|displaced)"
)
_MASK = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True)
class HiddenFile:
    """What the name of a hidden file says.

    expected: the digest of what is in it unless an editor wrote it. mark: of a part the beginning of the digest of what
    the hub wrote; of what was displaced, when it was last written to, where it was the expected text then.
    """

    note: str
    expected: str
    mark: str
    state: str

    def is_untouched(self, written: int) -> bool:
        """Return whether a displaced file still has the expected text, if it was last written to at a time."""
        return self.state == "displaced" and self.mark == mark_of(written)

    def is_ours(self, text: bytes) -> bool:
        """Return whether a text is what the hub was about to exchange."""
        return self.state == "part" and digest(text).startswith(self.mark)


def parse_hidden(name: str) -> HiddenFile | None:
    """Return what a name says; None for one that is not the hub's."""
    parts = _HIDDEN.fullmatch(name)
    if parts is None or (parts["state"] != "new") != bool(parts["expected"]):
        return None
    return HiddenFile(parts["note"], parts["expected"] or "", parts["mark"] or "", parts["state"])


def mark_of(written: int) -> str:
    """Return a time in nanoseconds as a part of a name."""
    return f"{written & _MASK:016x}"


def new_name(note: str) -> str:
    """Return the name of a file that is being written."""
    return f".{note}.{secrets.token_hex(4)}.new"


def part_name(note: str, expected: str, text: bytes) -> str:
    """Return the name of a file with a text that is to be exchanged for one of a digest."""
    return f".{note}.{expected}.{digest(text)[:16]}.{secrets.token_hex(4)}.part"


def displaced_name(note: str, expected: str, written: int | None = None) -> str:
    """Return the name of what an exchange took away, which was expected to have a digest.

    written: when it was last written to, in nanoseconds, where it had that digest then.
    """
    mark = "" if written is None else f".{mark_of(written)}"
    return f".{note}.{expected}{mark}.{secrets.token_hex(4)}.displaced"
