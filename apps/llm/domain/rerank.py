"""The formats of rerankers: what is asked of them, and how their answers are read.

Two formats of a question, by the name that its texts have: `documents` (Cohere, Jina, vLLM, llama.cpp, Infinity) and
`texts` (text-embeddings-inference). The answer is a list, or a list under `results` or `data`, of objects with the
`index` of a text and its `relevance_score` or `score`, in any order.
"""

import json
import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from apps.core.domain.words import gettext_noop
from apps.llm.domain.chat import ErrorKind

# What people and assistants are told where a search is in its own order.
NO_ORDER = gettext_noop("The reranker did not answer, so this is the order of the search alone.")


class RerankFormat(StrEnum):
    """How a reranker is asked: the name that the texts have in its request."""

    DOCUMENTS = "documents"
    TEXTS = "texts"


class RerankError(Exception):
    """A reranker gave no order. Its text is ours: it holds no key, no text and nothing that the server said.

    counts_against_breaker: all but a server that is only asked too often, since every question is put the same way.
    may_have_cost: the server has probably worked on it.
    """

    def __init__(self, kind: ErrorKind) -> None:
        super().__init__(f"The reranker gave no order ({kind}).")
        self.kind = kind
        self.counts_against_breaker = kind is not ErrorKind.RATE_LIMITED
        self.may_have_cost = kind in {ErrorKind.TIMEOUT, ErrorKind.BAD_RESPONSE}


def make_request(format_: RerankFormat, model: str, question: str, texts: Sequence[str]) -> bytes:
    """Return the body of a request. model: left out where it has no name."""
    body: dict[str, Any] = {"query": question, format_.value: list(texts)}
    if model:
        body["model"] = model
    if format_ is RerankFormat.TEXTS:
        body["truncate"] = True
    else:
        body["top_n"] = len(texts)
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def read_scores(content: bytes, count: int) -> list[float]:
    """Return the score of each of `count` texts, in the order in which they were sent.

    Raises RerankError unless each has exactly one, a finite number.
    """
    try:
        body = json.loads(content)
        listed: list[Any] = (body.get("results") or body["data"]) if isinstance(body, dict) else body
        scores = dict(read_score(one) for one in listed)
        if len(listed) != count or scores.keys() != set(range(count)):
            raise ValueError("Not one score for each text.")
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError):
        raise RerankError(ErrorKind.BAD_RESPONSE) from None  # what was raised may quote the answer
    return [scores[place] for place in range(count)]


def read_score(one: Any) -> tuple[int, float]:
    """Return the place of a text and its score. Raises ValueError, TypeError or another error of a wrong shape."""
    place = one["index"]
    score = one["relevance_score"] if "relevance_score" in one else one["score"]
    if type(place) is not int or type(score) not in {int, float} or not math.isfinite(score):
        raise ValueError("Not a place and a finite number.")
    return place, float(score)


def status_error(status: int) -> RerankError | None:
    """Return the error of an HTTP status; None for 200."""
    if status == 200:
        return None
    if status in {401, 402, 403}:
        return RerankError(ErrorKind.AUTH)
    if status == 429:
        return RerankError(ErrorKind.RATE_LIMITED)
    return RerankError(ErrorKind.OVERLOADED if status >= 500 else ErrorKind.BAD_REQUEST)
