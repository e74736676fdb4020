"""Open conflicts of the memories that a search finds: receipts that wait for a person (DESIGN D17)."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from apps.core.db.prepared import read_prepared
from apps.core.domain.scope import Access
from apps.semantic.models import Memory, ReviewState
from apps.semantic.search.fetch import array_text

# Of memories that many others disagree with, the newest receipts say enough.
MAX_RECEIPTS = 1_000


class OpenConflict(NamedTuple):
    """An open receipt. memories: the primary key and the id of both. is_undecided: both memories are active."""

    id: UUID
    state: str
    memories: dict[int, UUID]
    is_undecided: bool

    def other(self, memory: int) -> UUID:
        """Return the id of the memory that this one is in conflict with. memory: its primary key."""
        return next(uuid for pk, uuid in self.memories.items() if pk != memory)


def read_open_conflicts(access: Access, ids: Sequence[int], include: Collection[str] = ()) -> list[OpenConflict]:
    """Read the open conflicts of memories inside the caller's bound, the undecided first, then the newest.

    Those with a memory that is deleted are left out. include: owners whose conflicts are read besides, if the caller
    was granted them.
    """
    visible, bound = Memory.objects.visible_sql(access, include)
    parameters = {"ids": array_text(ids), "state": ReviewState.OPEN.value, **bound}
    found = [
        OpenConflict(uuid, state, {candidate: candidate_uuid, existing: existing_uuid}, undecided)
        for uuid, state, undecided, candidate, candidate_uuid, existing, existing_uuid in read_prepared(
            open_conflicts_sql(visible), parameters
        )
    ]
    return sorted(found, key=lambda conflict: not conflict.is_undecided)


def conflicts_by_memory(conflicts: Iterable[OpenConflict]) -> dict[int, OpenConflict]:
    """Return the first conflict of each memory, by its primary key."""
    found: dict[int, OpenConflict] = {}
    for conflict in conflicts:
        for memory in conflict.memories:
            found.setdefault(memory, conflict)
    return found


@cache  # of sixteen conditions
def open_conflicts_sql(visible: str) -> str:
    """Return the statement that reads open receipts by memories, the newest first. visible: see `visible_sql`."""
    memories = f"(SELECT id, uuid, status FROM semantic_memory WHERE status <> 'deleted' AND {visible})"  # noqa: S608
    # By the index of each foreign key: with one condition for both, or a limit, the planner may read all that are open.
    receipts = " UNION ".join(
        f"SELECT id, uuid, state, candidate_id, existing_id FROM semantic_conflict "  # noqa: S608
        f"WHERE {side} = ANY(%(ids)s::bigint[]) AND state = %(state)s AND {visible}"
        for side in ("candidate_id", "existing_id")
    )
    return f"""
        SELECT receipt.uuid, receipt.state, candidate.status = 'active' AND existing.status = 'active',
               candidate.id, candidate.uuid, existing.id, existing.uuid
        FROM ({receipts}) AS receipt
        JOIN {memories} AS candidate ON candidate.id = receipt.candidate_id
        JOIN {memories} AS existing ON existing.id = receipt.existing_id
        ORDER BY receipt.id DESC LIMIT {MAX_RECEIPTS}
    """  # noqa: S608
