"""Changes of memories beside other changes, saves, deletions and reviews."""

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from apps.core.domain.errors import ConflictError, MemoryHubError, StaleVersionError
from apps.core.domain.scope import Scope, system_access
from apps.llm.selectors import active_space
from apps.retrieval.domain.content import content_hash
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.conflicts.review import conflict_revert
from apps.semantic.consolidation import run as running
from apps.semantic.consolidation.services import consolidation_create, consolidation_run
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.update import MemoryEdit, memory_update
from apps.semantic.models import Conflict, Memory, MemoryEmbedding, MemoryRevision
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_delete, memory_restore, memory_save
from apps.semantic.store.embedding_space import embed
from apps.semantic.store.rows import word_columns
from apps.semantic.store.unit_of_work import shard_end, take_shards
from tests.integration.semantic.opposites import opposites, unnoticed
from tests.threads import at_once, met_by, outcomes_at_once

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM, ANA = system_access("test"), Scope("ana")
TEXTS = (
    "Ana lives in Lisbon.", "Ana lives in Porto.", "Ana is allergic to nuts.", "Ana likes tea.",
    "Ana rows on the lake.", "The tax office closes at noon.",
)  # fmt: skip


def save(text: str, **fields: Any) -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft(text, scope=ANA, **fields)).memory


def change(memory: UUID, version: str | None = None, **fields: Any) -> Memory:
    edit = MemoryEdit(fields, versions=None if version is None else (version,))
    return memory_update(access=SYSTEM, uuid=memory, edit=edit).memory


def assert_consistent() -> None:
    """Words, vector and hash of every memory are of its content, and the index finds it by them and by no others."""
    space = active_space()
    for memory in Memory.objects.all():
        assert memory.content_hash == content_hash(memory.content)
        words = word_columns(memory.content, memory.keywords, memory.context, memory.occurred_at)
        assert bytes(memory.lexemes) == words["lexemes"]
        vector = MemoryEmbedding.objects.get(memory=memory, space=space).vector
        wanted = embed([memory.content])[0]
        assert np.allclose(vector, wanted, atol=1e-5), memory.content
        query = SearchQuery(scope=ANA, embedding=wanted, mode=SearchMode.VECTOR, top_k=50, history=False)
        found = {one.memory.pk: one.hit.similarity for one in memory_search(SYSTEM, query).found}
        assert (memory.pk in found) is (memory.status == "active")
        assert memory.status != "active" or found[memory.pk] == pytest.approx(1.0, abs=1e-3)


def test_two_changes_at_once_are_both_kept() -> None:
    memory = save(TEXTS[4], metadata={"a": 1})
    at_once(*[lambda n=n: change(memory.uuid, metadata={f"n{n}": n}) for n in range(8)])
    memory.refresh_from_db()
    assert memory.metadata == {"a": 1, **{f"n{n}": n for n in range(8)}}
    assert MemoryRevision.objects.filter(memory=memory, reason="edited").count() == 8


def test_of_changes_of_one_version_one_is_done() -> None:
    memory = save(TEXTS[4])
    texts = [f"Ana paddles on lake {word}." for word in ("one", "two", "three", "four")]
    done = outcomes_at_once(*[lambda t=t: change(memory.uuid, memory.version_tag, content=t) for t in texts])
    assert all(isinstance(one, Memory | StaleVersionError) for one in done), done
    assert sum(isinstance(one, Memory) for one in done) == 1
    assert_consistent()


def test_two_memories_never_get_one_content() -> None:
    first, second = save(TEXTS[4]), save(TEXTS[5])
    calls = [lambda m=m: change(m.uuid, content="Ana paddles a canoe.") for m in (first, second)]
    done = outcomes_at_once(*calls, lambda: save("Ana paddles a canoe."))
    assert all(isinstance(one, Memory | ConflictError) for one in done), done
    assert Memory.objects.active().filter(content="Ana paddles a canoe.").count() == 1
    assert_consistent()


def test_user_who_comes_back_begins_above_what_was_written_last() -> None:
    """Another process may know the versions of before: none of them may come again."""
    save(TEXTS[4])
    with met_by(lambda: shard_end("ana")):
        last = take_shards(["ana"])["ana"]
    assert take_shards(["ana"])["ana"] > last


@pytest.mark.parametrize("seed", range(2))
def test_changes_beside_everything_else_leave_all_consistent(seed: int) -> None:
    memories = [save(text, occurred_at=datetime(2026, 1, day + 1, tzinfo=UTC)) for day, text in enumerate(TEXTS)]
    source = random.Random(seed)

    def worker(number: int) -> Callable[[], None]:
        chosen = random.Random(number)

        def work() -> None:
            for _ in range(10):
                memory, text = chosen.choice(memories), chosen.choice(TEXTS)
                step: list[Callable[[], object]] = [
                    lambda m=memory, t=text: change(m.uuid, content=t, importance=chosen.random()),
                    lambda m=memory: change(m.uuid, keywords=[str(chosen.random())]),
                    lambda t=text: save(t),
                    lambda m=memory: memory_delete(access=SYSTEM, uuid=m.uuid),
                    lambda m=memory: memory_restore(access=SYSTEM, uuid=m.uuid),
                    lambda: conflict_revert(access=SYSTEM, uuid=Conflict.objects.in_force().last().uuid),  # type: ignore[union-attr]
                ]
                with suppress(MemoryHubError, AttributeError):
                    chosen.choice(step)()

        return work

    at_once(*[worker(source.randint(0, 10**6)) for _ in range(3)])
    assert_consistent()


def test_a_consolidation_does_not_decide_by_a_vector_of_old_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with unnoticed():
        older, newer = (save(text) for text in opposites(1))
    real = running.examine

    def then_changed(*arguments: Any) -> Any:
        chunk = real(*arguments)
        with unnoticed():
            far = -embed([older.content])[0]
            edit = MemoryEdit({"content": f"{newer.content} Yes."}, embedding=far)
            memory_update(access=SYSTEM, uuid=newer.uuid, edit=edit)
        return chunk

    monkeypatch.setattr(running, "examine", then_changed)
    consolidation = consolidation_create(name="nightly", settings={"mode": "decide"})
    assert consolidation_run(pk=consolidation.pk).error == ""
    assert not Conflict.objects.exists()
