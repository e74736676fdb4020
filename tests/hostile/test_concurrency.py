"""Races over REST and in the services, each caller in a thread with a connection of its own (DESIGN D5)."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.http import HttpResponse

from apps.core.domain.scope import Scope, system_access
from apps.llm.models import EmbeddingSpace
from apps.retrieval.domain.query import SearchMode, SearchQuery
from apps.semantic.domain.confidence import DecayPolicy, merge_confidence
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.index.cache import IndexCache
from apps.semantic.models import Memory, MemoryEmbedding, MemoryRevision, MemoryShard
from apps.semantic.search.search import memory_search
from apps.semantic.services import memory_save
from tests.api import MEMORIES, Api, api_for, contents
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ANA = Scope(user_id="ana")
SYSTEM = system_access("test")


def caller(api: Api) -> Api:
    """The same key in a client of its own; an error of the server is an answer, not an exception."""
    other = Api(api.key)
    other.client.raise_request_exception = False
    return other


def posting(api: Api, path: str, body: Any = None) -> Callable[[], HttpResponse]:
    mine = caller(api)
    return lambda: mine.post(path, body)


def deleting(api: Api, path: str) -> Callable[[], HttpResponse]:
    mine = caller(api)
    return lambda: mine.delete(path)


@pytest.fixture
def api() -> Api:
    return api_for(ANA)


def saved(**fields: Any) -> Memory:
    return memory_save(access=SYSTEM, draft=MemoryDraft("tea", scope=ANA, **fields)).memory


def actions(memory: Memory) -> list[str]:
    return list(memory.revisions.values_list("action", flat=True))


def test_two_hundred_saves_of_same_content_leave_one_row_and_true_answers(api: Api) -> None:
    def four(number: int) -> Callable[[], list[HttpResponse]]:
        mine = caller(api)
        spellings = ("Green tea", "green  TEA", " green tea! ", "Green tea.")
        return lambda: [mine.post(MEMORIES, {"content": spellings[(number + n) % 4]}) for n in range(4)]

    answers = [answer for four_answers in at_once(*map(four, range(50))) for answer in four_answers]
    row = Memory.objects.get()
    bodies = [answer.json() for answer in answers]
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 199}
    assert Counter((body["action"], body["reason"]) for body in bodies) == {
        ("inserted", "unique_hash"): 1,
        ("skipped", "equal_confidence"): 199,
    }
    assert {body["memory"]["id"] for body in bodies} == {str(row.uuid)}
    assert {body["memory"]["content"] for body in bodies} == {row.content}
    assert MemoryEmbedding.objects.count() == MemoryRevision.objects.count() == 1


def test_same_content_in_batches_at_once_is_stored_once(api: Api) -> None:
    items = [{"content": f"fact number {n}"} for n in range(20)]
    batches = [items[n:] + items[:n] for n in range(8)]
    answers = at_once(*(posting(api, f"{MEMORIES}/batch", {"memories": batch}) for batch in batches))
    told = Counter(item["action"] for answer in answers for item in answer.json()["results"])
    assert told == {"inserted": 20, "skipped": 140}
    assert Memory.objects.count() == MemoryEmbedding.objects.count() == 20


def test_saves_of_rising_confidence_end_as_some_order_of_them_would(api: Api) -> None:
    claims = [round(0.1 + 0.03 * n, 2) for n in range(24)]
    answers = at_once(*(posting(api, MEMORIES, {"content": "tea", "confidence": claim}) for claim in claims))
    told = {claim: answer.json()["action"] for claim, answer in zip(claims, answers, strict=True)}
    steps = list(MemoryRevision.objects.order_by("id"))
    [first] = [claim for claim in claims if told[claim] == "inserted"]
    updates = {claim for claim in claims if told[claim] == "updated"}
    states = [first]
    for step in steps[1:]:
        before, after = step.changes["base_confidence"]
        assert before == states[-1]
        [claim] = [claim for claim in updates if claim > before and merge_confidence(before, claim) == after]
        updates.remove(claim)
        states.append(after)
    assert updates == set()
    assert [step.action for step in steps] == ["created"] + ["updated"] * (len(states) - 1)
    assert Memory.objects.get().base_confidence == states[-1]
    assert all(claim <= max(states) for claim in claims if told[claim] == "skipped")
    assert MemoryShard.objects.get(user_id="ana").version == len(claims)


def test_of_many_deletions_one_succeeds(api: Api) -> None:
    memory = saved()
    answers = at_once(*(deleting(api, f"{MEMORIES}/{memory.uuid}") for _ in range(16)))
    assert Counter(answer.status_code for answer in answers) == {204: 1, 404: 15}
    assert actions(memory) == ["created", "deleted"]


def test_of_many_restorations_one_succeeds(api: Api) -> None:
    memory = saved()
    api.delete(f"{MEMORIES}/{memory.uuid}")
    answers = at_once(*(posting(api, f"{MEMORIES}/{memory.uuid}/restore") for _ in range(16)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 15}
    assert actions(memory) == ["created", "deleted", "restored"]


def test_every_reinforcement_stands_in_history_in_order(api: Api) -> None:
    memory = saved(decay_policy=DecayPolicy.REINFORCEABLE)
    answers = at_once(*(posting(api, f"{MEMORIES}/{memory.uuid}/reinforce") for _ in range(12)))
    assert {answer.status_code for answer in answers} == {200}
    changes = [step.changes["last_reinforced_at"] for step in memory.revisions.filter(action="reinforced")]
    assert len(changes) == 12
    assert [before for before, _ in changes] == [None, *(after for _, after in changes[:-1])]


def test_deleting_restoring_and_reinforcing_at_once_is_some_order_of_them(api: Api) -> None:
    memory = saved(decay_policy=DecayPolicy.REINFORCEABLE)
    path = f"{MEMORIES}/{memory.uuid}"
    calls: list[Callable[[], HttpResponse]] = []
    for _ in range(6):
        calls += [posting(api, f"{path}/restore"), posting(api, f"{path}/reinforce")]
        calls.append(deleting(api, path))
    answers = at_once(*calls)
    done = Counter(
        name
        for number, answer in enumerate(answers)
        if answer.status_code < 300
        for name in [("restored", "reinforced", "deleted")[number % 3]]
    )
    steps = actions(memory)[1:]
    assert Counter(steps) == done
    assert {answer.status_code for answer in answers} <= {200, 204, 404, 409}
    is_deleted = False
    for step in steps:
        assert is_deleted == (step == "restored")
        is_deleted = {"deleted": True, "restored": False}.get(step, is_deleted)
    memory.refresh_from_db()
    assert (memory.status == "deleted") == is_deleted


def test_restoration_and_saves_of_same_content_leave_one_active_row(api: Api) -> None:
    for _ in range(5):
        memory = saved()
        api.delete(f"{MEMORIES}/{memory.uuid}")
        calls = [posting(api, f"{MEMORIES}/{memory.uuid}/restore")]
        calls += [posting(api, MEMORIES, {"content": "Tea!"}) for _ in range(3)]
        restored, *saves = at_once(*calls)
        told = Counter(answer.json()["action"] for answer in saves)
        assert (restored.status_code, told["inserted"]) in {(200, 0), (409, 1)}
        assert Memory.objects.active().count() == 1
        api.delete(f"{MEMORIES}/{Memory.objects.active().get().uuid}")


def test_batches_over_same_users_in_other_orders_do_not_block_each_other() -> None:
    users = [f"user {n}" for n in range(8)]
    orders = [users[n:] + users[:n] for n in range(4)] + [users[n::-1] + users[:n:-1] for n in range(4)]

    def batches(number: int, order: list[str]) -> Callable[[], list[HttpResponse]]:
        mine = caller(everybody)
        bodies = [
            {"memories": [{"content": f"{number} {round_} of {user}", "user_id": user} for user in order]}
            for round_ in range(4)
        ]
        return lambda: [mine.post(f"{MEMORIES}/batch", body) for body in bodies]

    everybody = api_for(Scope())
    answers = at_once(*(batches(number, order) for number, order in enumerate(orders)))
    assert {answer.status_code for some in answers for answer in some} == {200}
    assert {item["status"] for some in answers for answer in some for item in answer.json()["results"]} == {201}
    assert Memory.objects.count() == 8 * 4 * 8
    assert set(MemoryShard.objects.values_list("version", flat=True)) == {32}


def test_what_was_saved_is_found_at_once_by_every_process(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread searches in one of two caches, as two web processes would."""
    caches = [IndexCache(1 << 30), IndexCache(1 << 30)]
    chosen = threading.local()
    monkeypatch.setattr("apps.semantic.search.search.index_cache", lambda: chosen.cache)

    def write_and_look(number: int) -> list[str]:
        mine, missed = caller(api), []
        for n in range(10):
            word = "zq" + "abcdefghij"[n] + "klmnop"[number]
            mine.save(f"the word is {word}")
            for chosen.cache in caches:
                if contents(mine.search(word, mode="keyword")) != [f"the word is {word}"]:
                    missed.append(word)
        return missed

    assert at_once(*((lambda n=n: write_and_look(n)) for n in range(6))) == [[]] * 6
    chosen.cache = caches[0]
    assert memory_search(SYSTEM, SearchQuery(query="word", top_k=100)).ranking.matched == 60


