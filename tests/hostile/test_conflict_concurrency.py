"""Races of writers who disagree, each in a thread with a connection of its own: one stands, nothing is lost (D5)."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse

from apps.core.domain.errors import MemoryHubError
from apps.core.domain.scope import Scope, system_access
from apps.semantic.conflicts.review import Winner
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories import save as memories_save
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory, MemoryEmbedding
from apps.semantic.services import conflict_override, conflict_revert, memory_delete, memory_save
from apps.semantic.store.unit_of_work import lock_shards
from tests.api import MEMORIES, Api, api_for
from tests.hostile.test_concurrency import caller, posting
from tests.threads import PATIENCE, at_once

pytestmark = pytest.mark.django_db(transaction=True)

CONFLICTS = "/api/semantic/conflicts"
SYSTEM = system_access("test")
ANA = Scope("ana")
LISBON, NOT_LISBON, NEVER = "Ana lives in Lisbon.", "Ana does not live in Lisbon.", "Ana never lived in Lisbon."


@pytest.fixture
def api() -> Api:
    return api_for(ANA)


def save(content: str, user: str = "ana", **fields: Any) -> SaveResult:
    return memory_save(access=SYSTEM, draft=MemoryDraft(content, scope=Scope(user), **fields))


def in_rounds(rounds: int, *writers: Callable[[int], Any]) -> None:
    """Let writers do round after round, all beginning each round at the same moment."""
    start = threading.Barrier(len(writers))

    def keep_on(writer: Callable[[int], Any]) -> Callable[[], None]:
        def run() -> None:
            try:
                for number in range(rounds):
                    start.wait(PATIENCE)
                    writer(number)
            except BaseException:
                start.abort()
                raise

        return run

    at_once(*map(keep_on, writers))


def standing(user: str) -> Counter[str]:
    return Counter(Memory.objects.filter(user_id=user).values_list("status", flat=True))


def assert_all_is_explained() -> None:
    """Whoever does not stand is behind somebody, as a receipt in force says, and every row has its vector."""
    told = {
        (step["memory"], step["after"]["status"], step["after"]["superseded_by"])
        for receipt in Conflict.objects.filter(state__in=["open", "accepted"])
        for step in receipt.transitions
    }
    for memory in Memory.objects.exclude(status__in=["active", "deleted"]).select_related("superseded_by"):
        assert memory.superseded_by is not None
        assert (str(memory.uuid), memory.status, str(memory.superseded_by.uuid)) in told
    assert MemoryEmbedding.objects.count() == Memory.objects.count()


def test_two_writers_who_disagree_leave_one_standing_in_two_hundred_rounds() -> None:
    in_rounds(
        200,
        lambda number: save(LISBON, f"user {number}"),
        lambda number: save(NOT_LISBON, f"user {number}"),
    )
    for number in range(200):
        assert standing(f"user {number}") == {"active": 1, "superseded": 1}
    assert Memory.objects.count() == 400
    assert Conflict.objects.count() == 200
    assert_all_is_explained()


def test_two_applications_who_disagree_again_and_again_leave_one_standing(api: Api) -> None:
    """In one scope, over REST: both contents are saved twenty times, and each save is news or a duplicate."""
    answers: list[HttpResponse] = []

    def writer(content: str) -> Callable[[int], None]:
        mine = caller(api)
        return lambda _: answers.append(mine.post(MEMORIES, {"content": content}))

    in_rounds(20, writer(LISBON), writer(NOT_LISBON))
    assert {answer.status_code for answer in answers} <= {200, 201}
    told = Counter(answer.json()["action"] for answer in answers)
    assert standing("ana")["active"] == 1
    assert Memory.objects.count() == told["inserted"] + told["superseded_existing"] + told["kept_existing"]
    assert Conflict.objects.count() == told["superseded_existing"] + told["kept_existing"]
    assert_all_is_explained()


def test_several_who_disagree_with_each_other_at_once_leave_one_standing() -> None:
    for number in range(10):
        user = f"user {number}"
        texts = [LISBON, NOT_LISBON, "Ana doesn't live in Lisbon.", "Ana lives in Lisbon!", NOT_LISBON]
        at_once(*(lambda text=text, user=user: save(text, user) for text in texts))
        active = Memory.objects.active().filter(user_id=user)
        assert len({("not" in one.content or "n't" in one.content) for one in active}) == 1
    assert_all_is_explained()


def test_what_another_saved_between_comparing_and_writing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    other = threading.Thread(target=lambda: (save(LISBON), connection.close()))

    def lock_after_the_other(users: Any) -> Mapping[str, int]:
        monkeypatch.setattr(memories_save, "lock_shards", lock_shards)
        other.start()
        other.join(PATIENCE)
        return lock_shards(users)

    monkeypatch.setattr(memories_save, "lock_shards", lock_after_the_other)
    assert save(NOT_LISBON).action in {"superseded_existing", "kept_existing"}
    assert standing("ana") == {"active": 1, "superseded": 1}


@pytest.mark.parametrize(("occurred_at", "rows"), [(None, 3), (datetime(2026, 3, 1, tzinfo=UTC), 2)])
def test_duplicate_that_lost_before_it_was_written_does_not_stand_beside_winner(
    occurred_at: datetime | None, rows: int
) -> None:
    save(LISBON, occurred_at=occurred_at)
    draft = MemoryDraft(LISBON, scope=ANA, occurred_at=occurred_at)
    prepared = memories_save.save_prepare(access=SYSTEM, drafts=[draft])
    save(NOT_LISBON)
    [result] = memories_save.save_write(prepared=prepared)
    assert not isinstance(result, MemoryHubError)
    assert standing("ana") == {"active": 1, "superseded": rows - 1}
    assert_all_is_explained()


def test_duplicate_and_memory_that_contradicts_it_saved_at_once_leave_one_standing() -> None:
    for number in range(20):
        save(LISBON, f"user {number}", confidence=0.5)
    in_rounds(
        20,
        lambda number: save(LISBON, f"user {number}", confidence=0.9),
        lambda number: save(NOT_LISBON, f"user {number}"),
    )
    for number in range(20):
        assert standing(f"user {number}")["active"] == 1
    assert_all_is_explained()


def test_of_many_reverts_of_one_decision_one_succeeds(api: Api) -> None:
    for number in range(5):
        user = f"user {number}"
        save(LISBON, user)
        receipt = save(NOT_LISBON, user).conflict
        operator = api_for(Scope())
        answers = at_once(*(posting(operator, f"{CONFLICTS}/{receipt}/revert") for _ in range(6)))
        codes = Counter(answer.status_code for answer in answers)
        assert codes[409] == 5
        assert sum(codes.values()) == 6
        assert {answer.json()["errors"][0]["code"] for answer in answers if answer.status_code == 409} == {
            "already_reverted"
        }
        assert Conflict.objects.filter(user_id=user, origin="revert").count() == 1
        assert list(Memory.objects.active().filter(user_id=user).values_list("content", flat=True)) == [LISBON]


def test_save_and_revert_of_what_superseded_its_duplicate_leave_it_standing_once() -> None:
    receipts = {}
    for number in range(20):
        save(LISBON, f"user {number}")
        receipts[number] = save(NOT_LISBON, f"user {number}").conflict

    def revert(number: int) -> None:
        try:
            conflict_revert(access=SYSTEM, uuid=receipts[number])  # type: ignore[arg-type]
        except MemoryHubError as refused:
            assert refused.code == "changed_since"  # noqa: PT017  (whoever is first wins)

    in_rounds(20, lambda number: save(LISBON, f"user {number}"), revert)
    for number in range(20):
        active = Memory.objects.active().filter(user_id=f"user {number}")
        assert [memory.content for memory in active] == [LISBON]
    assert_all_is_explained()


def test_saving_reverting_overriding_and_deleting_at_once_loses_nothing() -> None:
    save(LISBON)
    saved: list[str] = [LISBON]
    texts = [LISBON, NOT_LISBON, "Ana owns 12 postcards.", "Ana owns 15 postcards.", NEVER]

    def saver(number: int) -> None:
        text = texts[number % len(texts)]
        save(text)
        saved.append(text)

    def reviewer(step: Callable[[Conflict, int], Any]) -> Callable[[int], None]:
        def review(number: int) -> None:
            receipts = list(Conflict.objects.order_by("-id")[:3])
            for receipt in receipts:
                try:
                    step(receipt, number)
                except MemoryHubError as refused:
                    assert refused.code.startswith(  # noqa: PT017  (others were first)
                        ("already_", "changed_since", "decided_so", "duplicate", "not_a_decision", "nothing_to_revert")
                    )

        return review

    def deleter(number: int) -> None:
        memory = Memory.objects.active().order_by("-id").first()
        if memory is not None and number % 3 == 0:
            try:
                memory_delete(access=SYSTEM, uuid=memory.uuid)
            except MemoryHubError as refused:
                assert refused.code == "not_found"  # noqa: PT017

    winners = list(Winner)
    in_rounds(
        20,
        saver,
        lambda number: saver(number + 1),
        reviewer(lambda receipt, _: conflict_revert(access=SYSTEM, uuid=receipt.uuid)),
        reviewer(lambda receipt, n: conflict_override(access=SYSTEM, uuid=receipt.uuid, winner=winners[n % 3])),
        deleter,
    )
    assert set(Memory.objects.values_list("content", flat=True)) == set(saved)
    hashes = list(Memory.objects.active().values_list("content_hash", flat=True))
    assert len(hashes) == len(set(hashes))
    assert_all_is_explained()


def test_batches_of_same_people_in_other_orders_who_disagree_leave_one_standing_each() -> None:
    users = [f"user {number}" for number in range(6)]
    orders = [users, users[::-1], users[3:] + users[:3], users[2::-1] + users[:2:-1]]
    everybody = api_for(Scope())

    def batches(number: int, order: list[str]) -> Callable[[], list[HttpResponse]]:
        mine, text = caller(everybody), (LISBON, NOT_LISBON)[number % 2]
        body = {"memories": [{"content": text, "user_id": user} for user in order]}
        return lambda: [mine.post(f"{MEMORIES}/batch", body) for _ in range(4)]

    answers = at_once(*(batches(number, order) for number, order in enumerate(orders)))
    assert {answer.status_code for some in answers for answer in some} == {200}
    for user in users:
        assert standing(user)["active"] == 1
        assert set(Memory.objects.filter(user_id=user).values_list("content", flat=True)) == {LISBON, NOT_LISBON}
    assert_all_is_explained()
