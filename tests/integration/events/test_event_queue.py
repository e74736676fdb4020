"""Tasks that a transaction asks for."""

import pytest
from django.db import transaction
from django_q.models import OrmQ

from apps.events.jobs import request_drain, request_once

pytestmark = pytest.mark.django_db(transaction=True)

FIRST, SECOND = "apps.events.tasks.sweep", "apps.events.tasks.trim"


def queued() -> list[str]:
    return sorted(task.task["func"] for task in OrmQ.objects.all())


def test_a_transaction_asks_for_each_task_once():
    with transaction.atomic():
        for _ in range(3):
            request_once(FIRST, "first")
            request_once(SECOND, "second")
    assert queued() == [FIRST, SECOND]


def test_request_for_one_task_does_not_stand_for_another():
    with transaction.atomic():
        request_drain()
        request_once(FIRST, "first")
    assert queued() == ["apps.events.tasks.drain", FIRST]


def test_outside_transaction_every_request_counts():
    request_once(FIRST, "first")
    request_once(FIRST, "first")
    assert queued() == [FIRST, FIRST]


def test_broker_elsewhere_gets_each_task_once_and_after_commit(settings, monkeypatch):
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "orm": "elsewhere"}
    sent = []
    monkeypatch.setattr("apps.events.jobs.async_task", lambda task, **options: sent.append(task))
    with transaction.atomic():
        request_once(FIRST, "first")
        request_once(FIRST, "first")
        request_once(SECOND, "second")
        assert sent == []
    assert sent == [FIRST, SECOND]
