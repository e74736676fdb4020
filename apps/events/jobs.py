"""Asks django-q2 for a task: once per transaction, and together with it where the broker allows."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django_q.brokers import get_broker
from django_q.brokers.orm import ORM
from django_q.conf import Conf
from django_q.tasks import async_task

DRAIN_TASK = "apps.events.tasks.drain"


def request_drain() -> None:
    """Enqueue one drain task for the current transaction; see `request_once`."""
    request_once(DRAIN_TASK, "events.drain")


def request_once(task: str, name: str) -> None:
    """Enqueue a task without arguments for the current transaction, one however often this is called in it.

    task: dotted path. With the ORM broker on the same database it is a row of the transaction itself. With any other
    broker it is sent after the commit; if the process dies in between it is lost, so something that comes round by
    itself must see to what it would have done. A rolled back savepoint takes task and mark with it, so the next call
    enqueues again. No result row is kept: the rows that the task works on tell what happened.
    """
    connection = transaction.get_connection()
    if any(isinstance(mark, _Requested) and mark.task == task for _, mark, *_ in connection.run_on_commit):
        return
    shares = _shares_transaction(connection.alias)
    if shares:
        _enqueue(task, name)
    transaction.on_commit(_Requested(task, name, is_sent=shares))


@dataclass(frozen=True)
class _Requested:
    """Mark of a transaction, among its on-commit callbacks, that a task is requested; sends what is not sent yet."""

    task: str
    name: str
    is_sent: bool

    def __call__(self) -> None:
        if not self.is_sent:
            _enqueue(self.task, self.name)


def _enqueue(task: str, name: str) -> None:
    async_task(task, task_name=name, save=False)


def _shares_transaction(alias: str) -> bool:
    runs_inline = Conf.SYNC
    return not runs_inline and alias == settings.Q_CLUSTER.get("orm") and isinstance(get_broker(), ORM)
