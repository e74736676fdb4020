"""From files to items: ids, references, status."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sync.domain.items import derive_items
from apps.sync.domain.knowledge import ItemStatus, ItemType
from tests.unit.sync.examples import ACCEPTED, DEPRECATED, DRAFT, PROPOSED, REJECTED, SUPERSEDED, make_file


def derive(*files):
    return derive_items(files).items


def test_an_item_has_what_its_file_says():
    item = derive(make_file("ADR-0007", tags=("queues",)))["ADR-0007"]
    assert (item.path, item.title, item.tags, item.status) == (
        "adr/ADR-0007.md", "Title of ADR-0007", ("queues",), ACCEPTED,
    )  # fmt: skip
    assert len(item.hash) == 64


def test_the_first_path_has_an_id_that_several_files_claim():
    files = [make_file("adr-1", "z.md"), make_file("ADR-1", "a.md"), make_file("ADR-1", "b.md")]
    for order in itertools.permutations(files):
        derived = derive_items(order)
        assert [item.path for item in derived.items.values()] == ["a.md"]
        assert [(one.path, one.code) for one in derived.refused] == [("b.md", "duplicate_id"), ("z.md", "duplicate_id")]
        assert all("a.md" in one.detail for one in derived.refused)


def test_ids_are_compared_as_people_read_them():
    composed, decomposed = "ENTSCHEIDUNG-\u00fc", "Entscheidung-u\u0308"
    assert len(derive_items([make_file(composed, "a.md"), make_file(decomposed, "b.md")]).refused) == 1


def test_a_refusal_names_long_paths_briefly():
    files = [make_file("x", "a" * 600), make_file("x", "b" * 600)]
    assert len(derive_items(files).refused[0].detail) <= 500


def test_an_accepted_item_supersedes_what_it_names():
    items = derive(make_file("ADR-1"), make_file("ADR-2", supersedes=("ADR-1",)))
    assert (items["ADR-1"].status, items["ADR-1"].superseded_by) == (SUPERSEDED, ("ADR-2",))
    assert items["ADR-2"].supersedes == ("ADR-1",)
    assert items["ADR-1"].hash != derive(make_file("ADR-1"))["ADR-1"].hash


@pytest.mark.parametrize("status", [DRAFT, PROPOSED, REJECTED])
def test_what_was_never_accepted_supersedes_nothing(status):
    items = derive(make_file("ADR-1"), make_file("ADR-2", status=status, supersedes=("ADR-1",)))
    assert (items["ADR-1"].status, items["ADR-1"].superseded_by) == (ACCEPTED, ())
    assert items["ADR-2"].supersedes == ("ADR-1",)


@pytest.mark.parametrize("status", [DEPRECATED, SUPERSEDED])
def test_what_was_superseded_stays_so_after_the_end_of_its_successor(status):
    items = derive(make_file("ADR-1"), make_file("ADR-2", status=status, supersedes=("ADR-1",)))
    assert items["ADR-1"].status == SUPERSEDED


@pytest.mark.parametrize("status", [DRAFT, PROPOSED, ACCEPTED, REJECTED])
def test_what_a_file_says_of_itself_counts_whatever_its_successor_is(status):
    items = derive(make_file("ADR-1", superseded_by=("ADR-2",)), make_file("ADR-2", status=status))
    assert (items["ADR-1"].status, items["ADR-1"].superseded_by) == (SUPERSEDED, ("ADR-2",))
    assert items["ADR-2"].supersedes == ("ADR-1",)


def test_a_successor_in_no_file_stays_as_it_is_written():
    item = derive(make_file("ADR-1", superseded_by=("  RFC 9110\n section 4 ",)))["ADR-1"]
    assert (item.status, item.superseded_by) == (SUPERSEDED, ("RFC 9110 section 4",))


def test_of_two_readings_of_a_path_the_one_that_names_an_item_counts():
    items = derive(make_file("ADR-1", superseded_by=("adr/adr/ADR-2.md", "adr/ADR-2.md")), make_file("ADR-2"))
    assert items["ADR-1"].superseded_by == ("ADR-2",)


def test_what_was_rejected_is_not_superseded_but_names_what_came_instead():
    items = derive(make_file("ADR-1", status=REJECTED), make_file("ADR-2", supersedes=("ADR-1",)))
    assert (items["ADR-1"].status, items["ADR-1"].superseded_by) == (REJECTED, ("ADR-2",))


def test_an_item_does_not_supersede_itself():
    item = derive(make_file("ADR-1", supersedes=("ADR-1",), superseded_by=("adr-1",)))["ADR-1"]
    assert (item.status, item.supersedes, item.superseded_by) == (ACCEPTED, (), ())


def test_cycles_end():
    ring = [make_file(f"ADR-{number}", supersedes=(f"ADR-{(number + 1) % 3}",)) for number in range(3)]
    assert {item.status for item in derive(*ring).values()} == {SUPERSEDED}


@pytest.mark.parametrize(
    "reference",
    [
        "ADR-0012", "adr-0012", "ADR-12", "adr 12", "ADR 0012: Use queues", "12", "#12", "0012",
        "platform/adr/0012-use-queues.md", "/platform/adr/0012-use-queues.md", "../adr/0012-use-queues.md",
        "0012-use-queues.md", "./0012-use-queues.md#decision", "0012-use-queues", "0012-Use%2Dqueues.md", "queues",
    ],
)  # fmt: skip
def test_a_reference_is_an_id_a_path_a_name_or_a_number(reference):
    target = make_file("ADR-0012", "platform/adr/0012-use-queues.md", aliases=("queues",))
    items = derive(target, make_file("ADR-0020", "platform/adr/0020-use-streams.md", supersedes=(reference,)))
    assert items["ADR-0012"].superseded_by == ("ADR-0020",)


@pytest.mark.parametrize(
    "reference",
    [
        "ADR-13",
        "PEP-12",
        "",
        "..",
        "none",
        "12.5.2024",
        "https://example.org/platform/adr/0012-use-queues.md",
        "2024-01-12",
    ],
)
def test_a_reference_to_nothing_is_left_out(reference):
    target = make_file("ADR-0012", "platform/adr/0012-use-queues.md")
    items = derive(target, make_file("ADR-0020", "platform/adr/0020-use-streams.md", supersedes=(reference,)))
    assert items["ADR-0020"].supersedes == ()


def test_a_number_means_the_item_in_the_same_folder():
    files = [
        make_file("a/ADR-1", "a/adr/0001-x.md"),
        make_file("b/ADR-1", "b/adr/0001-y.md"),
        make_file("a/ADR-2", "a/adr/0002-z.md", supersedes=("ADR-1",)),
    ]
    items = derive(*files, make_file("notes", "notes.md", supersedes=("ADR-1",)))
    assert items["a/ADR-2"].supersedes == ("a/ADR-1",)
    assert items["notes"].supersedes == ()


def test_an_id_binds_more_strongly_than_the_file_name_of_another():
    files = [make_file("queues", "a.md"), make_file("other", "queues.md"), make_file("new", supersedes=("queues",))]
    assert derive(*files)["new"].supersedes == ("queues",)


def test_a_number_alone_belongs_to_the_type_of_its_item():
    files = [make_file("a", "0003-a.md", type=ItemType.SPEC), make_file("new", supersedes=("adr-3", "spec-3"))]
    assert derive(*files)["new"].supersedes == ("a",)


def test_the_basis_of_pointers_is_part_of_each_hash():
    hashes = {derive_items([make_file()], basis).items["ADR-0001"].hash for basis in ("", "one", "other")}
    assert len(hashes) == 3


NAMES = st.sampled_from(["1", "ADR-1", "adr-1", "ADR-2", "2", "ADR-3", "x", "a/1.md", "b/1.md", "1.md", "none"])
FILES = st.lists(
    st.builds(
        make_file,
        item_id=NAMES,
        path=st.sampled_from([f"{folder}/{name}.md" for folder in "ab" for name in "1234"]),
        status=st.sampled_from(ItemStatus),
        supersedes=st.lists(NAMES, max_size=3).map(tuple),
        superseded_by=st.lists(NAMES, max_size=2).map(tuple),
        aliases=st.lists(NAMES, max_size=2).map(tuple),
    ),
    unique_by=lambda file: file.path,
    max_size=8,
)


@given(FILES, st.randoms(use_true_random=False))
def test_items_do_not_depend_on_the_order_of_files(files, random):
    derived = derive_items(files)
    assert list(derived.items) == sorted(derived.items)
    assert len(derived.items) + len(derived.refused) == len(files)
    shuffled = list(files)
    random.shuffle(shuffled)
    assert derive_items(shuffled) == derived


@given(FILES)
def test_relations_are_between_items_and_never_to_itself(files):
    items = derive_items(files).items
    for item in items.values():
        assert item.item_id not in (*item.supersedes, *item.superseded_by)
        assert set(item.supersedes) <= set(items)
        assert bool(item.superseded_by) <= (item.status in (SUPERSEDED, REJECTED))
        for other in set(item.superseded_by) & set(items):
            assert item.item_id in items[other].supersedes
