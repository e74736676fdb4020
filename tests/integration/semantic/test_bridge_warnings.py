"""Warnings of the timeline and what they suspend (spec 000, Episodic-Semantic Event Bridge: Warning escalation)."""

import logging

import pytest
from prometheus_client import REGISTRY

from apps.episodic.domain.alarms import HINTS, Severity, WarningKind
from apps.semantic.bridge.ingest import IngestEnd, bridge_catch_up, events_ingest
from apps.semantic.bridge.reconcile import links_reconcile
from apps.semantic.models import Ingestion
from tests.integration.semantic.bridge_support import active, deliver, policy, pruned, recover, saved, tell, warn

pytestmark = pytest.mark.django_db


def metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"memoryhub_bridge_{name}", labels) or 0.0


# Warning escalation


def test_warning_escalation(caplog: pytest.LogCaptureFixture) -> None:
    policy()
    kind = {"kind": "write_latency", "severity": "critical"}
    before = metric("warnings_total", **kind)
    warn(Severity.CRITICAL)
    with caplog.at_level(logging.INFO):
        deliver()
    [line] = [record for record in caplog.records if record.name == "apps.semantic.bridge.handlers"]
    assert line.levelno == logging.ERROR
    assert "severity=critical" in line.message
    assert HINTS[WarningKind.WRITE_LATENCY] in line.message
    assert metric("warnings_total", **kind) == before + 1
    assert metric("suspended") == 1
    tell(saved("told while the warning was active"))
    assert events_ingest().ended is IngestEnd.SUSPENDED
    assert active() == []
    recover()
    deliver()
    assert metric("suspended") == 0
    assert events_ingest().outcomes == {"inserted": 1}
    assert active() == ["told while the warning was active"]


@pytest.mark.parametrize(
    ("severity", "ended"),
    [
        (Severity.NOTICE, IngestEnd.DONE),
        (Severity.WARNING, IngestEnd.SUSPENDED),
        (Severity.CRITICAL, IngestEnd.SUSPENDED),
    ],
)
def test_from_warning_on_nothing_is_made_memory(severity: Severity, ended: IngestEnd) -> None:
    policy()
    warn(severity)
    tell(saved())
    assert events_ingest().ended is ended
    assert Ingestion.objects.pending().exists() == (ended is IngestEnd.SUSPENDED)


def test_it_goes_on_only_when_last_warning_is_over() -> None:
    policy()
    warn()
    warn(kind=WarningKind.CAPACITY)
    tell(saved())
    recover()
    deliver()
    assert events_ingest().ended is IngestEnd.SUSPENDED
    recover(WarningKind.CAPACITY)
    assert events_ingest().outcomes == {"inserted": 1}


def test_whatever_was_told_meanwhile_is_caught_up() -> None:
    policy()
    contents = [f"event {n}" for n in range(40)]
    tell(*(saved(content) for content in contents[:20]))
    warn()
    for content in contents[20:]:
        tell(saved(content))
        events_ingest()
    bridge_catch_up()
    recover()
    events_ingest()
    assert active() == sorted(contents)


def test_warning_that_was_not_heard_of_yet_suspends_all_same() -> None:
    policy()
    tell(saved())
    warn()  # its event is not delivered
    assert events_ingest().ended is IngestEnd.SUSPENDED


def test_pruned_events_are_looked_at_whatever_warnings() -> None:
    policy(on_prune="delete")
    event = saved()
    tell(event)
    events_ingest()
    warn()
    tell(pruned(event))
    assert links_reconcile() == {"deleted": 1}
    assert active() == []


def test_event_that_is_pruned_while_warning_is_active_makes_no_memory_afterwards() -> None:
    policy()
    warn()
    event = saved()
    tell(event)
    tell(pruned(event))
    recover()
    assert events_ingest().outcomes == {}
    assert active() == []
