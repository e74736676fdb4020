"""The order of what a search found: of two memories on one matter the newer one first (docs/explain/retrieval.md)."""

from collections.abc import Collection, Mapping, Sequence

from apps.retrieval.domain.matters import is_statement, put_newer_first
from apps.retrieval.domain.query import Hit, Kinship, Pair, Ranking
from apps.rules.domain.statements.read import statements_of
from apps.rules.domain.statements.statement import Mood

# A text of these only says nothing that could hold instead of something else.
_UNASSERTED = frozenset((Mood.QUESTION, Mood.WISH, Mood.PLAN, Mood.CONDITION, Mood.REPORT))


def order_hits(
    ranking: Ranking, contents: Mapping[int, str], in_conflict: Sequence[Collection[int]]
) -> tuple[Hit, ...]:
    """Return those hits of a ranking that have a content, the current first.

    contents: of memories, by their primary keys. in_conflict: the keys of each two that disagree.
    """
    hits = [hit for hit in ranking.hits if hit.id in contents]
    pairs = [*ranking.pairs, *pairs_in_conflict([hit for hit in hits if hit.id in ranking.notes], in_conflict)]
    return put_newer_first(hits, [pair for pair in pairs if pair.newer in contents and asserts(contents[pair.newer])])


def pairs_in_conflict(hits: Sequence[Hit], in_conflict: Sequence[Collection[int]]) -> list[Pair]:
    """Return which of the hits disagree with each other, so that nothing was decided about them."""
    moments = {hit.id: (hit.happened, hit.id) for hit in hits}
    known = (sorted(one, key=moments.__getitem__) for one in in_conflict if all(key in moments for key in one))
    return [Pair(newer, older, Kinship.CONFLICT) for older, newer in known]


def asserts(content: str) -> bool:
    """Return whether a text says what holds, and not only what is asked, wished, planned, supposed or reported."""
    statements = statements_of(content)
    return is_statement(content) and (not statements or any(one.mood not in _UNASSERTED for one in statements))
