"""Recording events: in order, once each, in a segment, with a hub event for each (spec 000, Record episodic event)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.core.domain.errors import ForbiddenError, InvalidInputError
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.alarms import Severity, WarningKind
from apps.episodic.domain.event import EventDraft, EventRecord, event_identity
from apps.episodic.models import Segment, TimelineEvent
from apps.episodic.recording.record import RecordAction, RecordResult, event_record, events_record
from apps.episodic.recording.rows import segment_close
from apps.episodic.warnings import warning_report
from apps.events.models import Event
from tests.effort import examples

pytestmark = pytest.mark.django_db

START = 1_770_000_000_000
NOW = to_datetime(START)
ANA = Scope("ana", "home", "chef")
Record = Callable[..., RecordResult]


@pytest.fixture
def clock() -> DeterministicClock:
    return DeterministicClock(START)


@pytest.fixture
def record(access: Access, clock: DeterministicClock) -> Record:
    """Record an event of ana's, of an hour ago unless the fields say otherwise."""

    def send(content: str = "tea", **fields: Any) -> RecordResult:
        return event_record(access=fields.pop("access", access), draft=draft(content, **fields), clock=clock)

    return send


def draft(content: str = "tea", **fields: Any) -> EventDraft:
    given = {"timestamp": NOW - timedelta(hours=1), "event_type": "message", "scope": ANA, **fields}
    return EventDraft(content=content, **given)


def stored(content: str = "tea") -> EventRecord:
    return TimelineEvent.objects.get(content=content).record


def payloads() -> list[dict[str, Any]]:
    return list(Event.objects.filter(name="memory:episodic:saved").order_by("id").values_list("payload", flat=True))


# --- the scenario -------------------------------------------------------------------------------------


def test_scenario_record_episodic_event_chronological_store(record: Record) -> None:
    first = record("tea", importance=0.9, source="skill", metadata={"cups": 2})
    second = record("earlier tea", timestamp=NOW - timedelta(days=2))
    assert [first.action, second.action] == [RecordAction.RECORDED] * 2
    assert [stored("tea"), stored("earlier tea")] == [first.record, second.record]
    assert first.record.arrival < second.record.arrival
    assert (first.record.importance, first.record.source, first.record.metadata) == (0.9, "skill", {"cups": 2})
    assert first.record.recorded_at == NOW
    assert second.record.order < first.record.order


def test_scenario_record_episodic_event_duplicates_are_skipped(record: Record) -> None:
    first = record("I like tea.")
    again = record("  i LIKE   tea!", importance=1.0, source="other", metadata={"new": True})
    assert again.action is RecordAction.DUPLICATE
    assert (again.record, again.segment) == (first.record, first.segment)
    others = [
        record("I like tea.", scope=Scope("ana", "home", "nurse")),
        record("I like tea.", scope=Scope("ana", "away", "chef")),
        record("I like tea.", scope=Scope("ben", "home", "chef")),
        record("I like tea.", scope=Scope("ana")),
        record("I like tea.", event_type="note"),
        record("I like tea.", timestamp=NOW),
    ]
    assert [other.action for other in others] == [RecordAction.RECORDED] * 6
    assert TimelineEvent.objects.count() == 7


def test_scenario_record_episodic_event_it_emits_saved(record: Record) -> None:
    result = record("tea", importance=0.7, source="skill", metadata={"not": "kept"})
    record("tea")
    segment = TimelineEvent.objects.get().segment.uuid
    assert result.segment == segment
    assert payloads() == [
        {
            "event_id": str(result.record.uuid),
            "user_id": "ana",
            "household_id": "home",
            "persona_id": "chef",
            "event_type": "message",
            "timestamp": (NOW - timedelta(hours=1)).isoformat(),
            "importance": 0.7,
            "content": "tea",
            "source": "skill",
            "segment_id": str(segment),
            "recorded_at": NOW.isoformat(),
            "actor": "test",
            "origin": "app",
        }
    ]


def test_scenario_saved_event_fan_out_names_the_segment(record: Record) -> None:
    first = record("tea")
    assert segment_close(segment_id=Segment.objects.get(state="open").pk)
    second = record("cake")
    assert first.segment != second.segment
    rows = {str(row.uuid): str(row.segment.uuid) for row in TimelineEvent.objects.select_related("segment")}
    assert {payload["event_id"]: payload["segment_id"] for payload in payloads()} == rows


