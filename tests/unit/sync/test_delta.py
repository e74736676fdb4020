"""Which items changed: spec 003, delta detection."""

from apps.sync.domain.items import derive_items
from apps.sync.domain.knowledge import Constraint, Severity
from apps.sync.domain.state import Delta, StoredItem, detect_delta
from tests.timing import assert_quick, seconds_of
from tests.unit.sync.examples import DEPRECATED, PROPOSED, items_of, make_file, make_item, store

OLD = make_item("ADR-0001")


def test_detect_new_knowledge_items():
    new = make_item("ADR-0002")
    assert detect_delta(store(OLD), items_of(new, OLD)) == Delta(added=("ADR-0002",), unchanged=("ADR-0001",))


def test_detect_updated_knowledge_items():
    assert detect_delta(store(OLD), items_of(make_item(text="other"))) == Delta(updated=("ADR-0001",))


def test_the_hash_of_an_updated_item_is_made_of_content_constraints_and_status():
    files = [
        make_file(),
        make_file(text="other"),
        make_file(status=PROPOSED),
        make_file(status=DEPRECATED),
        make_file(constraints=(Constraint("Use queues."),)),
        make_file(constraints=(Constraint("Use queues.", Severity.INFO),)),
        make_file(title="Another title"),
    ]
    hashes = {derive_items([file]).items["ADR-0001"].hash for file in files}
    assert len(hashes) == len(files)
    assert derive_items([make_file(path="elsewhere/x.md")]).items["ADR-0001"].hash in hashes


def test_detect_deleted_knowledge_items():
    assert detect_delta(store(OLD), {}) == Delta(deleted=("ADR-0001",))


def test_detect_unchanged_items():
    assert detect_delta(store(OLD), items_of(make_item("ADR-0001"))) == Delta(unchanged=("ADR-0001",))


def test_everything_is_new_where_nothing_was_stored():
    assert detect_delta({}, items_of(make_item("b"), make_item("a"))) == Delta(added=("a", "b"))


def many(count, text="new"):
    """Return as many items as a large repository has, and what a sync of them left; of a few contents."""
    contents = [make_item(text=f"{text} {number}") for number in range(10)]
    ids = [f"ADR-{number:06}" for number in range(count)]
    rows = [StoredItem(item.item_id, item.hash, item.status, item.layer, None) for item in contents]
    return {one: contents[int(one[-1])] for one in ids}, {one: rows[int(one[-1])] for one in ids}


def test_delta_detection_performance():
    items, unchanged = many(100_000)
    _, stored = many(150_000, text="old")
    stored.update(list(unchanged.items())[:50_000])
    for item_id in list(stored)[:10_000]:
        del stored[item_id]
    delta = detect_delta(stored, items)
    assert [len(ids) for ids in (delta.added, delta.updated, delta.deleted, delta.unchanged)] == [
        10_000, 50_000, 50_000, 40_000,
    ]  # fmt: skip
    assert_quick(lambda _: detect_delta(stored, items), "", 1)


def test_delta_detection_is_linear():
    def seconds(count):
        items, stored = many(count)
        return min(seconds_of(lambda: detect_delta(stored, items)) for _ in range(5))

    assert seconds(16_000) < 60 * seconds(1_000)
