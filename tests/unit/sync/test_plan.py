"""What a sync does: spec 003, conflict resolution."""

from dataclasses import replace

import pytest

from apps.sync.domain.knowledge import Layer
from apps.sync.domain.plan import detect_conflicts, make_plan
from apps.sync.domain.state import PointerAction, Resolution, detect_delta
from tests.unit.sync.examples import SUPERSEDED, items_of, make_item, point, store

OLD = make_item(text="old")
NEW = make_item(text="new")


def plan_of(stored, items, pointers, resolutions=None, **options):
    delta = detect_delta(stored, items)
    found = detect_conflicts(stored, items, pointers)
    return make_plan(delta, found, resolutions or {}, stored=stored, pointers=pointers, **options)


def steps(plan):
    return [(change.action.value, change.item_id, change.pointer, change.reason) for change in plan.changes]


def resolutions_of(plan):
    return {conflict.type.value: resolution.value for conflict, resolution in plan.resolved}


def test_new_items_are_created_and_unchanged_ones_left():
    plan = plan_of(store(OLD), items_of(OLD, make_item("b"), make_item("a")), [point(OLD)])
    assert steps(plan) == [("create", "a", None, "added"), ("create", "b", None, "added")]
    assert plan.pointers == {"ADR-0001": point(OLD).uuid}


def test_a_pointer_that_is_missing_is_created_again_in_the_same_memory():
    before = store(OLD)
    assert steps(plan_of(before, items_of(OLD), [])) == [("create", "ADR-0001", point(OLD).uuid, "missing")]


def test_an_item_that_comes_back_gets_its_memory_back():
    plan = plan_of({}, items_of(OLD), [], former={"ADR-0001": point(OLD).uuid})
    assert steps(plan) == [("create", "ADR-0001", point(OLD).uuid, "added")]


def test_a_memory_that_belongs_to_another_item_now_is_not_taken():
    other = replace(point(make_item("b")), uuid=point(OLD).uuid)
    plan = plan_of(store(OLD), items_of(OLD, make_item("b"), make_item("c")), [other], former={"c": other.uuid})
    assert steps(plan) == [("create", "ADR-0001", None, "missing"), ("create", "c", None, "added")]


def test_a_pointer_that_nothing_was_stored_of_is_kept():
    plan = plan_of({}, items_of(NEW), [point(NEW)])
    assert (plan.changes, plan.pointers) == ((), {"ADR-0001": point(NEW).uuid})


def test_apply_update_memory_resolution():
    plan = plan_of(store(OLD), items_of(NEW), [point(OLD)])
    assert steps(plan) == [("update", "ADR-0001", point(OLD).uuid, "updated")]
    assert resolutions_of(plan) == {"hash_mismatch": "update_memory"}
    moved = make_item(text="old", layer=Layer.COMPANY)
    plan = plan_of(store(OLD), items_of(moved), [point(OLD)])
    assert steps(plan) == [("update", "ADR-0001", point(OLD).uuid, "layer_mismatch")]
    assert resolutions_of(plan) == {"layer_mismatch": "update_memory"}


def test_a_pointer_that_was_changed_is_written_again():
    plan = plan_of(store(OLD), items_of(OLD), [point(OLD, hash="x")])
    assert steps(plan) == [("update", "ADR-0001", point(OLD).uuid, "hash_mismatch")]


def test_one_update_is_made_for_all_differences_of_an_item():
    item = make_item(text="new", status=SUPERSEDED, layer=Layer.ORG)
    plan = plan_of(store(OLD), items_of(item), [point(OLD)])
    assert steps(plan) == [("update", "ADR-0001", point(OLD).uuid, "status_change")]
    assert set(resolutions_of(plan)) == {"hash_mismatch", "status_change", "layer_mismatch"}


def test_apply_delete_memory_resolution():
    plan = plan_of(store(OLD), {}, [point(OLD)])
    assert steps(plan) == [("delete", "ADR-0001", point(OLD).uuid, "deleted")]
    assert (plan.forgotten, plan.pointers) == ({"ADR-0001"}, {})
    assert steps(plan_of({}, {}, [point(OLD)])) == [("delete", "ADR-0001", point(OLD).uuid, "orphaned_pointer")]


def test_all_but_the_newest_of_duplicates_are_deleted_and_that_one_is_updated():
    pointers = [point(OLD, number) for number in range(3)]
    plan = plan_of(store(OLD), items_of(NEW), pointers)
    assert steps(plan) == [
        ("update", "ADR-0001", pointers[2].uuid, "updated"),
        ("delete", "ADR-0001", pointers[1].uuid, "duplicate_pointer"),
        ("delete", "ADR-0001", pointers[0].uuid, "duplicate_pointer"),
    ]
    assert plan.pointers == {"ADR-0001": pointers[2].uuid}


