"""Events are removed by their policy, with hub events (spec 000, Retention policy, Pruned event reconciliation)."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from apps.core.domain.scope import Scope
from apps.episodic.domain import retention
from apps.episodic.maintenance import archive, remove
from apps.episodic.maintenance.doctor import segment_verify
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.retention.prune import prune_preview, timeline_prune
from apps.episodic.warnings import active_warnings
from apps.events.models import Event
from tests.integration.episodic.upkeep import (
    START,
    a_sealed_segment,
    an_archived_segment,
    archived,
    clock_at,
    contents,
    draft,
    expected,
    files,
    hot,
    maintain,
    record,
    states,
)
from tests.segments import segment_path

pytestmark = pytest.mark.django_db

MINUTE = 1 / 1_440


def switch_on(days: int = 90, household: str = "") -> RetentionPolicy:
    policy, _ = RetentionPolicy.objects.update_or_create(
        household_id=household, defaults={"days": days, "is_enabled": True}
    )
    return policy


def pruned() -> list[dict[str, Any]]:
    return list(Event.objects.filter(name="memory:episodic:pruned").order_by("id").values_list("payload", flat=True))


def told_ids() -> list[str]:
    return sorted(uuid for payload in pruned() for uuid in payload["event_ids"])


def prune(days: float) -> Any:
    return timeline_prune(clock=clock_at(days))


def test_scenario_retention_policy_the_prepared_one_of_90_days_is_off_and_deletes_nothing() -> None:
    [policy] = RetentionPolicy.objects.all()
    assert (policy.household_id, policy.days, policy.is_enabled) == ("", 90, False)
    an_archived_segment(range(5))
    record(range(5, 8))
    report = prune(days=10_000)
    assert (report.events, report.finished) == (0, True)
    assert contents() == expected(range(8))
    policy.refresh_from_db()
    assert (policy.last_run_at, policy.last_pruned_count) == (None, None)


def test_scenario_retention_policy_expired_segments_are_pruned_and_the_number_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = switch_on()
    an_archived_segment(range(5))
    record(range(5, 8))
    caplog.set_level(logging.INFO, "apps.episodic")
    report = prune(days=91)
    assert (report.rows, report.archived, report.segments, report.events) == (3, 5, 1, 8)
    assert contents() == expected([])
    assert states()[0] == "pruned"
    assert "8 events were removed for good (retention): 3 rows, 5 from 1 files" in caplog.text
    assert "event 1" not in caplog.text, "no content"
    policy.refresh_from_db()
    assert (policy.last_run_at, policy.last_pruned_count) == (START + timedelta(days=91), 8)


def test_only_what_is_expired_goes_from_rows_and_files() -> None:
    switch_on()
    an_archived_segment(range(10))
    record(range(10, 20))
    assert prune(days=90 + 5 * MINUTE).events == 5
    assert contents() == expected(range(5, 20))
    assert prune(days=90 + 15 * MINUTE).events == 10
    assert contents() == expected(range(15, 20))


def test_scenario_pruned_event_reconciliation_emits_ids_and_hashes() -> None:
    switch_on()
    an_archived_segment(range(3), scope=Scope("ana", "home", "clerk"))
    record([3], scope=Scope("ben"))
    before = {str(event.uuid): event.identity.hex for event in [*hot(), *archived()]}
    prune(days=100)
    messages = pruned()
    assert {
        (payload["user_id"], payload["household_id"], payload["persona_id"], len(payload["event_ids"]))
        for payload in messages
    } == {("ana", "home", "clerk", 3), ("ben", None, None, 1)}
    for payload in messages:
        assert payload["hashes"] == [before[uuid] for uuid in payload["event_ids"]]
        assert (payload["reason"], payload["actor"]) == ("retention", "retention")
        assert payload["at"] == (START + timedelta(days=100)).isoformat()
    assert told_ids() == sorted(before)


def test_message_names_bounded_number_of_events_of_one_scope() -> None:
    assert retention.MAX_PRUNED_IDS == 500
    switch_on()
    ids = [str(uuid) for uuid in record(range(1_100), scope=Scope("ana"))]
    ids += [str(uuid) for uuid in record(range(1_100, 1_103), scope=Scope("ben"))]
    maintain()
    prune(days=100)
    assert max(len(payload["event_ids"]) for payload in pruned()) == 500
    assert told_ids() == sorted(ids)


def test_messages_about_file_are_bounded_as_well() -> None:
    switch_on()
    an_archived_segment(range(1_001), scope=Scope("ana"))
    ids = [str(event.uuid) for event in archived()]
    prune(days=100)
    assert [len(payload["event_ids"]) for payload in pruned()] == [500, 500, 1]
    assert told_ids() == sorted(ids)


def test_policy_of_household_beats_global_one() -> None:
    switch_on(90)
    switch_on(30, "short")
    switch_on(365, "long")
    RetentionPolicy.objects.create(household_id="ever", days=1, is_enabled=False)
    for number, household in enumerate(["short", "long", "ever", "none", ""]):
        an_archived_segment([number], scope=Scope("ana", household or None))
        record([100 + number], scope=Scope("ana", household or None))

    def left(days: float) -> list[str]:
        prune(days)
        return sorted(event.key.household_id for event in [*hot(), *archived()])

    assert left(31) == ["", "", "ever", "ever", "long", "long", "none", "none"]
    assert left(91) == ["ever", "ever", "long", "long"]
    assert left(400) == ["ever", "ever"]
    counts = RetentionPolicy.objects.values_list("household_id", "last_pruned_count")
    assert dict(counts) == {"": 0, "short": 0, "long": 2, "ever": None}, "of the last run"


def test_household_without_policy_keeps_everything_while_global_one_is_off() -> None:
    switch_on(30, "short")
    record([1], scope=Scope("ana", "short"))
    record([2], scope=Scope("ana"))
    record([3], scope=Scope("ana", "other"))
    assert prune(days=1_000).events == 1
    assert contents() == expected([2, 3])


def test_dry_run_says_what_would_go_and_changes_nothing() -> None:
    switch_on()
    an_archived_segment(range(10))
    record(range(10, 13))
    before = files()
    preview = prune_preview(clock=clock_at(90 + 11.5 * MINUTE))
    assert (preview.rows, preview.archived, preview.segments) == (2, 10, 1)
    assert prune_preview(clock=clock_at(90 + 4.5 * MINUTE)).archived == 5
    assert (contents(), files(), pruned()) == (expected(range(13)), before, [])
    assert prune(90 + 11.5 * MINUTE).events == preview.events


def test_dry_run_counts_files_that_it_cannot_read_and_leaves_them_in_service() -> None:
    switch_on()
    segment = an_archived_segment(range(10))
    segment_path(segment.file_name).write_bytes(b"not a segment at all" * 100)
    assert prune_preview(clock=clock_at(100)).damaged == 1
    segment.refresh_from_db()
    assert segment.state == "archived"


def test_segment_of_which_some_is_left_is_replaced() -> None:
    switch_on()
    segment = an_archived_segment(range(10))
    prune(days=90 + 5 * MINUTE)
    segment.refresh_from_db()
    assert segment.state == "compacted"
    assert segment.replaced_by is not None
    assert (segment.replaced_by.state, segment.replaced_by.event_count) == ("archived", 5)
    maintain(days=100)
    assert files() == {segment.replaced_by.file_name}


def test_sealed_segment_that_loses_rows_is_sealed_again() -> None:
    switch_on()
    segment = a_sealed_segment(range(10))
    old = files()
    prune(days=90 + 5 * MINUTE)
    segment.refresh_from_db()
    assert (segment.state, segment.sha256) == ("sealing", "")
    assert files() == set(), "what the file said is gone at once"
    maintain(days=90 + 5 * MINUTE)
    segment.refresh_from_db()
    assert (segment.event_count, contents()) == (5, expected(range(5, 10)))
    assert files() != old
    assert len(files()) == 1


def test_sealed_segment_that_loses_all_its_rows_is_ended() -> None:
    switch_on()
    a_sealed_segment(range(3))
    prune(days=91)
    maintain(days=91)
    assert states() == ["pruned", "open"]
    assert files() == set()


def test_rows_left_by_archiving_are_not_emitted_twice() -> None:
    switch_on()
    segment = a_sealed_segment(range(10))
    archive.segment_archive(segment, clock=clock_at())
    report = prune(days=91)
    assert (report.rows, report.archived) == (0, 10)
    assert len(told_ids()) == 10
    assert contents() == expected([])


def test_rows_go_in_batches_each_with_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remove, "ROWS_AT_ONCE", 4)
    switch_on()
    record(range(10), scope=Scope("ana"))
    assert prune(days=91).rows == 10
    assert [len(payload["event_ids"]) for payload in pruned()] == [4, 4, 2]


def test_run_is_bounded_in_time_and_its_continuation_goes_on_counting() -> None:
    policy = switch_on()
    for number in range(3):
        an_archived_segment(range(number * 10, number * 10 + 5))
    assert not timeline_prune(clock=clock_at(100), seconds=0).finished
    report = timeline_prune(clock=clock_at(100), seconds=60, resume=True)
    assert (report.finished, report.events) == (True, 15)
    policy.refresh_from_db()
    assert policy.last_pruned_count == 15
    timeline_prune(clock=clock_at(101))
    policy.refresh_from_db()
    assert policy.last_pruned_count == 0, "the next run begins at zero"


def test_damaged_file_is_put_into_quarantine_and_others_are_pruned() -> None:
    switch_on()
    bad = an_archived_segment(range(5))
    an_archived_segment(range(5, 10))
    segment_path(bad.file_name).unlink()
    report = prune(days=90 + 8 * MINUTE)
    assert (report.archived, report.damaged) == (3, 1)
    bad.refresh_from_db()
    assert bad.state == "quarantined"
    assert contents() == expected([8, 9])


def test_an_expired_damaged_segment_is_ended() -> None:
    switch_on()
    bad = an_archived_segment(range(400))
    before = {str(event.uuid) for event in archived()}
    path = segment_path(bad.file_name)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    segment_verify(segment_id=bad.pk)
    assert prune(days=90).events == 0, "some of it might be younger"
    report = prune(days=91)
    bad.refresh_from_db()
    assert bad.state == "pruned"
    assert 0 < report.archived == len(told_ids()) == 400 - bad.lost_count < 400
    assert set(told_ids()) < before
    assert not active_warnings().exists()
    maintain(days=92)
    assert files() == set()


def test_missing_segment_of_which_everything_is_expired_is_ended() -> None:
    switch_on()
    bad = an_archived_segment(range(5))
    segment_path(bad.file_name).unlink()
    segment_verify(segment_id=bad.pk)
    prune(days=91)
    bad.refresh_from_db()
    assert (bad.state, bad.lost_count, pruned()) == ("pruned", 5, [])


def test_file_that_holds_another_number_of_events_than_is_known_is_left_alone() -> None:
    switch_on()
    segment = an_archived_segment(range(5))
    Segment.objects.filter(pk=segment.pk).update(event_count=6)
    assert prune(days=91).events == 0
    assert pruned() == []


def test_what_was_pruned_may_be_recorded_again() -> None:
    switch_on()
    an_archived_segment(range(5))
    prune(days=91)
    assert len(record(range(5))) == 5
    assert contents() == expected(range(5))


def test_late_events_expire_by_when_they_happened() -> None:
    switch_on()
    record([1], timestamp=START - timedelta(days=365), clock=clock_at())
    record([2], clock=clock_at())
    assert draft(2).timestamp > START
    assert prune(days=1).events == 1
    assert contents() == expected([2])
