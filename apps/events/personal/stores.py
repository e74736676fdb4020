"""The stores of the outbox and of background tasks: what of them names a user."""

import ast
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django_q.models import OrmQ, Schedule, Task

from apps.core.personal.erase import ROWS_AT_ONCE, delete_in_parts, names_user, naming
from apps.core.personal.registry import register_stores
from apps.core.personal.store import PersonalStore
from apps.core.steps import Step, no_step
from apps.events.models import Delivery, Event


class OutboxStore(PersonalStore):
    """Hub events and their deliveries. They are not exported: what they report is in the other stores."""

    name = "outbox"
    order = 70
    models = (Event, Delivery)

    def count(self, user_id: str) -> int:
        return events_of(user_id).count()

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        while count := forget_part(user_id):
            yield count

    def find(self, user_id: str) -> Iterator[str]:
        if events_of(user_id).exists():
            yield "events_event"


def events_of(user_id: str) -> QuerySet[Event]:
    """Return the hub events about a user, and those about rules that name them."""
    of_rules = Q(name__startswith="rule:", payload__configuration__regex=naming(user_id))
    return Event.objects.filter(Q(payload__user_id=user_id) | of_rules)


@transaction.atomic
def forget_part(user_id: str) -> int:
    """Delete some hub events with their deliveries, and return how many."""
    ids = list(events_of(user_id).order_by("id").values_list("id", flat=True)[:ROWS_AT_ONCE])
    # Deliveries are locked before events, as everywhere here.
    list(Delivery.objects.filter(event_id__in=ids).order_by("id").select_for_update())
    Delivery.objects.filter(event_id__in=ids).delete()
    Event.objects.filter(id__in=ids).delete()
    return len(ids)


class QueueStore(PersonalStore):
    """Tasks of django-q2, waiting, ended or scheduled, whose arguments or results name a user."""

    name = "tasks"
    order = 75
    models = (OrmQ, Task, Schedule)

    def count(self, user_id: str) -> int:
        return sum(rows.count() for rows in tasks_naming(user_id))

    def forget(self, user_id: str, step: Step = no_step) -> Iterator[int]:
        for rows in tasks_naming(user_id):
            yield from delete_in_parts(rows)

    def find(self, user_id: str) -> Iterator[str]:
        for rows in tasks_naming(user_id):
            if rows.exists():
                yield rows.model._meta.db_table


def texts_of(arguments: str | None) -> list[str]:
    """Return the texts in the arguments of a schedule, which are written as in Python: `'ana', {'top': 'tea'}`.

    Names of arguments and keys of dictionaries are left out. What cannot be read is returned as it is.
    """
    if not arguments:
        return []
    try:
        nodes = list(ast.walk(ast.parse(f"f({arguments})", mode="eval")))
    except (SyntaxError, ValueError):
        return [arguments]
    keys = {id(key) for node in nodes if isinstance(node, ast.Dict) for key in node.keys}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in keys]
    return [node.value for node in constants if isinstance(node.value, str)]


def tasks_naming(user_id: str) -> list[QuerySet[Any]]:
    """Return the rows of each table of django-q2 that name a user in what a task is called with or returns.

    Names and paths of tasks are the hub's. Its own schedules are called with nothing, so they are never among these.
    """
    waiting = [
        one.pk
        for one in OrmQ.objects.order_by("pk").iterator()
        if names_user([one.task.get("args"), one.task.get("kwargs")], user_id)
    ]
    ended = [
        one.pk
        for one in Task.objects.order_by("pk").iterator()
        if names_user([one.args, one.kwargs, one.result], user_id)
    ]
    scheduled = [
        one.pk
        for one in Schedule.objects.order_by("pk").iterator()
        if names_user([texts_of(one.args), texts_of(one.kwargs)], user_id)
    ]
    return [
        OrmQ.objects.filter(pk__in=waiting),
        Task.objects.filter(pk__in=ended),
        Schedule.objects.filter(pk__in=scheduled),
    ]


register_stores((OutboxStore(), QueueStore()))
