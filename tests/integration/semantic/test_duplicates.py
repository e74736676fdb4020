"""What a duplicate is: the same text in one scope, with the same tags, and of the same moment where one was given."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.core.domain.errors import ConflictError
from apps.core.domain.scope import Scope, system_access
from apps.rules.services import rule_register
from apps.semantic.consolidation.services import consolidation_create, consolidation_run
from apps.semantic.domain.confidence import DecayPolicy
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.memories.update import MemoryEdit, memory_update
from apps.semantic.memories.writer import SaveResult
from apps.semantic.models import Conflict, Memory
from apps.semantic.services import (
    conflict_revert,
    memory_delete,
    memory_reinforce,
    memory_restore,
    memory_save,
    memory_save_many,
)
from tests.api import MEMORIES, Api, contents
from tests.threads import at_once, outcomes_at_once

pytestmark = pytest.mark.django_db

ANA, SYSTEM = Scope("ana"), system_access("test")
TABS, SPACES, FEVER = "Use tabs", "Do not use tabs", "Eva had a fever"
JANUARY, JUNE = datetime(2026, 1, 10, 8, tzinfo=UTC), datetime(2026, 6, 3, 8, tzinfo=UTC)
TAGS = ("agent", "personality", "project", "type")


def draft(content: str, **fields: Any) -> MemoryDraft:
    return MemoryDraft(content, scope=ANA, **fields)


def save(content: str, **fields: Any) -> SaveResult:
    return memory_save(access=SYSTEM, draft=draft(content, **fields))


def save_all(*drafts: MemoryDraft) -> list[str]:
    """Save in one batch; return the actions."""
    return [getattr(one, "action", "failed") for one in memory_save_many(access=SYSTEM, drafts=drafts)]


def change(memory: Memory, **fields: Any) -> SaveResult:
    return memory_update(access=SYSTEM, uuid=memory.uuid, edit=MemoryEdit(fields))


def active() -> list[tuple[str, str]]:
    return sorted(Memory.objects.active().values_list("content", "project"))


# Tags


def test_same_words_in_two_projects_are_two_memories_and_a_search_finds_each(api: Api) -> None:
    for project in ("a", "b"):
        answer = api.post(MEMORIES, {"content": TABS, "project": project})
        assert (answer.status_code, answer.json()["action"], answer.json()["conflict"]) == (201, "inserted", None)
    for project in ("a", "b"):
        [result] = api.search("how do we indent", project=project)["results"]
        assert (result["memory"]["content"], result["memory"]["project"]) == (TABS, project)
        assert api.post(MEMORIES, {"content": "use  TABS!", "project": project}).json()["action"] == "skipped"
    assert len(api.search("how do we indent")["results"]) == 2


@pytest.mark.parametrize("tag", TAGS)
def test_same_words_under_another_tag_are_another_memory(tag: str) -> None:
    first = save(TABS)
    second = save(TABS, **{tag: "x"})
    third = save(TABS, **{tag: "y"})
    assert [one.action for one in (first, second, third)] == ["inserted"] * 3
    again = save("use tabs.", **{tag: "x"})
    assert (again.action, again.memory) == ("skipped", second.memory)


def test_tags_are_kept_apart_from_each_other(api: Api) -> None:
    assert save_all(draft(TABS, agent="x", project="y"), draft(TABS, agent="xy"), draft(TABS, agent="y", project="x"))
    assert Memory.objects.active().count() == 3


def test_stating_it_as_global_makes_the_memory_global() -> None:
    first = save(TABS, project="a").memory
    result = save(TABS, project="a", is_global=True)
    assert (result.action, result.memory.pk, result.memory.is_global) == ("updated", first.pk, True)


def test_tags_of_any_length_and_script_are_compared(api: Api) -> None:
    long = {tag: "\U0001f33b" * 199 + tag[0] for tag in TAGS}
    scope = Scope(*("\U0001f33b" * 200 for _ in range(3)))
    for fields in (long, {**long, "type": long["agent"]}):
        result = memory_save(access=SYSTEM, draft=MemoryDraft(TABS, scope=scope, occurred_at=JUNE, **fields))
        assert result.action == "inserted"


# Moments


def test_fever_of_january_and_of_june_are_two_memories(api: Api) -> None:
    for month in ("01", "06"):
        answer = api.post(MEMORIES, {"content": FEVER, "occurred_at": f"2026-{month}-10T08:00:00Z"})
        assert (answer.status_code, answer.json()["action"]) == (201, "inserted")
    window = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-31T00:00:00Z"}
    assert contents(api.search("fever", time_window=window)) == [FEVER]
    assert len(api.search("fever")["results"]) == 2
    assert not Conflict.objects.exists()


def test_same_moment_in_another_offset_is_the_same_moment() -> None:
    first = save(FEVER, occurred_at=JUNE)
    again = save(FEVER, occurred_at=JUNE.astimezone(timezone(timedelta(hours=9, minutes=30))))
    assert (again.action, again.memory) == ("skipped", first.memory)
    drafts = [draft(FEVER, occurred_at=moment.astimezone(timezone(timedelta(hours=-5)))) for moment in (JUNE, JANUARY)]
    assert save_all(*drafts, *drafts) == ["skipped", "inserted", "skipped", "skipped"]


def test_no_moment_given_twice_is_a_duplicate() -> None:
    assert [save(FEVER).action, save(FEVER).action] == ["inserted", "skipped"]
    assert save_all(draft("tea"), draft("tea")) == ["inserted", "skipped"]


def test_no_moment_given_repeats_the_latest_that_is_known() -> None:
    for moment in (JUNE, JANUARY):
        save(FEVER, occurred_at=moment)
    again = save(FEVER, metadata={"a": 1})
    assert (again.action, again.memory.occurred_at, again.memory.metadata) == ("updated", JUNE, {"a": 1})
    assert Memory.objects.count() == 2


def test_moment_given_after_none_is_another_memory() -> None:
    first = save(FEVER)
    second = save(FEVER, occurred_at=JUNE)
    assert second.action == "inserted"
    assert save(FEVER).memory == first.memory
    assert save(FEVER, occurred_at=JUNE).memory == second.memory


def test_batch_finds_what_its_own_items_say() -> None:
    drafts = [
        draft(FEVER, occurred_at=JANUARY),
        draft(FEVER, occurred_at=JUNE),
        draft(FEVER, occurred_at=JUNE, project="a"),
        draft(FEVER, metadata={"a": 1}),
        draft(FEVER.upper(), occurred_at=JANUARY),
    ]
    assert save_all(*drafts) == ["inserted", "inserted", "inserted", "updated", "skipped"]
    assert Memory.objects.get(occurred_at=JUNE, project="").metadata == {"a": 1}
    assert save_all(*drafts) == ["skipped"] * 5


def test_thousands_of_moments_do_not_hide_what_contradicts_them() -> None:
    moments = [JANUARY + timedelta(days=day) for day in range(60)]
    assert set(save_all(*(draft("The pool is open.", occurred_at=moment) for moment in moments))) == {"inserted"}
    last = save("The pool is closed.", occurred_at=moments[-1] + timedelta(days=1))
    assert last.conflict is not None
    late = save("The pool is open.", occurred_at=moments[-1] + timedelta(days=2))
    assert (late.action, late.conflict is not None) == ("superseded_existing", True)


# Reinforcing


def test_restated_reinforceable_memory_is_reinforced_and_says_so(api: Api) -> None:
    body = {"content": "Ana likes tea", "decay_policy": "reinforceable"}
    memory = api.save(**body)
    Memory.objects.update(created_at=datetime.now(UTC) - timedelta(days=30))
    answer = api.post(MEMORIES, {"content": "ana likes TEA"}).json()
    assert (answer["action"], answer["reason"], answer["memory"]["id"]) == ("updated", "reinforced", memory["id"])
    assert answer["memory"]["last_reinforced_at"] is not None
    assert answer["memory"]["confidence"] == 1.0
    [_, step] = api.get(f"{MEMORIES}/{memory['id']}/history").json()["results"]
    assert (step["action"], step["reason"]) == ("reinforced", "restated")


def test_reinforced_memory_keeps_what_was_known_and_adds_what_is_new() -> None:
    save("tea", decay_policy=DecayPolicy.REINFORCEABLE, importance=0.9, metadata={"a": 1}, confidence=0.6)
    result = save("tea", importance=0.2, metadata={"b": 2}, confidence=0.8)
    found = Memory.objects.get()
    assert (result.action, result.reason) == ("updated", "confidence_improved")
    assert (found.importance, found.metadata, found.base_confidence) == (0.9, {"a": 1, "b": 2}, 0.685714)
    assert found.last_reinforced_at is not None


@pytest.mark.parametrize(
    ("stored", "again"),
    [
        ({"decay_policy": DecayPolicy.STABLE}, {}),
        ({"decay_policy": DecayPolicy.CONTEXTUAL}, {}),
        ({"decay_policy": DecayPolicy.REINFORCEABLE}, {"confidence": 0.5}),
        ({"decay_policy": DecayPolicy.REINFORCEABLE, "occurred_at": JUNE}, {"occurred_at": JUNE}),
    ],
    ids=["stable", "contextual", "less sure", "the same statement"],
)
def test_what_is_no_restatement_of_it_reinforces_nothing(stored: dict[str, Any], again: dict[str, Any]) -> None:
    save("tea", **stored)
    assert save("tea", **again).action == "skipped"
    assert Memory.objects.get().last_reinforced_at is None


# Held against each other


def test_what_is_said_in_one_project_does_not_replace_what_holds_in_another() -> None:
    save(TABS, project="a")
    result = save(SPACES, project="b")
    assert (result.action, result.conflict) == ("inserted", None)
    assert save(SPACES, project="a").action == "superseded_existing"
    assert active() == [(SPACES, "a"), (SPACES, "b")]


def test_items_of_a_batch_are_held_against_each_other_by_place() -> None:
    drafts = [draft(TABS, project="a"), draft(TABS, project="b"), draft(SPACES, project="b"), draft(SPACES)]
    assert save_all(*drafts)[:3] == ["inserted", "inserted", "superseded_existing"]
    assert (TABS, "a") not in active()  # what names no project speaks of it, too


@pytest.mark.parametrize("first_is_global", [True, False])
def test_contradiction_of_what_holds_everywhere_and_in_one_project_is_noticed(first_is_global: bool) -> None:
    rule_register(document={"name": "bold", "priority": 5, "arbitration": {"act_on_weak_evidence": True}}, actor="test")
    everywhere, here = {"is_global": True}, {"project": "a"}
    save(TABS, **(everywhere if first_is_global else here))
    result = save(SPACES, **(here if first_is_global else everywhere))
    assert (result.action, Memory.objects.active().count()) == ("inserted", 2)
    receipt = Conflict.objects.get()
    assert (receipt.outcome, receipt.state) == ("noticed", "open")
    assert "other places" in receipt.reason


def test_what_holds_everywhere_is_replaced_by_what_holds_everywhere() -> None:
    save(TABS, is_global=True, project="a")
    assert save(SPACES, is_global=True, project="b").action == "superseded_existing"


def test_contradiction_of_another_type_is_decided_and_a_restatement_is_another_memory() -> None:
    save("Ana likes green tea.", type="preference")
    assert save("Ana really likes green tea.", type="fact").action == "inserted"
    assert save("Ana does not like green tea.", type="fact").action == "superseded_existing"
    assert Memory.objects.active().count() == 1


def test_consolidation_finds_no_conflict_between_projects_and_moments() -> None:
    save_all(draft(TABS, project="a"), draft(SPACES, project="b"))
    save_all(draft(FEVER, occurred_at=JANUARY), draft(FEVER, occurred_at=JUNE), draft(FEVER, type="health"))
    consolidation = consolidation_create(name="nightly", settings={"mode": "decide"})
    assert consolidation_run(pk=consolidation.pk).error == ""
    assert not Conflict.objects.exists()
    assert Memory.objects.active().count() == 5


# Changing, restoring, reverting


@pytest.mark.parametrize("fields", [{"project": "b"}, {"content": "use TABS.", "project": "b"}])
def test_change_to_what_another_memory_is_already_is_refused(fields: dict[str, Any]) -> None:
    other, mine = save(TABS, project="b").memory, save(TABS, project="a").memory
    with pytest.raises(ConflictError) as refused:
        change(mine, **fields)
    assert (refused.value.code, refused.value.current) == ("duplicate", str(other.uuid))
    assert active() == [(TABS, "a"), (TABS, "b")]


def test_change_of_the_moment_to_that_of_another_memory_is_refused(api: Api) -> None:
    january, june = (save(FEVER, occurred_at=moment).memory for moment in (JANUARY, JUNE))
    answer = api.patch(f"{MEMORIES}/{june.uuid}", {"occurred_at": "2026-01-10T09:00:00+01:00"})
    [error] = answer.json()["errors"]
    assert (answer.status_code, error["code"], error["attr"]) == (409, "duplicate", "occurred_at")
    assert error["current"] == str(january.uuid)
    assert api.patch(f"{MEMORIES}/{june.uuid}", {"occurred_at": None}).status_code == 200


def test_content_that_another_project_has_may_be_given() -> None:
    save(TABS, project="b")
    mine = save("Use a linter", project="a").memory
    assert change(mine, content=TABS).action == "updated"
    assert active() == [(TABS, "a"), (TABS, "b")]


def test_change_to_what_has_expired_is_done() -> None:
    save(TABS, project="b", expires_at=datetime.now(UTC) + timedelta(seconds=60))
    Memory.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert change(save(TABS, project="a").memory, project="b").action == "updated"
    assert active() == [(TABS, "b")]


def test_restoring_asks_for_the_same_tags_and_moment() -> None:
    gone = save(FEVER, occurred_at=JANUARY).memory
    memory_delete(access=SYSTEM, uuid=gone.uuid)
    save(FEVER, occurred_at=JUNE)
    save(FEVER, occurred_at=JANUARY, project="a")
    assert memory_restore(access=SYSTEM, uuid=gone.uuid).status == "active"
    memory_delete(access=SYSTEM, uuid=gone.uuid)
    save(FEVER, occurred_at=JANUARY)
    with pytest.raises(ConflictError, match="saved again"):
        memory_restore(access=SYSTEM, uuid=gone.uuid)


def test_revert_asks_for_the_same_moment() -> None:
    save("Ana lives in Lisbon.", occurred_at=JANUARY)
    result = save("Ana does not live in Lisbon.", occurred_at=JANUARY + timedelta(days=1))
    save("Ana lives in Lisbon.", occurred_at=JANUARY - timedelta(days=9), project="a")
    assert result.conflict is not None
    conflict_revert(access=SYSTEM, uuid=result.conflict)
    assert Memory.objects.active().filter(content="Ana lives in Lisbon.").count() >= 1


# Writers at the same time


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fields", [{}, {"occurred_at": JUNE}, {"project": "a"}], ids=["text", "moment", "project"])
def test_sixteen_saves_of_one_text_at_once_leave_one_memory(fields: dict[str, Any]) -> None:
    results = at_once(*[lambda n=n: save(f"Use tabs{'!' * n}", **fields) for n in range(16)])
    assert sorted(result.action for result in results) == ["inserted", *["skipped"] * 15]
    assert Memory.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_saves_of_one_text_in_four_projects_at_once_leave_four() -> None:
    results = at_once(*[lambda n=n: save(TABS, project=f"p{n % 4}") for n in range(16)])
    assert sorted(result.action for result in results) == [*["inserted"] * 4, *["skipped"] * 12]
    assert sorted(project for _, project in active()) == ["p0", "p1", "p2", "p3"]


@pytest.mark.django_db(transaction=True)
def test_of_changes_to_one_project_at_once_one_is_done() -> None:
    memories = [save(TABS, project=f"p{n}").memory for n in range(8)]
    done = outcomes_at_once(*[lambda m=m: change(m, project="same") for m in memories])
    assert all(isinstance(one, SaveResult | ConflictError) for one in done), done
    assert sum(isinstance(one, SaveResult) for one in done) == 1


@pytest.mark.django_db(transaction=True)
def test_reinforcing_and_restating_at_once_are_both_kept() -> None:
    memory = save("tea", decay_policy=DecayPolicy.REINFORCEABLE).memory
    at_once(*[lambda: save("tea") for _ in range(4)], *[lambda: memory_reinforce(access=SYSTEM, uuid=memory.uuid)] * 4)
    assert memory.revisions.filter(action="reinforced").count() == 8


@pytest.mark.parametrize("moment", [None, JUNE])
def test_database_refuses_a_second_active_row(moment: datetime | None) -> None:
    first = save(TABS, project="a", occurred_at=moment).memory
    same = {"user_id": "ana", "content_hash": first.content_hash, "occurred_at": moment}
    times = {"created_at": first.created_at, "updated_at": first.updated_at}
    with pytest.raises(IntegrityError, match="semantic_memory_active_once"), transaction.atomic():
        Memory.objects.create(content=TABS, project="a", **same, **times)
    Memory.objects.create(content=TABS, project="b", **same, **times)
    Memory.objects.create(content=TABS, project="a", status="deleted", **same, **times)


# What it costs


@pytest.mark.parametrize("fields", [{}, {"occurred_at": JUNE}], ids=["no moment", "moment"])
def test_save_of_one_memory_asks_for_duplicates_twice(fields: dict[str, Any]) -> None:
    save("something else")
    with CaptureQueriesContext(connection) as queries:
        save(TABS, **fields)
    asked = [query["sql"] for query in queries if "content_hash" in query["sql"] and query["sql"].startswith("SELECT")]
    of_active = [sql for sql in asked if "'active'" in sql and " IN (" in sql]
    assert len(of_active) == 2, asked
