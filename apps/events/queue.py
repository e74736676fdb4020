"""Asks django-q2 for a drain: once per transaction, and together with it where the broker allows."""

from django.conf import settings
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django_q.brokers import get_broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.tasks import async_task

DRAIN_TASK = "apps.events.tasks.drain"


def request_drain() -> None:
    """Enqueue one drain task for the current transaction, however often this is called in it.

    With the ORM broker on the same database the task is a row of the transaction itself. With any other
    broker it is sent after the commit; if the process dies in between, the sweep sends another.
    A rolled back savepoint takes task and mark with it, so the next call enqueues again.
    """
    connection = transaction.get_connection()
    if _is_requested(connection):
        return
    if _shares_transaction(connection.alias):
        _enqueue()
        transaction.on_commit(_requested)
    else:
        transaction.on_commit(_enqueue)


def _is_requested(connection: BaseDatabaseWrapper) -> bool:
    return any(callback in {_requested, _enqueue} for _, callback, *_ in connection.run_on_commit)


def _requested() -> None:
    """Mark of a transaction, among its on-commit callbacks, that its drain is enqueued."""


def _enqueue() -> None:
    # Without a result row: the deliveries tell what happened.
    async_task(DRAIN_TASK, task_name="events.drain", save=False)


def _shares_transaction(alias: str) -> bool:
    runs_inline = Conf.SYNC
    return not runs_inline and alias == settings.Q_CLUSTER.get("orm") and isinstance(get_broker(), ORM)
