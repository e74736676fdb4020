"""How far the bridge is behind, and what it does by itself (spec 000: diagnostics timelineLagMs and segmentCount)."""

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from prometheus_client import REGISTRY

from apps.core.domain.clock import SYSTEM_CLOCK, DeterministicClock, utcnow
from apps.core.domain.errors import NotFoundError
from apps.core.domain.scope import Permission, Scope
from apps.episodic.domain.segment_state import SegmentState
from apps.episodic.models import Segment
from apps.events.services import emit
from apps.semantic.bridge import batch
from apps.semantic.bridge.batch import UnusableEventError
from apps.semantic.bridge.ingest import MARGIN, bridge_catch_up, events_ingest, ingestions_retry, ingestions_trim
from apps.semantic.bridge.policies import policy_create, policy_delete, policy_update
from apps.semantic.bridge.status import bridge_status
from apps.semantic.models import Ingestion, RoutingPolicy
from tests.api import Api, api_for
from tests.integration.semantic.bridge_support import NOON, active, ingestion, policy, pruned, saved, tell, warn

pytestmark = pytest.mark.django_db

AT_NOON = DeterministicClock(int(NOON.timestamp() * 1000))


def later(**span: float) -> DeterministicClock:
    return DeterministicClock(int((NOON + timedelta(**span)).timestamp() * 1000))


@pytest.fixture
def operator() -> Api:
    return api_for(Scope(), Permission.READ)


def metric(name: str) -> float | None:
    return REGISTRY.get_sample_value(f"memoryhub_bridge_{name}")


# Diagnostics


def test_the_status_says_how_the_bridge_is(operator: Api) -> None:
    policy()
    tell(saved("first"))
    events_ingest()
    warn()
    tell(saved("second"), saved("\u200b"))
    now = utcnow(SYSTEM_CLOCK)
    bridge = operator.get("/api/semantic/status").json()["bridge"]
    assert bridge["suspended"] is True
    assert [(one["kind"], one["severity"]) for one in bridge["suspended_by"]] == [("write_latency", "warning")]
    assert (bridge["policies"], bridge["pending"], bridge["failed"], bridge["segment_count"]) == (1, 2, 0, 0)
    assert bridge["timeline_lag_ms"] == pytest.approx((now - NOON) / timedelta(milliseconds=1), abs=60_000)
    assert bridge["last_ingestion_lag_ms"] == pytest.approx((now - NOON) / timedelta(milliseconds=1), abs=60_000)


def test_bound_key_does_not_learn_what_waits_of_others(api: Api) -> None:
    policy()
    tell(saved(user_id="ben"))
    assert "bridge" not in api.get("/api/semantic/status").json()


def test_without_anything_there_is_no_lag() -> None:
    status = bridge_status()
    assert (status.timeline_lag_ms, status.last_ingestion_lag_ms, status.pending) == (0, None, 0)


def test_lag_is_age_of_oldest_event_that_waits() -> None:
    policy()
    tell(saved("old", recorded_at=NOON - timedelta(seconds=5)), saved("new"))
    assert bridge_status(clock=AT_NOON).timeline_lag_ms == 5_000
    events_ingest()
    assert bridge_status(clock=AT_NOON).timeline_lag_ms == 0


def test_event_that_was_not_judged_yet_counts_as_well() -> None:
    with transaction.atomic():
        emit(saved(), clock=AT_NOON)
    assert bridge_status(clock=later(seconds=3)).timeline_lag_ms == 3_000


def test_lag_of_last_ingestion_is_time_from_recording_to_memory() -> None:
    policy()
    tell(saved("first"))
    events_ingest()
    Ingestion.objects.update(ended_at=NOON + timedelta(seconds=2))
    assert bridge_status().last_ingestion_lag_ms == 2_000


