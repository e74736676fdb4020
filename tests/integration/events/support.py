"""Payloads, handlers and a subscription table for the tests of the outbox."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from uuid import UUID, uuid4

from django.db import DataError, transaction
from django_q.models import OrmQ, Schedule

from apps.events import services
from apps.events.domain.envelope import Envelope, takes_batches
from apps.events.domain.payload import EventPayload, Text

TABLE: dict[str, tuple[str, ...]] = {}
TABLE_PATH = "tests.integration.events.support.TABLE"
RECORD = "tests.integration.events.support.record"
RECORD_TOO = "tests.integration.events.support.record_too"
FAIL = "tests.integration.events.support.fail"
WRITE_AND_FAIL_ONCE = "tests.integration.events.support.write_and_fail_once"
SWALLOW_DATABASE_ERROR = "tests.integration.events.support.swallow_database_error"
RUN_TOO_LONG = "tests.integration.events.support.run_too_long"
HANG_IN_CHILD = "tests.integration.events.support.hang_in_child"
RECORD_MANY = "tests.integration.events.support.record_many"
REFUSE_THE_BAD_ONE = "tests.integration.events.support.refuse_the_bad_one"
MANY_TOO_LONG = "tests.integration.events.support.many_too_long"
EMIT_ANOTHER = "tests.integration.events.support.emit_another"

seen: list[Envelope] = []
batches: list[int] = []


class Happened(EventPayload):
    name: ClassVar[str] = "test:outbox:happened"

    thing_id: UUID
    note: Text = ""


class Followed(EventPayload):
    name: ClassVar[str] = "test:outbox:followed"

    thing_id: UUID


def happened(note: str = "") -> Happened:
    return Happened(thing_id=uuid4(), note=note)


def emit(count: int = 1, note: str = "") -> list[UUID]:
    with transaction.atomic():
        return services.emit_many([happened(note) for _ in range(count)])


def drain_tasks() -> int:
    return sum(task.task["func"] == "apps.events.tasks.drain" for task in OrmQ.objects.all())


def record(envelope: Envelope) -> None:
    seen.append(envelope)


@takes_batches
def record_many(envelopes: Sequence[Envelope]) -> None:
    batches.append(len(envelopes))
    seen.extend(envelopes)


@takes_batches
def refuse_the_bad_one(envelopes: Sequence[Envelope]) -> None:
    for envelope in envelopes:
        Schedule.objects.create(name=f"effect of {envelope.event_id}", func="print")
        if envelope.payload.note == "bad":
            raise ValueError("bad")


@takes_batches
def many_too_long(envelopes: Sequence[Envelope]) -> None:
    from django_q.exceptions import TimeoutException

    raise TimeoutException


def record_too(envelope: Envelope) -> None:
    seen.append(envelope)


def fail(envelope: Envelope) -> None:
    raise ValueError("the disk is full\nand more that nobody wants to read")


def write_and_fail_once(envelope: Envelope) -> None:
    Schedule.objects.create(name=f"effect of {envelope.event_id}", func="print")
    record(envelope)
    if envelope.attempt == 1:
        raise ValueError("after the write")


def swallow_database_error(envelope: Envelope) -> None:
    with suppress(DataError):
        Schedule.objects.create(name="x" * 1000, func="print")


def run_too_long(envelope: Envelope) -> None:
    from django_q.exceptions import TimeoutException

    raise TimeoutException


def hang_in_child(envelope: Envelope) -> None:
    """Hang in the process that says it is to be killed; anywhere else just record."""
    if place := os.environ.get("OUTBOX_TEST_HANG"):
        Schedule.objects.create(name=f"effect of {envelope.event_id}", func="print")
        Path(place).write_text("inside the handler")
        time.sleep(120)
    record(envelope)


def emit_another(envelope: Envelope) -> None:
    services.emit(Followed(thing_id=uuid4()))
