"""The memories that a search names, read by their primary keys."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from apps.core.db.prepared import PreparedSelect
from apps.core.domain.scope import Access
from apps.llm.selectors import EmbeddingSpace
from apps.semantic.models import Memory

# What only writing and indexing need; whoever asks a found memory for it reads it then.
_INTERNAL = frozenset({"lexemes", "question_share", "fullness", "lexemes_version", "version", "content_hash"})
_ACTIVE_SPACE = "EXISTS (SELECT FROM llm_embeddingspace WHERE id = %(space)s AND is_active)"
_UNCHANGED = f"""
({_ACTIVE_SPACE} AND NOT EXISTS (
    SELECT FROM unnest(%(users)s::text[], %(versions)s::bigint[]) AS seen (user_id, version)
    LEFT JOIN semantic_memoryshard AS shard ON shard.user_id = seen.user_id
    WHERE coalesce(shard.version, 0) <> seen.version))
"""
# Mostly it is one user: to make arrays of her takes as long as all the rest of asking.
_ONE_UNCHANGED = f"""
({_ACTIVE_SPACE}
 AND coalesce((SELECT version FROM semantic_memoryshard WHERE user_id = %(user)s), 0) = %(version)s)
"""  # noqa: S608


def fetch_active_memories(access: Access, ids: Sequence[int]) -> dict[int, Memory]:
    """Those of the memories that are active and inside the caller's bound, by id."""
    condition, bound = Memory.objects.visible_sql(access)
    rows = _select(condition, None).rows({"ids": _array(ids), **bound})
    return {memory.pk: memory for memory in rows}


def fetch_unchanged_memories(
    access: Access, ids: Sequence[int], versions: Mapping[str, int], space: EmbeddingSpace
) -> dict[int, Memory] | None:
    """The same, if the memories of these users stand at these versions and the space is the active one.

    None if they do not, or if none of the memories is there. Both are asked in one statement, so of one moment.
    """
    condition, bound = Memory.objects.visible_sql(access)
    asking, seen = _asking(versions)
    parameters = {"ids": _array(ids), "space": space.pk, **seen, **bound}
    unchanged, rows = _select(condition, asking).rows_with_extra(parameters)
    return {memory.pk: memory for memory in rows} if unchanged else None


def _asking(versions: Mapping[str, int]) -> tuple[str, dict[str, Any]]:
    if len(versions) == 1:
        [(user, version)] = versions.items()
        return _ONE_UNCHANGED, {"user": user, "version": version}
    return _UNCHANGED, {"users": list(versions), "versions": list(versions.values())}


def _array(ids: Sequence[int]) -> str:
    """PostgreSQL's own notation: psycopg looks at each item of a list to find out what it is a list of."""
    return f"{{{','.join(map(str, ids))}}}"


@cache  # of eight conditions
def _select(visible: str, asking: str | None) -> PreparedSelect[Memory]:
    where = f"id = ANY(%(ids)s::bigint[]) AND status = 'active' AND {visible}"
    return PreparedSelect(Memory, where, defer=_INTERNAL, extra=asking)
