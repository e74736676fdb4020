"""The reranker in a search: once, for its first hits, and the order as it was where it does not answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from apps.core.domain.clock import to_datetime
from apps.core.domain.scope import Access
from apps.llm.services import Reranked, rerank, reranked_count
from apps.retrieval.domain.query import Hit, SearchMode, SearchQuery
from apps.retrieval.domain.reorder import reorder


@dataclass
class SearchReranking:
    """Asks the reranker at the first hits that it is given, and puts these in its order whenever they come again.

    answer: what the reranker said; None as long as it was not asked. count: of hits that it is asked about.
    """

    access: Access
    query: SearchQuery
    count: int
    answer: Reranked | None = None
    _scores: Mapping[int, float] | None = None

    @property
    def has_failed(self) -> bool:
        """Return whether it was asked and gave no order."""
        return self.answer is not None and self.answer.scores is None

    def apply(self, hits: Sequence[Hit], contents: Mapping[int, str]) -> Sequence[Hit]:
        """Return the hits in the order of the reranker, or as they are. contents: by the ids of rows."""
        if self._scores is None:
            self._scores = self.ask(hits[: self.count], contents)
        return reorder(hits, self._scores) if self._scores else hits

    def ask(self, hits: Sequence[Hit], contents: Mapping[int, str]) -> Mapping[int, float]:
        """Return the score of each hit, by its id; nothing where there is no order to improve or none is given."""
        if len(hits) < 2 or self.query.query is None:
            return {}
        texts = [self.text_of(hit, contents[hit.id]) for hit in hits]
        user = self.query.scope.user_id or ""
        self.answer = rerank(actor=self.access.actor, question=self.query.query, texts=texts, user_id=user)
        if self.answer is None or self.answer.scores is None:
            return {}
        return {hit.id: score for hit, score in zip(hits, self.answer.scores, strict=True)}

    def text_of(self, hit: Hit, content: str) -> str:
        """Return what the reranker reads of a memory: after the day where the question names a time."""
        if not self.query.times:
            return content
        day = to_datetime(round(hit.happened * 1_000)).astimezone(self.query.zone or UTC)
        return f"{day:%Y-%m-%d}: {content}"


def search_reranking(access: Access, query: SearchQuery) -> SearchReranking | None:
    """Return the reranking of a search; None without a reranker, or where the order is that of one thing alone."""
    count = reranked_count()
    if not count or query.query is None or query.effective_mode is not SearchMode.HYBRID:
        return None
    return SearchReranking(access, query, count)
