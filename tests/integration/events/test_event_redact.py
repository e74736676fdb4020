"""Emptying what stored payloads say."""

from typing import Any

import pytest

from apps.core.domain.clock import DeterministicClock, to_datetime
from apps.events import outbox, services
from apps.events.models import Event
from apps.events.services import payloads_redact
from tests.integration.events import support

pytestmark = pytest.mark.django_db


def notes() -> list[str]:
    return [payload["note"] for payload in Event.objects.order_by("id").values_list("payload", flat=True)]


def redact(**changes: Any) -> int:
    values = {"name": support.Happened.name, "matching": {"note": "mine"}, "fields": ["note"]}
    return payloads_redact(**{**values, "until": to_datetime(2_000_000_000_000), **changes})


def test_only_what_matches_is_emptied() -> None:
    support.emit(2, note="mine")
    support.emit(1, note="yours")
    assert redact() == 2
    assert notes() == ["", "", "yours"]
    assert redact() == 0


def test_other_fields_stay_and_payload_can_be_read() -> None:
    support.emit(1, note="mine")
    before = Event.objects.get().payload["thing_id"]
    redact()
    payload = support.Happened.from_json(Event.objects.get().payload)
    assert (str(payload.thing_id), payload.note) == (before, "")


def test_events_of_another_name_stay() -> None:
    support.emit(1, note="mine")
    assert redact(name="test:outbox:followed") == 0
    assert notes() == ["mine"]


def test_what_is_emitted_later_stays(clock: DeterministicClock) -> None:
    for note in ("mine", "mine"):
        services.emit(support.happened(note), clock=clock)
        clock.advance(1_000)
    assert redact(until=to_datetime(clock.now() - 2_000)) == 1
    assert notes() == ["", "mine"]


def test_there_may_be_more_than_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "TRIM_BATCH", 2)
    support.emit(5, note="mine")
    assert redact() == 5
    assert notes() == [""] * 5