# --- one event ----------------------------------------------------------------------------------------


def test_moment_is_kept_in_its_offset_to_microsecond(record: Record) -> None:
    there = datetime(2026, 1, 1, 3, 0, 0, 123457, tzinfo=timezone(timedelta(hours=9)))
    assert record(timestamp=there).record.timestamp.tzinfo == there.tzinfo
    assert stored().timestamp == there
    assert record(timestamp=there.astimezone(UTC)).action is RecordAction.DUPLICATE


@pytest.mark.parametrize("timestamp", [datetime.min.replace(tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 1, UTC)])
def test_events_of_long_ago_are_events(record: Record, timestamp: datetime) -> None:
    assert record(timestamp=timestamp).record == stored()


def test_the_words_are_kept_as_they_are(record: Record) -> None:
    content = ' a \t "quoted" \\ %s %(x)s {} \u2028 \U0001f375 caf\u00e9 \r\n'
    metadata = {"a": [1, 2.5, None, True, "\u00e9'\""], "\u00fc": {}}
    assert record(content, metadata=metadata).record == stored(content)
    assert stored(content).metadata == metadata


def test_an_identity_is_that_of_the_rule(record: Record) -> None:
    result = record()
    expected = event_identity(result.record.key, "message", result.record.timestamp, "tea")
    assert result.record.identity == stored().identity == expected


def test_bad_event_is_refused_with_its_field_and_leaves_nothing(record: Record) -> None:
    with pytest.raises(InvalidInputError, match="event type"):
        record(event_type="two words")
    with pytest.raises(InvalidInputError) as refusal:
        record(timestamp=NOW + timedelta(days=2))
    assert (refusal.value.attr, refusal.value.code) == ("timestamp", "in_the_future")
    assert not TimelineEvent.objects.exists()
    assert payloads() == []


def test_limit_of_contents_is_configured_one(record: Record, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, max_content_chars=1_000)
    record("x" * 1_000)
    with pytest.raises(InvalidInputError, match="at most 1000"):
        record("x" * 1_001)


def test_the_event_of_a_key_is_within_its_bound(record: Record) -> None:
    bound = Access(Scope(household_id="home", persona_id="chef"), Permission.WRITE, "key:kitchen")
    assert record(access=bound, scope=Scope("ana")).record.key == ("ana", "home", "chef")
    with pytest.raises(ForbiddenError):
        record(access=bound, scope=Scope("ana", "away"))
    with pytest.raises(InvalidInputError):
        record(access=bound, scope=Scope())


def test_event_without_user_is_default_users(record: Record, settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, default_user="me")
    assert record(scope=Scope()).record.key == ("me", "", "")


def test_what_is_rolled_back_was_never_recorded_nor_told(record: Record) -> None:
    with transaction.atomic():
        record()
        transaction.set_rollback(True)
    assert not TimelineEvent.objects.exists()
    assert payloads() == []
    assert record().action is RecordAction.RECORDED


def test_scenario_warning_escalation_recording_continues(record: Record) -> None:
    for kind in WarningKind:
        warning_report(kind=kind, severity=Severity.CRITICAL, detail="bad")
    assert record().action is RecordAction.RECORDED


# --- batches ------------------------------------------------------------------------------------------


def test_batch_answers_each_draft_in_order_and_bad_one_fails_alone(access: Access, clock: DeterministicClock) -> None:
    drafts = [draft("a"), draft("b", scope=Scope()), draft("A."), draft("c", importance=2.0), draft("d")]
    a, b, again, c, d = events_record(access=access, drafts=drafts, clock=clock)
    assert isinstance(b, InvalidInputError)
    assert isinstance(c, InvalidInputError)
    assert (b.attr, c.attr) == ("user_id", "importance")
    assert isinstance(a, RecordResult)
    assert isinstance(again, RecordResult)
    assert isinstance(d, RecordResult)
    assert (a.action, again.action, d.action) == ("recorded", "duplicate", "recorded")
    assert again.record == a.record == stored("a")
    assert [payload["content"] for payload in payloads()] == ["a", "d"]


