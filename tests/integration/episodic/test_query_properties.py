"""Whatever is recorded, sealed, archived, merged, pruned and restarted in whatever order: queries answer as a list."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from apps.core.domain.clock import DeterministicClock
from apps.core.domain.scope import Access, Permission, Scope
from apps.episodic.domain.event import EventDraft, EventRecord, ScopeKey
from apps.episodic.domain.segment_state import RowsState, SegmentState
from apps.episodic.maintenance import archive
from apps.episodic.maintenance.archive import rows_drop, segments_to_drop
from apps.episodic.models import RetentionPolicy
from apps.episodic.recording.record import RecordResult, events_record
from apps.episodic.retention.prune import timeline_prune
from apps.episodic.retention.purge import events_purge
from apps.episodic.store.file_cache import reset_archive_cache
from tests.effort import examples
from tests.integration.episodic.records import NOW
from tests.integration.episodic.timeline import SYSTEM, Timeline, segments

pytestmark = pytest.mark.django_db

SCOPES = [
    Scope("ana"), Scope("ana", "home"), Scope("ana", "home", "chef"), Scope("ana", None, "chef"),
    Scope("ben", "home"), Scope("ben", None, "chef"), Scope("Ana\u00e9\U0001f600"),
]  # fmt: skip
ASKED = [*SCOPES, Scope(), Scope(household_id="home"), Scope(persona_id="chef"), Scope("cem")]
BOUNDS = [Scope(), Scope(), Scope("ana"), Scope(household_id="home"), Scope("ben", None, "chef")]
TYPES = ["message", "visit", "order"]
OWNERS = st.lists(st.sampled_from(["ana", "ben", "cem"]), max_size=2).map(tuple)
# Of the first two, one is taken for the other.
CONTENTS = ["Green tea", "green tea!", "By the lake", "Letter from Porto"]

# Few moments, so that many events share one, some of them a microsecond apart.
moments = st.builds(
    lambda minutes, ticks: NOW + timedelta(minutes=minutes, microseconds=ticks), st.integers(-4, 0), st.integers(0, 1)
)
drafts = st.builds(
    EventDraft,
    timestamp=moments,
    event_type=st.sampled_from(TYPES),
    content=st.sampled_from(CONTENTS),
    scope=st.sampled_from(SCOPES),
)
windows = st.tuples(st.none() | moments, st.none() | moments).map(
    lambda ends: ends if None in ends else tuple(sorted(ends))  # type: ignore[type-var]
)


class Question(NamedTuple):
    """A query, the bound of the key that asks, and who is granted and included besides."""

    scope: Scope = Scope()
    bound: Scope = Scope()
    window: tuple[datetime | None, datetime | None] = (None, None)
    types: tuple[str, ...] = ()
    top_k: int = 50
    reads: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    @property
    def owners(self) -> set[str]:
        """Who is included and may be."""
        return {one for one in self.include if one in self.reads or self.bound in (Scope(), Scope(one))}


questions = st.builds(
    Question,
    scope=st.sampled_from(ASKED),
    bound=st.sampled_from(BOUNDS),
    window=windows,
    types=st.lists(st.sampled_from(TYPES), max_size=2, unique=True).map(tuple),
    top_k=st.integers(1, 12),
    reads=OWNERS,
    include=OWNERS,
)


class KilledError(Exception):
    """Simulate the end of the process."""


def sameness(event: EventDraft | EventRecord) -> tuple[Any, ...]:
    """By what two events are the same one, in the terms of this test's contents."""
    key = event.key if isinstance(event, EventRecord) else ScopeKey.of(event.scope)
    return key, event.event_type, event.timestamp, event.content.lower().rstrip("!")


def clock_at(moment: datetime) -> DeterministicClock:
    return DeterministicClock(round(moment.timestamp() * 1000))


