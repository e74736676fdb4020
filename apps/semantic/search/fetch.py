"""Read the memories that a search found, by their primary keys, and their open conflicts.

Those are receipts that wait for a person (DESIGN D17).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from apps.core.db.prepared import PreparedSelect, read_prepared
from apps.core.domain.scope import Access
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.models import Memory, ReviewState

# Only writing and indexing need them; where they are read from a found memory after all, Django fetches them.
INTERNAL = frozenset({"lexemes", "question_share", "fullness", "lexemes_version", "content_hash"})
_ACTIVE_SPACE = "EXISTS (SELECT FROM llm_embeddingspace WHERE id = %(space)s AND is_active)"
_UNCHANGED = f"""
({_ACTIVE_SPACE} AND NOT EXISTS (
    SELECT FROM unnest(%(users)s::text[], %(versions)s::bigint[]) AS seen (user_id, version)
    LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = seen.user_id
    WHERE coalesce(shard.version, 0) <> seen.version))
"""
# Mostly there is one user, for whom to make arrays takes as long as all the rest of the query.
_ONE_UNCHANGED = f"""
({_ACTIVE_SPACE}
 AND coalesce((SELECT version FROM semantic_memoryshard WHERE user_id = %(user)s), 0) = %(version)s)
"""  # noqa: S608
# Of memories that many others disagree with, the newest receipts say enough.
MAX_RECEIPTS = 1_000


def fetch_active_memories(access: Access, ids: Sequence[int], include: Collection[str] = ()) -> dict[int, Memory]:
    """Return those of the memories that are active and inside the caller's bound, by id.

    include: owners whose memories are returned besides, if the caller was granted them.
    """
    visible, bound = Memory.objects.visible_sql(access, include)
    rows = select_memories(visible, None).rows({"ids": array_text(ids), **bound})
    return {memory.pk: memory for memory in rows}


def fetch_unchanged_memories(
    access: Access,
    ids: Sequence[int],
    versions: Mapping[str, int],
    space: EmbeddingSpace,
    include: Collection[str] = (),
) -> dict[int, Memory] | None:
    """Return the same if the memories of these users are still at these versions and the space is the active one.

    None if they are not, or if none of the memories exists. One statement reads both, so in one snapshot.
    """
    visible, bound = Memory.objects.visible_sql(access, include)
    seen: dict[str, Any] = {"users": list(versions), "versions": list(versions.values())}
    unchanged = _UNCHANGED
    if len(versions) == 1:
        [(user, version)] = versions.items()
        seen, unchanged = {"user": user, "version": version}, _ONE_UNCHANGED
    select = select_memories(visible, unchanged)
    is_unchanged, rows = select.rows_with_extra({"ids": array_text(ids), "space": space.pk, **seen, **bound})
    return {memory.pk: memory for memory in rows} if is_unchanged else None


def array_text(ids: Sequence[int]) -> str:
    """Return ids in PostgreSQL's own notation: psycopg would inspect each item of a list to find its type."""
    return f"{{{','.join(map(str, ids))}}}"


@cache  # of sixteen conditions
def select_memories(visible: str, extra: str | None) -> PreparedSelect[Memory]:
    """Return the prepared statement that reads active memories by their ids."""
    where = f"id = ANY(%(ids)s::bigint[]) AND status = 'active' AND {visible}"
    return PreparedSelect(Memory, where, defer=INTERNAL, extra=extra)


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


def first_conflicts(conflicts: Iterable[OpenConflict]) -> dict[int, OpenConflict]:
    """Return the first conflict of each memory, by the memories' ids."""
    found: dict[int, OpenConflict] = {}
    for conflict in conflicts:
        for pk in conflict.memories:
            found.setdefault(pk, conflict)
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