def test_segments_that_others_have_taken_place_of_do_not_count() -> None:
    for state in (SegmentState.OPEN, SegmentState.SEALED, SegmentState.COMPACTED, SegmentState.PRUNED):
        Segment.objects.create(state=state, opened_at=NOON)
    assert bridge_status().segment_count == 2


def test_each_minute_metrics_are_brought_up_to_date() -> None:
    policy()
    Segment.objects.create(opened_at=NOON)
    tell(saved(recorded_at=NOON - timedelta(seconds=5)))
    bridge_catch_up(clock=AT_NOON)
    shown = [metric(name) for name in ("pending", "timeline_lag_ms", "segment_count", "suspended")]
    assert shown == [1, 5_000, 1, 0]


# Upkeep


def test_rows_that_ended_without_link_are_trimmed_after_outbox_has_forgotten_their_events() -> None:
    policy()
    linked, gone = saved("linked"), saved("gone")
    tell(linked, gone, pruned(gone))
    events_ingest()
    assert ingestion(linked).status == "linked"
    Ingestion.objects.update(ended_at=NOON)
    days = settings.MEMORYHUB.event_retention_days
    assert ingestions_trim(clock=later(days=days + MARGIN.days)) == 0
    assert ingestions_trim(clock=later(days=days + MARGIN.days, seconds=1)) == 1
    assert [row.event_id for row in Ingestion.objects.all()] == [linked.event_id]


def test_what_failed_can_be_tried_again_once_cause_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    policy()
    event = saved()

    def refuse(*_: Any) -> None:
        raise UnusableEventError("content: max_length")

    with monkeypatch.context() as patch:
        patch.setattr(batch, "draft_event", refuse)
        tell(event)
        assert events_ingest().outcomes == {"failed": 1}
    assert ingestions_retry(pks=[ingestion(event).pk]) == 1
    assert events_ingest().outcomes == {"inserted": 1}
    assert ingestions_retry(pks=[ingestion(event).pk]) == 0
    assert active() == [event.content]


# Policies


def test_a_policy_is_prepared_and_switched_off() -> None:
    RoutingPolicy.objects.all().delete()
    import_module("apps.semantic.migrations.0005_prepared_routing_policy").prepare(apps, None)
    [prepared] = RoutingPolicy.objects.all()
    assert (prepared.name, prepared.enabled, prepared.household_id) == ("important events", False, "")
    assert (prepared.source, prepared.on_prune) == ("inferred", "demote")


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"min_importance": 1.1}, "min_importance"),
        ({"confidence": -0.1}, "confidence"),
        ({"on_prune": "burn"}, "on_prune"),
        ({"decay_policy": "never"}, "decay_policy"),
        ({"source": ""}, "source"),
        ({"event_types": ["x" * 101]}, "event_types"),
        ({"event_types": ["two words"]}, "event_types"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        policy_create(name="p", settings=settings)
    assert list(refused.value.message_dict) == [field]
    row = policy_create(name="p")
    with pytest.raises(ValidationError):
        policy_update(pk=row.pk, settings=settings)


def test_policy_that_is_not_there_cannot_be_changed() -> None:
    for change in (lambda: policy_update(pk=0, settings={}), lambda: policy_delete(pk=0)):
        with pytest.raises(NotFoundError):
            change()


def test_event_types_are_kept_once_each_without_space_around_them() -> None:
    assert policy_create(name="p", settings={"event_types": ["b ", "a", "a", " "]}).event_types == ["a", "b"]


# What the database itself refuses


@pytest.mark.parametrize(
    "wrong",
    [{"status": "linked"}, {"status": "pruned"}, {"status": "dropped"}],
    ids=["a link without a memory", "words of a pruned event", "words of a dropped one"],
)
def test_database_keeps_links_whole_and_words_no_longer_than_needed(wrong: dict[str, Any]) -> None:
    policy()
    event = saved()
    tell(event)
    with pytest.raises(IntegrityError), transaction.atomic():
        Ingestion.objects.filter(event_id=event.event_id).update(**wrong)
