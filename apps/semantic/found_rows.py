"""The memories that a search names, read by their primary keys."""

from collections.abc import Mapping, Sequence
from functools import cache

from apps.core.domain.scope import Access
from apps.core.prepared import PreparedSelect
from apps.llm.models import EmbeddingSpace
from apps.semantic.models import Memory

# What only writing and indexing need; whoever asks a found memory for it reads it then.
_INTERNAL = frozenset({"lexemes", "question_share", "fullness", "lexemes_version", "version", "content_hash"})
_UNCHANGED = """
(SELECT bool_and(space.id IS NOT NULL AND coalesce(shard.version, 0) = seen.version)
 FROM unnest(%(users)s::text[], %(versions)s::bigint[]) AS seen (user_id, version)
 LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = seen.user_id
 LEFT JOIN llm_embeddingspace AS space ON space.id = %(space)s AND space.is_active)
"""


def active_memories(access: Access, ids: Sequence[int]) -> dict[int, Memory]:
    """Those of the memories that are active and inside the caller's bound, by id."""
    condition, bound = Memory.objects.visible_sql(access)
    rows = _select(condition, None).rows({"ids": list(ids), **bound})
    return {memory.pk: memory for memory in rows}


def unchanged_memories(
    access: Access, ids: Sequence[int], versions: Mapping[str, int], space: EmbeddingSpace
) -> dict[int, Memory] | None:
    """The same, if the memories of these users stand at these versions and the space is the active one.

    None if they do not, or if none of the memories is there. Both are asked in one statement, so of one moment.
    """
    condition, bound = Memory.objects.visible_sql(access)
    seen = {"users": list(versions), "versions": list(versions.values()), "space": space.pk}
    unchanged, rows = _select(condition, _UNCHANGED).answer({"ids": list(ids), **seen, **bound})
    return {memory.pk: memory for memory in rows} if unchanged else None


@cache  # of eight conditions
def _select(visible: str, asking: str | None) -> PreparedSelect[Memory]:
    where = f"id = ANY(%(ids)s) AND status = 'active' AND {visible}"
    return PreparedSelect(Memory, where, without=_INTERNAL, asking=asking)
