"""How much of the evidence of known questions a context holds, and how long it takes beside a plain search."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import uuid4

from apps.core.domain.scope import Scope, system_access
from apps.semantic.domain.evaluation import percentile
from apps.semantic.domain.locomo import Question
from apps.semantic.evaluation.run import evidence_key
from apps.semantic.imports.files import read_memories, read_questions
from apps.semantic.imports.importer import import_memories
from apps.semantic.selectors import memory_list
from apps.semantic.services import memories_purge
from benchmarks.api import SEARCH, WARM_UP, HubClient, Say, bench_key, wait_for_deliveries

CONTEXT = "/api/context"


@dataclass(frozen=True)
class Answered:
    """What a context held of the evidence of a question. is_nothing: it says that nothing is known."""

    share: float
    tokens: int
    items: int
    is_nothing: bool


@dataclass
class ContextMeasurement:
    """One run against a running hub whose database this process shares. every: one of so many questions is asked."""

    url: str
    file: Path
    max_tokens: int
    every: int
    say: Say

    def run(self) -> dict[str, Any]:
        """Return all figures. What it stores belongs to users of its own and is purged in the end."""
        prefix = f"bench-{uuid4()}-"
        questions = read_questions(self.file, prefix)[:: self.every]
        users = sorted({question.user_id for question in questions})
        try:
            self.say("Importing the conversations")
            import_memories(system_access("bench"), read_memories(self.file, prefix)[1])
            wait_for_deliveries(self.say)
            keys = {user: keys_of(user) for user in users}
            with bench_key() as key:
                return self.ask(HubClient(self.url, key), questions, users, keys)
        finally:
            for user in users:
                memories_purge(access=system_access("bench"), scope=Scope(user))

    def ask(
        self,
        client: HubClient,
        questions: Sequence[Question],
        users: Sequence[str],
        keys: Mapping[str, Mapping[str, str]],
    ) -> dict[str, Any]:
        """Ask each question: a search, a context, and a context of another conversation, in turns."""
        self.say(f"Asking {len(questions)} questions")
        own: list[Answered] = []
        foreign: list[Answered] = []
        searching: list[float] = []
        building: list[float] = []
        for question in questions:
            known = question.evidence & set(keys[question.user_id].values())
            if not known:
                continue
            other = users[(users.index(question.user_id) + 1) % len(users)]
            asked = {"message": question.text, "max_tokens": self.max_tokens}
            searching.append(client.post(SEARCH, {"query": question.text, "user_id": question.user_id}))
            started = time.perf_counter()
            answer = json.loads(client.send(CONTEXT, json.dumps({**asked, "user_id": question.user_id})))
            building.append(time.perf_counter() - started)
            own.append(answered(answer, known, keys[question.user_id]))
            answer = json.loads(client.send(CONTEXT, json.dumps({**asked, "user_id": other})))
            foreign.append(answered(answer, known, {}))
        search_ms, context_ms = (percentile(times[WARM_UP:], 0.5) * 1000 for times in (searching, building))
        return {
            "questions": len(own),
            "max_tokens": self.max_tokens,
            "evidence_share": round(fmean(one.share for one in own), 3),
            "whole_evidence": round(fmean(one.share == 1 for one in own), 3),
            "tokens_mean": round(fmean(one.tokens for one in own), 1),
            "tokens_most": max(one.tokens for one in [*own, *foreign]),
            "items_mean": round(fmean(one.items for one in own), 1),
            "own_nothing_known": round(fmean(one.is_nothing for one in own), 3),
            "foreign_nothing_known": round(fmean(one.is_nothing for one in foreign), 3),
            "foreign_tokens_mean": round(fmean(one.tokens for one in foreign), 1),
            "search_p50_ms": round(search_ms, 2),
            "context_p50_ms": round(context_ms, 2),
            "context_over_search": round(context_ms / search_ms, 3),
        }


def keys_of(user: str) -> dict[str, str]:
    """Return by what questions name the memories of a user, by their ids."""
    rows = memory_list(system_access("bench"), Scope(user), {}).values_list("uuid", "metadata")
    return {str(uuid): evidence_key(uuid, metadata) for uuid, metadata in rows}


def answered(answer: Mapping[str, Any], evidence: frozenset[str], keys: Mapping[str, str]) -> Answered:
    """Return what a context held. keys: by what questions name memories, by their ids."""
    held = {keys.get(item["id"], "") for item in answer["items"]}
    return Answered(len(evidence & held) / len(evidence), answer["tokens"], answer["count"], bool(answer["sentence"]))
