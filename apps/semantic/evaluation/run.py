"""Ask questions with the search of the API, and note the ranks of the evidence.

Questions of operators are lines of a file that `manage.py evaluate` reads (docs/reference/file-formats.md).
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.core.domain.errors import InvalidInputError
from apps.core.domain.scope import Access, Scope
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.evaluation import CUTOFFS, EvaluatedAnswer, by_category, evidence_ranks, percentile, quality
from apps.semantic.domain.locomo import Question
from apps.semantic.models import Memory
from apps.semantic.search.search import memory_search

KEY_FIELD = "dia_id"
MAX_EVIDENCE = 100
CATEGORY = "asked in the admin"


@dataclass(frozen=True)
class SearchEvaluation:
    """The answers to all questions that could be asked.

    unresolved: evidence without a stored memory. unasked: questions without any stored evidence.
    """

    answers: Sequence[EvaluatedAnswer]
    unresolved: int
    unasked: int

    def as_json(self) -> dict[str, Any]:
        """Return all figures; latencies in milliseconds."""
        seconds = [answer.seconds for answer in self.answers]
        return {
            "overall": quality(self.answers).as_json(),
            "by_category": {name: figures.as_json() for name, figures in by_category(self.answers).items()},
            "latency_ms": {
                "p50": round(percentile(seconds, 0.5) * 1000, 2),
                "p95": round(percentile(seconds, 0.95) * 1000, 2),
            },
            "evidence_without_memory": self.unresolved,
            "questions_without_evidence": self.unasked,
        }


def evaluate(
    access: Access,
    questions: Sequence[Question],
    *,
    mode: SearchMode | None = None,
    progress: Callable[[], None] | None = None,
) -> SearchEvaluation:
    """Ask each question in its user's scope and note the ranks of its evidence.

    The key of a memory is the `dia_id` in its metadata, else its id.
    """
    keys: dict[str, tuple[dict[int, str], frozenset[str]]] = {}
    for user in sorted({question.user_id for question in questions}):
        rows = Memory.objects.visible_to(access, Scope(user_id=user)).active().values_list("id", "uuid", "metadata")
        of_memory = {pk: evidence_key(uuid, metadata) for pk, uuid, metadata in rows}
        keys[user] = of_memory, frozenset(of_memory.values())
    answers: list[EvaluatedAnswer] = []
    unresolved = unasked = 0
    for question in questions:
        of_memory, stored = keys[question.user_id]
        known = question.evidence & stored
        unresolved += len(question.evidence) - len(known)
        if known:
            scope = Scope(user_id=question.user_id)
            query = SearchQuery(
                scope=scope,
                query=question.text,
                mode=mode,
                top_k=max(CUTOFFS),
                history=False,
                asked_at=question.asked_at,
            )
            started = time.perf_counter()
            result = memory_search(access, query)
            seconds = time.perf_counter() - started
            returned = [of_memory[found.memory.pk] for found in result.found]
            answers.append(EvaluatedAnswer(question.category, evidence_ranks(known, returned), seconds))
        else:
            unasked += 1
        if progress is not None:
            progress()
    return SearchEvaluation(answers, unresolved, unasked)


def evidence_key(uuid: UUID, metadata: Mapping[str, Any]) -> str:
    """Return by what a question names a memory."""
    return str(metadata.get(KEY_FIELD) or uuid)


def question_line(access: Access, question: str, evidence: Collection[UUID], asked_at: datetime) -> str:
    """Return a question as one line of JSON, with the memories of the caller's that answer it.

    Raises InvalidInputError unless these are active memories of one user.
    """
    chosen = Memory.objects.visible_to(access).active().filter(uuid__in=list(evidence)[:MAX_EVIDENCE]).order_by("pk")
    rows = list(chosen.values_list("user_id", "uuid", "metadata"))
    if not rows:
        raise InvalidInputError("Choose at least one active memory that answers the question.", attr="evidence")
    if len({user for user, _, _ in rows}) > 1:
        raise InvalidInputError("Choose memories of one user: an evaluation asks about one.", attr="evidence")
    keys = [evidence_key(uuid, metadata) for _, uuid, metadata in rows]
    line = {"user_id": rows[0][0], "question": question, "evidence": keys, "category": CATEGORY}
    line["asked_at"] = asked_at.isoformat(timespec="seconds")
    return json.dumps(line, ensure_ascii=False) + "\n"
