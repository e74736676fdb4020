"""What matters most of what is known, whatever is asked: memories by importance, with their open conflicts."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import NamedTuple

from apps.core.db.prepared import PreparedSelect
from apps.core.db.scoped import reach_sql
from apps.core.domain.filters.expression import EVERYTHING, Expression
from apps.core.domain.scope import Access, Scope
from apps.semantic.models import Memory
from apps.semantic.models.filters import passes
from apps.semantic.search.fetch import INTERNAL, OpenConflict, first_conflicts, read_open_conflicts

# So many are read where a filter leaves some out.
_READ = 200
_BEST = """
status = 'active' AND managed_by = '' AND importance > %(above)s AND (expires_at IS NULL OR expires_at > %(now)s)
AND {visible} ORDER BY importance DESC, id DESC LIMIT %(limit)s
"""


class StandingMemory(NamedTuple):
    """A memory, its confidence at the moment asked for, and an open conflict that concerns it."""

    memory: Memory
    confidence: float
    conflict: OpenConflict | None


def memories_standing(
    access: Access,
    scope: Scope,
    limit: int,
    *,
    now: datetime,
    include: Collection[str] = (),
    where: Expression = EVERYTHING,
    above: float = -1.0,
) -> list[StandingMemory]:
    """Return the caller's memories that matter most at a moment, by importance and confidence.

    Those of the highest importance are read, the newest first among equals, and put into order by importance times
    confidence. above: only those of a higher importance. What is managed, such as knowledge, is left out.
    """
    reach = access.reach(scope, include)
    if reach.is_empty:
        return []
    visible, bound = reach_sql(reach)
    read = limit if where is EVERYTHING else _READ
    rows = select_best(visible).rows({"above": above, "now": now, "limit": read, **bound})
    rows = [row for row in rows if where is EVERYTHING or passes(row, where, now)][:limit]
    disputed = first_conflicts(read_open_conflicts(access, [row.pk for row in rows], include) if rows else ())
    found = [StandingMemory(row, row.confidence_at(now), disputed.get(row.pk)) for row in rows]
    return sorted(found, key=lambda one: (-one.memory.importance * one.confidence, -one.memory.pk))


@cache  # of sixteen conditions
def select_best(visible: str) -> PreparedSelect[Memory]:
    """Return the prepared statement that reads the memories of the highest importance, in their order."""
    return PreparedSelect(Memory, _BEST.format(visible=visible), defer=INTERNAL)
