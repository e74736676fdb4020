"""Who may see what of a person, computed for each part of it from the access of each key and account.

The access is the one with which their requests are answered, so the table says what is so, not what was meant.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from apps.accounts.selectors import Colleague, colleagues
from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Access, AccessStoppedError, Permission, Reach, Scope
from apps.core.selectors import usable_keys, with_foreign
from apps.episodic.domain.event import ScopeKey

VIEW_MEMORIES = "semantic.view_memory"
CHANGE_MEMORIES = frozenset({"semantic.change_memory", "semantic.delete_memory"})
VIEW_EVENTS = "episodic.view_timelineevent"
NEEDED = (VIEW_MEMORIES, *sorted(CHANGE_MEMORIES), VIEW_EVENTS)


@dataclass(frozen=True)
class Sees:
    """What someone may do with a part of what is kept of a person. days: events of the timeline."""

    memories: bool = False
    days: bool = False
    changes: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether they see nothing of it."""
        return not (self.memories or self.days)


@dataclass(frozen=True)
class Seer:
    """An application or an account, and what it may do with each part. uuid: of a key; None for an account."""

    name: str
    cells: tuple[Sees, ...]
    uuid: UUID | None = None
    is_stopped: bool = False

    @property
    def sees_any(self) -> bool:
        """Return whether it sees something."""
        return not all(cell.is_nothing for cell in self.cells)


def covers(reach: Reach, part: Scope) -> bool:
    """Return whether a read covers the rows of an exact scope."""
    key = ScopeKey.of(part)
    return key.user_id in reach.owners or (reach.scope is not None and key.is_in(reach.scope))


def key_sees(access: Access, part: Scope) -> Sees:
    """Return what a key may do with the rows of an exact scope."""
    try:
        reads, owns = covers(access.readable, part), covers(access.reach(Scope()), part)
    except AccessStoppedError:
        return Sees()
    return Sees(reads, reads, owns and access.allows(Permission.WRITE))


def colleague_sees(colleague: Colleague, part: Scope) -> Sees:
    """Return what an account may do with the rows of an exact scope on the pages of the admin."""
    is_inside = covers(colleague.access.reach(Scope()), part)
    return Sees(
        memories=is_inside and bool(colleague.permissions & {VIEW_MEMORIES, *CHANGE_MEMORIES}),
        days=is_inside and VIEW_EVENTS in colleague.permissions,
        changes=is_inside and bool(colleague.permissions & CHANGE_MEMORIES),
    )


def keys_seeing(user_id: str, parts: Collection[Scope]) -> list[Seer]:
    """Return the keys that see something of a user, or would if the user had not stopped them."""
    keys = usable_keys(utcnow(SYSTEM_CLOCK)).order_by("name", "pk")
    seers = [
        Seer(key.name, tuple(key_sees(key.access, part) for part in parts), key.uuid, user_id in key.stopped_by)
        for key in with_foreign(keys)
    ]
    return [seer for seer in seers if seer.sees_any or seer.is_stopped]


def colleagues_seeing(parts: Collection[Scope]) -> list[Seer]:
    """Return the accounts that see something of a user in the admin."""
    seers = [Seer(one.name, tuple(colleague_sees(one, part) for part in parts)) for one in colleagues(NEEDED)]
    return [seer for seer in seers if seer.sees_any]
