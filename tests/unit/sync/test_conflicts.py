"""How pointers differ from items: spec 003, conflict detection."""

import pytest

from apps.sync.domain.knowledge import Layer
from apps.sync.domain.plan import DEFAULTS, allowed_resolutions, choose_resolution, detect_conflicts
from apps.sync.domain.state import ConflictType, Resolution
from tests.unit.sync.examples import DEPRECATED, SUPERSEDED, items_of, make_item, point, store

OLD = make_item(text="old")
NEW = make_item(text="new")


def only(conflicts):
    assert len(conflicts) == 1
    return conflicts[0]


def types(conflicts):
    return [conflict.type for conflict in conflicts]


def test_detect_hash_mismatch_conflict():
    conflict = only(detect_conflicts(store(OLD), items_of(NEW), [point(OLD)]))
    assert (conflict.type, conflict.suggested) == ("hash_mismatch", "update_memory")
    assert (conflict.item_id, conflict.pointers) == ("ADR-0001", (point(OLD).uuid,))
    assert conflict.detail == {"pointer": OLD.hash, "item": NEW.hash, "changed": "item"}


@pytest.mark.parametrize(
    ("stored", "item", "pointer", "changed"),
    [
        (store(OLD), OLD, point(OLD, hash="x"), "pointer"),
        (store(OLD), OLD, point(OLD, status="draft"), "pointer"),
        (store(OLD), NEW, point(OLD, hash="x"), "both"),
        ({}, NEW, point(OLD), "unknown"),
    ],
)
def test_detect_a_pointer_that_changed_behind_the_back_of_the_sync(stored, item, pointer, changed):
    conflict = only(detect_conflicts(stored, items_of(item), [pointer]))
    assert (conflict.type, conflict.detail["changed"]) == ("hash_mismatch", changed)


def test_a_pointer_that_is_as_its_item_says_is_no_conflict():
    assert detect_conflicts(store(OLD), items_of(NEW), [point(NEW)]) == []
    assert detect_conflicts({}, items_of(NEW), [point(NEW)]) == []
    assert detect_conflicts(store(OLD), items_of(OLD), []) == []


def test_detect_orphaned_pointer():
    conflict = only(detect_conflicts(store(OLD), {}, [point(OLD), point(OLD, 1)]))
    assert (conflict.type, conflict.suggested) == ("orphaned_pointer", "delete_memory")
    assert conflict.pointers == (point(OLD, 1).uuid, point(OLD).uuid)


def test_detect_duplicate_pointers():
    pointers = [point(OLD, number) for number in (1, 2, 0)]
    conflict = only(detect_conflicts(store(OLD), items_of(OLD), pointers))
    assert (conflict.type, conflict.suggested) == ("duplicate_pointer", "delete_memory")
    assert conflict.pointers == tuple(point(OLD, number).uuid for number in (2, 1, 0))
    assert conflict.detail == {"keep": str(point(OLD, 2).uuid)}


def test_only_the_pointer_that_is_kept_of_duplicates_is_compared():
    assert types(detect_conflicts({}, items_of(NEW), [point(OLD), point(NEW, 1)])) == ["duplicate_pointer"]
    assert types(detect_conflicts({}, items_of(NEW), [point(NEW), point(OLD, 1)])) == [
        "duplicate_pointer", "hash_mismatch",
    ]  # fmt: skip


@pytest.mark.parametrize("status", [DEPRECATED, SUPERSEDED])
def test_detect_status_change(status):
    found = detect_conflicts(store(OLD), items_of(make_item(text="old", status=status)), [point(OLD)])
    assert types(found) == ["hash_mismatch", "status_change"]
    assert found[1].suggested == "update_memory"
    assert found[1].detail == {"pointer": "accepted", "item": status.value}


def test_a_status_that_comes_into_force_is_a_mismatch_alone():
    before = make_item(status=SUPERSEDED)
    assert types(detect_conflicts(store(before), items_of(OLD), [point(before)])) == ["hash_mismatch"]


def test_detect_layer_mismatch():
    item = make_item(layer=Layer.COMPANY)
    conflict = only(detect_conflicts(store(item), items_of(item), [point(item, layer="team")]))
    assert (conflict.type, conflict.suggested) == ("layer_mismatch", "update_memory")
    assert conflict.detail == {"pointer": "team", "item": "company"}


def test_conflicts_come_by_item_whatever_the_order_of_pointers():
    items = [make_item(name) for name in "cab"]
    pointers = [point(item, hash="x") for item in items]
    found = detect_conflicts({}, items_of(*items), pointers)
    assert [conflict.item_id for conflict in found] == ["a", "b", "c"]
    assert detect_conflicts({}, items_of(*items), pointers[::-1]) == found


def test_the_key_of_a_conflict_is_that_of_the_same_conflict_later():
    first = only(detect_conflicts(store(OLD), items_of(NEW), [point(OLD)]))
    again = only(detect_conflicts(store(NEW), items_of(NEW), [point(OLD)]))
    other = only(detect_conflicts(store(NEW), items_of(make_item(text="newer")), [point(OLD)]))
    assert first.key == again.key != other.key


def test_every_type_has_a_default_that_can_be_done():
    assert set(DEFAULTS) == set(ConflictType)
    for conflict, default in DEFAULTS.items():
        assert default in allowed_resolutions(conflict)
        assert choose_resolution(conflict, {}) is default


def test_a_resolution_that_a_type_cannot_have_is_the_default():
    assert choose_resolution(ConflictType.ORPHANED_POINTER, {"orphaned_pointer": "update_memory"}) == "delete_memory"
    assert choose_resolution(ConflictType.HASH_MISMATCH, {"hash_mismatch": "delete_memory"}) == "update_memory"
    assert choose_resolution(ConflictType.HASH_MISMATCH, {"hash_mismatch": "surprise"}) == "update_memory"
    assert choose_resolution(ConflictType.HASH_MISMATCH, {"hash_mismatch": "manual"}) is Resolution.MANUAL