def test_an_empty_batch_is_nothing(access: Access) -> None:
    assert events_record(access=access, drafts=[]) == []
    assert not Segment.objects.exists()


def test_arrivals_follow_the_order_of_a_batch(access: Access, clock: DeterministicClock) -> None:
    drafts = [draft(f"number {number}", timestamp=NOW - timedelta(seconds=number)) for number in range(300)]
    outcomes = events_record(access=access, drafts=drafts, clock=clock)
    arrivals = [outcome.record.arrival for outcome in outcomes if isinstance(outcome, RecordResult)]
    assert arrivals == list(range(arrivals[0], arrivals[0] + 300))
    assert [payload["content"] for payload in payloads()] == [event.content for event in drafts]


def test_what_was_recorded_before_takes_no_arrival_number(access: Access, clock: DeterministicClock) -> None:
    drafts = [draft(f"number {number}") for number in range(20)]
    events_record(access=access, drafts=drafts[:10], clock=clock)
    last = stored("number 9").arrival
    events_record(access=access, drafts=drafts[:10], clock=clock)
    events_record(access=access, drafts=drafts, clock=clock)
    assert [stored(f"number {number}").arrival for number in (10, 19)] == [last + 1, last + 10]


contents = st.sampled_from(["tea", "Tea!", "cake", "\u0130stanbul", "?", "..."])
batches = st.lists(
    st.lists(
        st.tuples(contents, st.sampled_from(["message", "note"]), st.integers(0, 1), st.sampled_from(["chef", None])),
        max_size=8,
    ),
    max_size=4,
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches)
def test_each_event_is_kept_once_as_first_recorded(
    access: Access, batches: list[list[tuple[str, str, int, str | None]]]
) -> None:
    clock, recorded = DeterministicClock(START), {}
    with transaction.atomic():
        for batch in batches:
            drafts = [
                draft(content, event_type=kind, timestamp=NOW - timedelta(seconds=ago), scope=Scope("ana", None, who))
                for content, kind, ago, who in batch
            ]
            outcomes = events_record(access=access, drafts=drafts, clock=clock)
            for event, outcome in zip(drafts, outcomes, strict=True):
                assert isinstance(outcome, RecordResult)
                is_new = outcome.record.identity not in recorded
                assert outcome.action == ("recorded" if is_new else "duplicate")
                first = recorded.setdefault(outcome.record.identity, event)
                assert (outcome.record.content, outcome.record.event_type) == (first.content, first.event_type)
        rows = {row.identity: row.content for row in TimelineEvent.objects.all()}
        assert rows == {identity: event.content for identity, event in recorded.items()}
        assert len(payloads()) == len(recorded)
        transaction.set_rollback(True)


# --- segments and metrics -----------------------------------------------------------------------------


def test_the_first_event_opens_a_segment(record: Record) -> None:
    assert not Segment.objects.exists()
    record()
    assert record("cake").segment == Segment.objects.get(state="open").uuid


@pytest.mark.django_db(transaction=True)
def test_segment_is_closed_when_it_has_had_its_number_of_events(record: Record, settings: Any) -> None:
    timeline = replace(settings.MEMORYHUB.timeline, segment_events=3)
    settings.MEMORYHUB = replace(settings.MEMORYHUB, timeline=timeline)
    segments = [record(f"number {number}").segment for number in range(7)]
    assert len(set(segments)) == 3
    assert [segments.count(segment) for segment in dict.fromkeys(segments)] == [3, 3, 1]
    assert Segment.objects.get(state="open").uuid == segments[-1]


def counted(action: str) -> float:
    return REGISTRY.get_sample_value("memoryhub_timeline_events_total", {"action": action}) or 0.0


@pytest.mark.django_db(transaction=True)
def test_the_metrics_count_what_was_committed(record: Record) -> None:
    before = counted("recorded"), counted("duplicate")
    record()
    record()
    with transaction.atomic():
        record("cake")
        transaction.set_rollback(True)
    assert (counted("recorded"), counted("duplicate")) == (before[0] + 1, before[1] + 1)


def test_logs_hold_no_content(record: Record, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="apps"):
        record("a secret word")
    assert "secret" not in caplog.text
