"""Entries of several sources become one stream of groups."""

from datetime import UTC, datetime, timedelta

from apps.cockpit.activity.phrases import phrase
from apps.cockpit.domain.activity import Entry, Places, describe_actor, group, merge

NOON = datetime(2026, 5, 10, 12, tzinfo=UTC)


def entry(position: int, seconds: float = 0, source: str = "outbox", **fields: str) -> Entry:
    words = {"kind": "memories", "verb": "saved", "actor": "key:kitchen", "person": "ana", **fields}
    return Entry(at=NOON + timedelta(seconds=seconds), source=source, position=position, **words)


def test_entries_of_all_sources_are_in_the_order_of_time() -> None:
    notes = [entry(9, 30, "notes"), entry(8, 10, "notes")]
    assert [one.position for one in merge([[entry(5, 40), entry(4, 20)], notes])] == [5, 9, 4, 8]


def test_a_source_stays_in_the_order_of_its_positions() -> None:
    """Or the place after a page would skip an entry whose transaction was slow."""
    assert [one.position for one in merge([[entry(5, 10), entry(4, 20), entry(3, 15)]])] == [5, 4, 3]


def test_what_one_actor_did_for_one_person_is_one_group() -> None:
    entries = [entry(4, 300), entry(3, 200, person="ben"), entry(2, 100), entry(1, -900)]
    groups, taken = group(entries, 10)
    assert [(one.first.person, one.count) for one in groups] == [("ana", 2), ("ben", 1), ("ana", 1)]
    assert taken == entries


def test_a_page_ends_before_the_first_group_that_has_no_room() -> None:
    entries = [entry(3, 3), entry(2, 2, person="ben"), entry(1, 1, person="carl")]
    groups, taken = group(entries, 2)
    assert (len(groups), taken) == (2, entries[:2])


def test_places_are_read_back_and_junk_is_left_out() -> None:
    places = Places({}).moved([entry(7), entry(5), entry(9, source="notes")])
    assert str(places) == "notes.9_outbox.5"
    assert Places.parse(str(places)) == places
    assert Places.parse("x'; DROP_outbox.1e9_outbox.-4_🙂") == Places({})
    assert Places.parse("outbox." + "9" * 40) == Places({})


def test_actors_have_the_names_that_people_know() -> None:
    assert describe_actor("key:kitchen assistant") == ("kitchen assistant", "key")
    assert describe_actor("admin:rita") == ("rita", "person")
    assert describe_actor("system") == ("The hub", "hub")
    assert describe_actor("") == ("The hub", "hub")


def test_phrases_count() -> None:
    assert phrase("saved", 43, "ana", "") == "saved 43 memories of ana"
    assert phrase("saved", 1, "", "") == "saved a memory"
    assert phrase("rule", 1, "", "changed the rule {0}") == "changed the rule {0}"


def test_group_reaches_back_ten_minutes_and_no_longer() -> None:
    groups, _ = group([entry(3, 600), entry(2, 0)], 10)
    assert [one.count for one in groups] == [2]
    groups, _ = group([entry(3, 601), entry(2, 0)], 10)
    assert [one.count for one in groups] == [1, 1]
