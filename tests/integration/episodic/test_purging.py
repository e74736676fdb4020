"""A purge removes all events of a scope."""

from typing import Any

import pytest

from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.events import EventSaved
from apps.episodic.maintenance.archive import segment_archive
from apps.episodic.models import Segment
from apps.episodic.retention.purge import PurgeIncompleteError, events_purge, quarantined_files
from apps.episodic.store.files import set_aside
from apps.events.models import Event
from tests.integration.episodic.upkeep import (
    ACCESS,
    a_sealed_segment,
    an_archived_segment,
    archived,
    clock_at,
    contents,
    expected,
    files,
    hot,
    maintain,
    record,
)
from tests.segments import segment_path

pytestmark = pytest.mark.django_db

ANA, BEN = Scope("ana"), Scope("ben")


def purge(scope: Scope = ANA, **options: Any) -> Any:
    return events_purge(access=ACCESS, scope=scope, clock=clock_at(0.1), **options)


def saved() -> dict[str, str]:
    """What the outbox still says, by user."""
    payloads = Event.objects.filter(name=EventSaved.name).order_by("id").values_list("payload", flat=True)
    return {payload["user_id"]: payload["content"] for payload in payloads}


def test_rows_and_archived_events_go_and_everybody_elses_stay() -> None:
    an_archived_segment([1, 2], scope=ANA)
    an_archived_segment([3], scope=BEN)
    a_sealed_segment([4], scope=ANA)
    record([5, 6], scope=ANA)
    record([7], scope=BEN)
    report = purge()
    assert (report.rows, report.archived, report.events) == (3, 2, 5)
    assert contents() == expected([3, 7])
    maintain(days=0.2)
    assert contents() == expected([3, 7])


def test_events_of_file_that_others_share_are_taken_out_of_it() -> None:
    record([1], scope=ANA)
    an_archived_segment([2], scope=BEN)
    purge()
    maintain(days=0.2)
    [name] = files()
    assert b"ana" not in segment_path(name).read_bytes()
    assert [event.key.user_id for event in archived()] == ["ben"]


def test_only_what_every_named_identifier_matches_goes() -> None:
    an_archived_segment([1], scope=Scope("ana", "home"))
    record([2], scope=Scope("ana", "home", "clerk"))
    record([3], scope=Scope("ana"))
    assert purge(Scope("ana", "home")).events == 2
    assert contents() == expected([3])


def test_its_hub_events_name_the_actor() -> None:
    an_archived_segment([1], scope=ANA)
    uuid = archived()[0].uuid
    purge()
    payload = Event.objects.get(name="memory:episodic:pruned").payload
    assert (payload["event_ids"], payload["reason"], payload["actor"]) == ([str(uuid)], "manual", "test")


def test_what_the_outbox_says_of_them_is_emptied() -> None:
    record([1], scope=ANA)
    record([2], scope=BEN)
    purge()
    assert saved() == {"ana": "", "ben": "event 2"}


def test_purge_is_within_bound_of_caller() -> None:
    record([1], scope=ANA)
    ben = Access(BEN, Permission.WRITE, "key:ben")
    with pytest.raises(ForbiddenError):
        events_purge(access=ben, scope=ANA)
    with pytest.raises(InvalidInputError):
        events_purge(access=ACCESS, scope=Scope(household_id="home"))
    assert contents() == expected([1])


def test_rows_of_interrupted_archiving_go_as_well() -> None:
    segment = a_sealed_segment([1, 2], scope=ANA)
    segment_archive(segment, clock=clock_at())
    assert purge().archived == 2
    assert (hot(), Segment.objects.get(pk=segment.pk).events.count()) == ([], 0)


def test_while_damaged_segment_may_hold_events_nothing_is_removed_and_that_is_said() -> None:
    segment = an_archived_segment([1, 2], scope=ANA)
    Segment.objects.filter(pk=segment.pk).update(state="quarantined")
    record([3], scope=ANA)
    with pytest.raises(PurgeIncompleteError, match="nothing was removed"):
        purge()
    assert contents() == expected([3])


def test_file_that_turns_out_to_be_damaged_makes_it_say_that_something_is_left() -> None:
    segment = an_archived_segment([1, 2], scope=ANA)
    segment_path(segment.file_name).unlink()
    record([3], scope=ANA)
    with pytest.raises(PurgeIncompleteError, match="1 events were removed, but not all"):
        purge()
    assert contents() == expected([])


def test_purge_is_bounded_in_time_and_goes_on_later() -> None:
    an_archived_segment([1, 2], scope=ANA)
    assert not purge(seconds=0).finished
    report = purge(seconds=60)
    assert (report.finished, report.events) == (True, 2)


def test_a_purge_that_finds_nothing_is_no_error() -> None:
    assert purge().events == 0


def test_files_that_were_set_aside_are_named() -> None:
    segment = an_archived_segment([1], scope=ANA)
    set_aside(segment.file_name)
    assert quarantined_files() == (segment.file_name,)
