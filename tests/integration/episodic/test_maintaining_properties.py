"""Whatever is done to a timeline in whatever order, what counts is what a list would hold (issue: the timeline)."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from hypothesis import HealthCheck
from hypothesis import settings as rules
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from apps.core.domain.scope import Scope
from apps.episodic.domain.event import EventDraft
from apps.episodic.maintenance import archive, remove
from apps.episodic.maintenance.archive import segment_archive, segments_to_archive
from apps.episodic.maintenance.doctor import timeline_doctor
from apps.episodic.maintenance.run import timeline_compact, timeline_maintain, timeline_seal
from apps.episodic.models import RetentionPolicy, Segment
from apps.episodic.recording.record import RecordAction, events_record
from apps.episodic.recording.rows import segment_close
from apps.episodic.retention.prune import timeline_prune
from apps.episodic.retention.purge import events_purge
from apps.episodic.store.file_cache import reset_archive_cache
from apps.events.models import Event
from tests.effort import examples
from tests.integration.episodic.upkeep import ACCESS, START, archived, clock_at, hot

pytestmark = pytest.mark.django_db

USERS = ("ana", "ben")
HOUSEHOLDS = (None, "home")
numbers = st.integers(0, 59)


def draft(number: int) -> EventDraft:
    """The event of this number; the numbers are not in the order of time."""
    scope = Scope(USERS[number % 2], HOUSEHOLDS[number // 2 % 2])
    return EventDraft(timestamp=moment(number), event_type="message", content=f"event {number}", scope=scope)


def moment(number: int) -> datetime:
    return START - timedelta(days=number * 7 % 60)


class Timeline(RuleBasedStateMachine):
    """A timeline in one transaction, which is rolled back in the end, and the list that it should be."""

    def __init__(self) -> None:
        super().__init__()
        self._directory = tempfile.TemporaryDirectory()
        settings.TIMELINE_DIR = Path(self._directory.name)
        self._atomic = transaction.atomic()
        # As around the tests themselves: what maintenance does asks for the outermost transaction.
        self._atomic._from_testcase = True  # type: ignore[attr-defined]
        self._atomic.__enter__()
        RetentionPolicy.objects.all().delete()
        reset_archive_cache()
        self.days = 0.0
        self.held: dict[int, str] = {}
        self.gone: list[str] = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._atomic.__exit__(None, None, None)
        reset_archive_cache()
        self._directory.cleanup()

    @property
    def clock(self) -> Any:
        return clock_at(self.days)

    # What users do

    @rule(given=st.lists(numbers, min_size=1, max_size=12))
    def record(self, given: list[int]) -> None:
        outcomes = events_record(access=ACCESS, drafts=[draft(number) for number in given], clock=self.clock)
        for number, outcome in zip(given, outcomes, strict=True):
            assert not isinstance(outcome, Exception)
            assert (outcome.action is RecordAction.DUPLICATE) == (number in self.held)
            self.held.setdefault(number, str(outcome.record.uuid))
            assert self.held[number] == str(outcome.record.uuid), "a duplicate is answered with the first"

    @rule(user=st.sampled_from(USERS), household=st.sampled_from(HOUSEHOLDS))
    def purge(self, user: str, household: str | None) -> None:
        scope = Scope(user, household)
        events_purge(access=ACCESS, scope=scope, clock=self.clock)
        self._let_go(lambda number: in_scope(number, scope))

    # What time does

    @rule(hours=st.sampled_from([1, 24, 100, 200]))
    def wait(self, hours: int) -> None:
        self.days += hours / 24

    @rule()
    def restart(self) -> None:
        reset_archive_cache()

    # What maintenance does

    @rule()
    def maintain(self) -> None:
        assert not timeline_maintain(clock=self.clock).failures

    @rule()
    def close(self) -> None:
        for segment in Segment.objects.filter(state="open"):
            segment_close(segment_id=segment.pk, clock=self.clock)

    @rule()
    def seal(self) -> None:
        assert not timeline_seal(clock=self.clock).failures

    @rule()
    def archive_without_removing_the_rows(self) -> None:
        for segment in segments_to_archive(START + timedelta(days=10_000))[:1]:
            segment_archive(segment, clock=self.clock)

    @rule()
    def compact(self) -> None:
        assert not timeline_compact(clock=self.clock).failures

    @rule(household=st.sampled_from(["", "home"]), days=st.integers(20, 80), is_enabled=st.booleans())
    def change_policy(self, household: str, days: int, is_enabled: bool) -> None:
        values = {"days": days, "is_enabled": is_enabled}
        RetentionPolicy.objects.update_or_create(household_id=household, defaults=values)

    @rule()
    def prune(self) -> None:
        assert not timeline_prune(clock=self.clock).failures
        policies = {policy.household_id: policy for policy in RetentionPolicy.objects.all()}

        def is_expired(number: int) -> bool:
            policy = policies.get(draft(number).scope.household_id or "", policies.get(""))
            if policy is None or not policy.is_enabled:
                return False
            return moment(number) < START + timedelta(days=self.days) - timedelta(days=policy.days)

        self._let_go(is_expired)

    def _let_go(self, is_gone: Any) -> None:
        self.gone += [self.held.pop(number) for number in list(self.held) if is_gone(number)]

    # What must hold

    @invariant()
    def what_counts_is_what_a_list_would_hold(self) -> None:
        counted = sorted((event.content, str(event.uuid)) for event in [*hot(), *archived()])
        assert counted == sorted((f"event {number}", uuid) for number, uuid in self.held.items())

    @invariant()
    def each_removal_was_emitted_once(self) -> None:
        payloads = Event.objects.filter(name="memory:episodic:pruned").values_list("payload", flat=True)
        assert sorted(uuid for payload in payloads for uuid in payload["event_ids"]) == sorted(self.gone)

    @rule()
    def a_doctor_finds_nothing_once_maintenance_was_there(self) -> None:
        timeline_maintain(clock=self.clock)
        assert timeline_doctor(clock=self.clock).findings == []


def in_scope(number: int, scope: Scope) -> bool:
    own = draft(number).scope
    return all(getattr(own, name) == value for name, value in scope.named().items())


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small segments and small batches, so that few events take many steps."""
    before = settings.MEMORYHUB, settings.TIMELINE_DIR
    settings.MEMORYHUB = replace(before[0], timeline=replace(before[0].timeline, segment_events=10))
    monkeypatch.setattr(archive, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(remove, "ROWS_AT_ONCE", 3)
    yield
    settings.MEMORYHUB, settings.TIMELINE_DIR = before


def test_whatever_is_done_in_whatever_order_nothing_is_lost_or_doubled(small_parts: None) -> None:
    run_state_machine_as_test(
        Timeline,
        settings=rules(
            max_examples=examples(12),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