class TimelineMachine(RuleBasedStateMachine):
    """The real timeline beside a list."""

    def __init__(self) -> None:
        super().__init__()
        self._undo = transaction.atomic()
        # As around the tests themselves: what maintenance does asks for the outermost transaction.
        self._undo._from_testcase = True  # type: ignore[attr-defined]
        self._undo.__enter__()
        RetentionPolicy.objects.all().delete()
        reset_archive_cache()
        self.timeline = Timeline()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._undo.__exit__(None, None, None)
        reset_archive_cache()

    @rule(batch=st.lists(drafts, min_size=1, max_size=6))
    def record(self, batch: list[EventDraft]) -> None:
        results = events_record(access=SYSTEM, drafts=batch, clock=self.timeline.clock)
        seen = {sameness(event) for event in self.timeline.model}
        for draft, result in zip(batch, results, strict=True):
            assert isinstance(result, RecordResult)
            is_new = sameness(draft) not in seen
            assert (result.action == "recorded") == is_new, draft
            seen.add(sameness(draft))
            self.timeline.model += [result.record] if is_new else []

    @rule(step=st.sampled_from(["close", "seal", "flip", "drop", "archive", "archive", "merge"]))
    def maintain(self, step: str) -> None:
        getattr(self.timeline, step)()

    @rule(batches=st.integers(0, 2))
    def archive_and_begin_to_drop(self, batches: int) -> None:
        for step in (self.timeline.close, self.timeline.seal, self.timeline.flip):
            step()
        left = batches

        def until_killed(name: str) -> None:
            nonlocal left
            left -= name == "archive: drop rows"
            if left < 0:
                raise KilledError

        with suppress(KilledError):
            for segment in segments_to_drop():
                rows_drop(segment, step=until_killed)

    @rule(data=st.data())
    def merge_some(self, data: st.DataObject) -> None:
        archived = segments(SegmentState.ARCHIVED, rows=RowsState.GONE)
        begin = data.draw(st.integers(0, max(0, len(archived) - 2)))
        self.timeline.merge(archived[begin : begin + data.draw(st.integers(2, 4))])

    @rule(minutes=st.integers(0, 4), household=st.sampled_from(["", "", "home"]), keep_others=st.booleans())
    def prune(self, minutes: int, household: str, keep_others: bool) -> None:
        cutoff = NOW - timedelta(minutes=minutes)
        policy = RetentionPolicy.objects.create(household_id=household, days=1, is_enabled=True)
        other = RetentionPolicy.objects.create(household_id="home", days=1) if not household and keep_others else None
        timeline_prune(clock=clock_at(cutoff + timedelta(days=1)))
        for one in filter(None, (policy, other)):
            one.delete()

        def is_kept(event: EventRecord) -> bool:
            of_policy = event.key.household_id == "home" if household else not (other and event.key.household_id)
            return not of_policy or event.timestamp >= cutoff

        self.timeline.model = [event for event in self.timeline.model if is_kept(event)]

    @rule(scope=st.sampled_from(SCOPES))
    def purge(self, scope: Scope) -> None:
        events_purge(access=SYSTEM, scope=scope, clock=self.timeline.clock)
        self.timeline.model = [event for event in self.timeline.model if not event.key.is_in(scope)]

    @rule()
    def restart(self) -> None:
        reset_archive_cache()

    @rule(questions=st.lists(questions, min_size=1, max_size=6))
    def query(self, questions: list[Question]) -> None:
        for question in questions:
            self.ask(question)

    def ask(self, question: Question) -> None:
        asked: dict[str, Any] = {
            "start": question.window[0], "end": question.window[1],
            "event_types": question.types, "top_k": question.top_k,
        }  # fmt: skip
        access = Access(question.bound, Permission.READ, "key", question.reads)
        result = self.timeline.query(access, scope=question.scope, include=question.include, **asked)
        visible = question.scope.intersect(question.bound)
        found, counts = self.timeline.expected(visible, **asked, owners=question.owners)
        assert list(result.events) == found
        assert {"scanned": result.diagnostics.scanned, **result.diagnostics.dropped} == counts

    @invariant()
    def everything_is_there_once(self) -> None:
        self.ask(Question(top_k=1_000))

    @invariant()
    def the_newest_of_a_window_are_found(self) -> None:
        window = (NOW - timedelta(minutes=3), NOW - timedelta(minutes=1))
        for types in ((), ("message",)):
            self.ask(Question(Scope(household_id="home"), window=window, types=types, top_k=2))


def test_queries_answer_as_a_list_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ROWS_AT_ONCE", 2)
    run_state_machine_as_test(
        TimelineMachine,
        settings=settings(
            max_examples=examples(30), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
