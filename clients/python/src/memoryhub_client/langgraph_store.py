"""A store of LangGraph whose items are kept by the hub: by namespace and key, found by meaning, filtered and expiring.

    store = MemoryHubStore(Client(url, key, user_id="ana"))
    graph = builder.compile(store=store)

Needs `pip install memoryhub-client[langgraph]`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
)

from memoryhub_client import calls
from memoryhub_client.answers import StoreResult
from memoryhub_client.errors import InvalidRequest
from memoryhub_client.synchronous import Client

# Of one request; and of a text, of which the models of hubs read no more.
MOST_OPERATIONS, MOST_TEXTS, MOST_CHARS = 100, 100, 1_000_000
TEXT_CHARS = 10_000
WHOLE_VALUE = "$"


class MemoryHubStore(BaseStore):
    """Keeps items in a hub, for the owner that the key or the client names.

    fields: the paths whose texts a search by meaning finds, where `put` says nothing else; none for no such search.
    The hub embeds them. ttl: as of LangGraph's own stores; what has expired is never answered, and needs no sweep.
    """

    supports_ttl = True

    def __init__(self, hub: Client, *, fields: Sequence[str] = (WHOLE_VALUE,), ttl: TTLConfig | None = None) -> None:
        self.hub, self.fields, self.ttl_config = hub, tuple(fields), ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: what is read is as it was before them, and of several puts for a key the last counts.

        Raises ValueError for what the hub refuses, and MemoryHubError.
        """
        asked = list(ops)
        reads = {place: op for place, op in enumerate(asked) if not isinstance(op, PutOp)}
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        bodies = [*map(read_body, reads.values()), *(put_body(op, self.fields) for op in puts.values())]
        answers: list[StoreResult] = []
        for part in split(bodies):
            try:
                done = self.hub.send(calls.store(self.hub.scope, part))
            except InvalidRequest as error:
                raise ValueError(str(error)) from error
            answers.extend(done)
        results: list[Result] = [None] * len(asked)
        for place, answer in zip(reads, answers, strict=False):
            results[place] = result_of(answer)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in a thread, so that one store serves graphs of every event loop."""
        return await asyncio.to_thread(self.batch, list(ops))


def read_body(op: Op) -> dict[str, Any]:
    """Return what reads, as the hub takes it. Raises ValueError for what is no operation."""
    if isinstance(op, GetOp):
        return {"op": "get", "namespace": op.namespace, "key": op.key, "refresh": op.refresh_ttl}
    pages = {"limit": getattr(op, "limit", 0), "offset": getattr(op, "offset", 0)}
    if isinstance(op, SearchOp):
        asked = {"namespace": op.namespace_prefix, "filter": op.filter or {}, "query": op.query or None}
        return {"op": "search", **asked, **pages, "refresh": op.refresh_ttl}
    if isinstance(op, ListNamespacesOp):
        conditions = [{"match": one.match_type, "path": list(one.path)} for one in op.match_conditions or ()]
        return {"op": "list", "conditions": conditions, "max_depth": op.max_depth, **pages}
    raise ValueError(f"Unknown operation type: {type(op)}")


def put_body(op: PutOp, fields: Sequence[str]) -> dict[str, Any]:
    """Return what writes, as the hub takes it. fields: the paths that are indexed where it says nothing."""
    place = {"namespace": op.namespace, "key": op.key}
    if op.value is None:
        return {"op": "delete", **place}
    value = dict(op.value)
    paths = fields if op.index is None else op.index or ()
    texts = (text[:TEXT_CHARS] for path in paths for text in get_text_at_path(value, path))
    return {"op": "put", **place, "value": value, "texts": [text for text in texts if text], "ttl": op.ttl}


def split(bodies: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield operations in parts that fit into a request."""
    part: list[dict[str, Any]] = []
    texts = chars = 0
    for body in bodies:
        more, size = len(body.get("texts", "1")), len(json.dumps(body, ensure_ascii=False))
        if part and (len(part) == MOST_OPERATIONS or texts + more > MOST_TEXTS or chars + size > MOST_CHARS):
            yield part
            part, texts, chars = [], 0, 0
        part.append(body)
        texts, chars = texts + more, chars + size
    if part:
        yield part


def result_of(answer: StoreResult) -> Result:
    """Return an answer of the hub as LangGraph has it."""
    if "namespaces" in answer:
        return [tuple(each) for each in answer["namespaces"]]
    if "items" in answer:
        return [SearchItem(**place_and_value(one), score=one["score"]) for one in answer["items"]]
    one = answer.get("item")
    return None if one is None else Item(**place_and_value(one))


def place_and_value(item: Any) -> dict[str, Any]:
    """Return what an item is made of."""
    names = ("key", "value", "created_at", "updated_at")
    return {"namespace": tuple(item["namespace"]), **{name: item[name] for name in names}}