def test_another_process_sees_deletions_and_improvements_at_once(api: Api) -> None:
    memory = saved(confidence=0.5)
    other, space = IndexCache(1 << 30), EmbeddingSpace.objects.get(is_active=True)

    def seen() -> list[float]:
        with other.refreshed(["ana"], space) as [shard]:
            return [float(base) for base in shard.base_confidence[shard.alive]]

    assert seen() == [0.5]
    api.save("TEA", confidence=0.9)
    assert seen() == [merge_confidence(0.5, 0.9)]
    api.delete(f"{MEMORIES}/{memory.uuid}")
    assert seen() == []
    api.post(f"{MEMORIES}/{memory.uuid}/restore")
    assert seen() == [merge_confidence(0.5, 0.9)]


def test_reader_sees_batch_whole_or_not_at_all(api: Api) -> None:
    """Vector mode matches everything, so the count of a search is the number of memories that it saw."""
    sizes: set[int] = set()
    done = threading.Event()

    def write() -> None:
        mine = caller(api)
        for batch in range(6):
            mine.post(f"{MEMORIES}/batch", {"memories": [{"content": f"{batch} and {n}"} for n in range(25)]})
        done.set()

    def read() -> None:
        while not done.is_set():
            result = memory_search(SYSTEM, SearchQuery(scope=ANA, query="and", mode=SearchMode.VECTOR))
            sizes.add(result.ranking.matched)

    at_once(write, read, read)
    assert {size % 25 for size in sizes} == {0}
    assert len(sizes) > 1


def test_database_itself_refuses_second_active_row_of_same_content() -> None:
    first = saved()
    twin = Memory(
        user_id="ana",
        content="tea",
        content_hash=first.content_hash,
        created_at=first.created_at,
        updated_at=first.updated_at,
    )
    with pytest.raises(IntegrityError, match="semantic_memory_active_once"), transaction.atomic():
        twin.save()
    twin.status = "deleted"
    twin.save()
    with pytest.raises(IntegrityError, match="semantic_memory_active_once"), transaction.atomic():
        Memory.objects.filter(pk=twin.pk).update(status="active")


def test_hub_whose_user_is_configured_stores_once_too(api: Api, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="ana")
    everybody = api_for(Scope())
    answers = at_once(*(posting(one, MEMORIES, {"content": "tea"}) for one in (api, everybody) * 8))
    assert Counter(answer.json()["action"] for answer in answers) == {"inserted": 1, "skipped": 15}