def test_an_item_that_is_gone_without_a_pointer_is_forgotten():
    plan = plan_of(store(OLD), {}, [])
    assert (plan.changes, plan.forgotten) == ((), {"ADR-0001"})


def test_custom_resolution_strategy():
    gone, moved = make_item("gone"), make_item("moved")
    stored = store(OLD, gone, moved)
    items = items_of(NEW, make_item("moved", layer=Layer.ORG))
    pointers = [point(OLD), point(gone), point(moved)]
    plan = plan_of(stored, items, pointers, {"hash_mismatch": "keep_memory", "orphaned_pointer": "surprise"})
    assert [(change.action.value, change.item_id) for change in plan.changes] == [
        ("delete", "gone"), ("update", "moved"),
    ]  # fmt: skip
    assert resolutions_of(plan) == {
        "hash_mismatch": "keep_memory", "orphaned_pointer": "delete_memory", "layer_mismatch": "update_memory",
    }  # fmt: skip


def test_what_a_source_says_of_a_special_type_outranks_what_it_says_of_a_general_one():
    ended = make_item(text="old", status=SUPERSEDED)

    def is_updated(resolutions, item=ended):
        return bool(plan_of(store(OLD), items_of(item), [point(OLD)], resolutions).changes)

    assert is_updated({"hash_mismatch": "keep_memory", "status_change": "update_memory"})
    assert not is_updated({"hash_mismatch": "keep_memory", "status_change": "update_memory"}, NEW)
    assert not is_updated({"status_change": "keep_memory"})
    assert is_updated({"status_change": "keep_memory"}, NEW)
    assert is_updated({"layer_mismatch": "keep_memory"})


def test_a_pointer_waits_for_a_person():
    plan = plan_of(store(OLD), items_of(NEW, make_item("b")), [point(OLD)], {"hash_mismatch": "manual"})
    assert (plan.held, [change.item_id for change in plan.changes]) == ({"ADR-0001"}, ["b"])
    assert resolutions_of(plan) == {"hash_mismatch": "manual"}
    gone = plan_of(store(OLD), {}, [point(OLD)], {"orphaned_pointer": "manual"})
    assert (gone.changes, gone.held, gone.forgotten) == ((), {"ADR-0001"}, frozenset())


def test_all_conflicts_of_an_item_wait_for_the_same_person():
    pointers = [point(OLD), point(OLD, 1)]
    plan = plan_of(store(OLD), items_of(NEW), pointers, {"hash_mismatch": "manual"})
    assert (plan.changes, set(resolutions_of(plan).values())) == ((), {"manual"})


def test_a_pointer_that_is_kept_stays_while_its_item_is_forgotten():
    plan = plan_of(store(OLD), {}, [point(OLD)], {"orphaned_pointer": "keep_memory"})
    assert (plan.changes, plan.held, plan.forgotten) == ((), frozenset(), {"ADR-0001"})


def test_duplicates_that_are_kept_are_not_written():
    pointers = [point(OLD), point(OLD, 1)]
    plan = plan_of(store(OLD), items_of(NEW), pointers, {"duplicate_pointer": "keep_memory"})
    assert [(change.action, change.pointer) for change in plan.changes] == [(PointerAction.UPDATE, pointers[1].uuid)]


def test_what_a_person_decided_is_asked_again_after_the_next_change_only():
    asked = plan_of(store(OLD), items_of(NEW), [point(OLD)], {"hash_mismatch": "manual"})
    decided = [conflict for conflict, _ in asked.resolved]
    options = {"resolutions": {"hash_mismatch": "manual"}, "decided": decided}
    same = plan_of(store(NEW), items_of(NEW), [point(OLD)], **options)
    assert (same.changes, same.held, same.resolved) == ((), frozenset(), ())
    newer = plan_of(store(NEW), items_of(make_item(text="newer")), [point(OLD)], **options)
    assert newer.held == {"ADR-0001"}


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_takes_the_first_items(limit):
    gone = make_item("a")
    stored, items = store(OLD, gone), items_of(NEW, make_item("b"), make_item("c"))
    pointers = [point(gone), point(gone, 1), point(OLD)]
    plan = plan_of(stored, items, pointers, limit=limit)
    names = ["ADR-0001", "a", "b", "c"]
    assert {change.item_id for change in plan.changes} == set(names[:limit])
    assert plan.left == set(names[limit:])
    assert {conflict.item_id for conflict, _ in plan.resolved} == set(names[:limit]) & {"ADR-0001", "a"}
    assert plan.forgotten == ({"a"} if limit > 1 else set())


def test_what_needs_no_change_does_not_count_towards_the_limit():
    stored, items = store(OLD), items_of(NEW, make_item("b"))
    plan = plan_of(stored, items, [point(OLD)], {"hash_mismatch": Resolution.MANUAL}, limit=1)
    assert ([change.item_id for change in plan.changes], plan.left) == (["b"], frozenset())
