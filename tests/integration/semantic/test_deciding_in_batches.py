"""Batches whose items have to do with each other and with what is stored, decided in one transaction (DESIGN D5)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.core.domain.scope import Access, Scope
from apps.llm.domain.pair_answer import PairAnswer
from apps.rules.domain.engine import pair_judge
from apps.rules.services import rule_register
from apps.semantic.conflicts.neighbours import READ_NEAREST
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import memory_delete, memory_save, memory_save_many

pytestmark = pytest.mark.django_db

LISBON, NOT_LISBON = "Ana lives in Lisbon.", "Ana does not live in Lisbon."
LOOSE = {"keyword_threshold": 0.6, "restate_threshold": 0.6}
THEN = datetime(2026, 3, 1, tzinfo=UTC)

Batch = Callable[..., list[SaveResult]]


@pytest.fixture
def batch(access: Access) -> Batch:
    """Save contents, or contents with fields, of ana in one call."""

    def save(*items: str | tuple[str, dict[str, Any]]) -> list[SaveResult]:
        pairs = [(item, {}) if isinstance(item, str) else item for item in items]
        drafts = [MemoryDraft(content, scope=Scope("ana"), **fields) for content, fields in pairs]
        results = memory_save_many(access=access, drafts=drafts)
        assert all(isinstance(result, SaveResult) for result in results)
        return results  # type: ignore[return-value]

    return save


def active() -> list[str]:
    return list(Memory.objects.active().order_by("id").values_list("content", flat=True))


def merging_rule() -> None:
    rule_register(
        document={"name": "merging", "detection": LOOSE, "arbitration": {"priority_recency": False}}, actor="test"
    )


def test_duplicate_of_what_earlier_item_superseded_is_news_again(batch: Batch) -> None:
    batch(LISBON)
    results = batch(NOT_LISBON, LISBON)
    assert [result.action for result in results] == ["superseded_existing", "superseded_existing"]
    assert active() == [LISBON]
    assert results[1].memory.status == "active"


def test_memory_improved_by_one_item_can_be_superseded_by_next(batch: Batch) -> None:
    batch((LISBON, {"confidence": 0.5}))
    results = batch((LISBON, {"confidence": 0.9, "importance": 0.8}), NOT_LISBON)
    assert [result.action for result in results] == ["updated", "superseded_existing"]
    assert active() == [NOT_LISBON]
    old = Memory.objects.get(content=LISBON)
    assert (old.status, old.superseded_by, old.importance) == ("superseded", results[1].memory, 0.8)


def test_duplicate_of_parent_of_earlier_merge_is_held_against_merged_memory(batch: Batch) -> None:
    merging_rule()
    short, long = (f"Ana bakes rye bread with caraway seeds every Sunday{end}" for end in ("", " morning"))
    batch(short)
    results = batch(long, short)
    assert len(active()) == 1
    assert results[0].action == "merged"
    assert results[1].memory.status == "active"


def test_many_repetitions_do_not_hide_item_from_one_that_contradicts_it(batch: Batch) -> None:
    batch(*[LISBON] * 30, NOT_LISBON)
    assert active() == [NOT_LISBON]


def test_repeating_import_changes_nothing_however_often_opinions_changed(batch: Batch) -> None:
    story = [(LISBON if day % 2 == 0 else NOT_LISBON, {"occurred_at": THEN + timedelta(days=day)}) for day in range(5)]
    for item in story:
        batch(item)
    before = list(Memory.objects.order_by("id").values("content", "status", "occurred_at"))
    assert active() == [LISBON]
    for _ in range(2):
        batch(*story)
        for item in story:
            batch(item)
    assert list(Memory.objects.order_by("id").values("content", "status", "occurred_at")) == before
    assert Conflict.objects.count() == 4


def test_long_chain_of_merges_that_add_something_each_is_saved(batch: Batch) -> None:
    rule_register(
        document={
            "name": "merging",
            "detection": {"keyword_threshold": 0.1, "semantic_threshold": 0.1},
            "arbitration": {"priority_recency": False, "act_on_weak_evidence": True, "merge_contradictions": True},
            "merge": {"content_strategy": "smart"},
        },
        actor="test",
    )
    names = [f"{first}{last}" for first in ("Ben", "Carla", "Dmitri", "Elif") for last in ("a", "e", "i", "o", "u")]
    results = batch(*(f"Ana plays chess with {name}." for name in names))
    assert [result.action for result in results] == ["inserted", *["merged"] * 19]
    assert len(active()) == 1


def test_one_memory_alone_saved_twice_in_batch_is_stored_once(batch: Batch, access: Access) -> None:
    memory_save(access=access, draft=MemoryDraft("Tea.", scope=Scope("ana")))
    assert [result.action for result in batch("tea", "coffee", "Coffee!")] == ["skipped", "inserted", "skipped"]


def test_item_settled_by_one_before_it_is_not_news_of_same_moment(batch: Batch) -> None:
    dated, later = (LISBON, {"occurred_at": THEN}), (NOT_LISBON, {"occurred_at": THEN + timedelta(days=1)})
    batch(dated)
    results = batch(later, dated)
    assert [result.action for result in results] == ["superseded_existing", "skipped"]
    assert Memory.objects.count() == 2


def test_item_that_says_what_earlier_merge_made_is_its_duplicate(batch: Batch) -> None:
    merging_rule()
    short, long = (f"Ana bakes rye bread with caraway seeds every Sunday{end}" for end in ("", " morning"))
    batch(short)
    results = batch(f"{long}!", f"{long}.")
    assert [result.action for result in results] == ["merged", "skipped"]
    assert active() == [f"{long}!"]


def test_what_lost_to_memory_deleted_since_holds_again(batch: Batch, access: Access) -> None:
    dated, later = (LISBON, {"occurred_at": THEN}), (NOT_LISBON, {"occurred_at": THEN + timedelta(days=1)})
    batch(dated)
    [result] = batch(later)
    memory_delete(access=access, uuid=result.memory.uuid)
    assert active() == [LISBON]
    assert [result.action for result in batch(dated)] == ["skipped"]
    assert active() == [LISBON]
    batch(dated, later)
    assert active() == [NOT_LISBON]
    count = Memory.objects.count()
    batch(dated, later)
    assert Memory.objects.count() == count


def test_repeated_loser_within_batch_is_nothing_that_later_items_could_supersede(batch: Batch) -> None:
    batch(LISBON)
    batch((NOT_LISBON, {"source": "inferred"}))
    results = batch((NOT_LISBON, {"source": "inferred"}), "Ana lives in Lisbon with her cat.", LISBON)
    assert [result.reason for result in results][::2] == ["already_decided", "equal_confidence"]
    assert Memory.objects.filter(content=NOT_LISBON).count() == 1


@pytest.mark.parametrize("eighth", ["Turin", "Prague"])
def test_item_is_held_against_what_stands_when_all_that_it_was_compared_with_have_left(
    batch: Batch, eighth: str
) -> None:
    homes = f"Lisbon Porto Rome Berlin Paris Madrid Vienna {eighth} Oslo Athens Dublin Warsaw Milan Munich Hamburg Lyon"
    results = batch(*[f"Ana lives in {home}." for home in homes.split()])
    assert active() == ["Ana lives in Lyon."]
    assert [result.action for result in results] == ["inserted"] + ["superseded_existing"] * 15


@pytest.fixture
def read_pairs(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """Have a judge that takes everything for the same, and note what it is asked about, each time."""
    asked: list[list[tuple[str, str]]] = []

    def read(pairs: Sequence[tuple[str, str]]) -> list[PairAnswer]:
        asked.append(list(pairs))
        return [PairAnswer(0.001, 0.998, 0.001, 0.0)] * len(pairs)

    monkeypatch.setattr(pair_judge._judge, "name", "test-1")
    monkeypatch.setattr(pair_judge._judge, "read", read)
    return asked


def test_judge_reads_pairs_of_a_batch_at_once_and_of_each_memory_few(batch: Batch, read_pairs: Any) -> None:
    rooms = ("kitchen", "cellar", "attic", "hall", "bath", "garage", "balcony", "pantry", "study", "porch")
    batch(*(f"Ana's cousin painted the walls of the {room} of her old house in Evora." for room in rooms))
    assert len(rooms) < len(read_pairs[0]) <= READ_NEAREST * len(rooms)
    asked = [pair for pairs in read_pairs for pair in pairs]
    # Then each is asked about with the nearest of what was joined meanwhile.
    assert len(asked) <= (READ_NEAREST + 1) * len(rooms)
    assert len(read_pairs) <= 1 + len(rooms)


def test_what_a_batch_joined_is_read_with_none_but_those_that_conflict_with_a_part(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def read(pairs: Sequence[tuple[str, str]]) -> list[PairAnswer]:
        asked.extend(pairs)
        same, both = PairAnswer(0.001, 0.998, 0.001, 0.0), PairAnswer(0.001, 0.001, 0.997, 0.001)
        return [same if all("paint" in text.lower() for text in pair) else both for pair in pairs]

    monkeypatch.setattr(pair_judge._judge, "name", "test-1")
    monkeypatch.setattr(pair_judge._judge, "read", read)
    rooms, again = ("kitchen", "cellar", "attic", "hall"), "Paint is what Ana's cousin put on the old house in Evora."
    results = batch(
        "Ana's cousin painted the old house in Evora.",
        "The old house in Evora was given a coat of paint by Ana's cousin.",
        *(f"Ana's cousin emptied the {room} of her old house in Evora." for room in rooms),
        again,
    )
    joined = results[1].memory.content
    assert results[1].action == "merged"
    assert [pair for pair in asked if joined in pair] == [(joined, again)]
