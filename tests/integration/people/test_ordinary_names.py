"""Users whose ids are numbers or ordinary words: what is forgotten with them is theirs alone."""

from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import Model
from django.test import Client
from django_q.models import OrmQ, Schedule, Task
from django_q.tasks import async_task

from apps.core.domain.clock import SYSTEM_CLOCK, utcnow
from apps.core.domain.scope import Scope
from apps.core.personal.admin_log import AdminStore
from apps.events.personal.stores import QueueStore, texts_of
from apps.events.services import schedules_ensure
from apps.people.erasure.run import erasure_run
from apps.people.services import erasure_request
from memoryhub.schedules import SCHEDULES
from tests.api import api_for

pytestmark = pytest.mark.django_db(transaction=True)
ORDINARY = ("people", "apps", "1", "user_id", "semantic", "changed", "Name")


@pytest.fixture
def account() -> User:
    return User.objects.create_superuser(username="keeper", password="secret-of-keeper", pk=1)


@pytest.fixture(autouse=True)
def hub(account: User, settings: Any, tmp_path: Any, timeline_dir: Any) -> None:
    """A hub in which an operator works, with schedules and tasks of its own."""
    settings.SEMANTIC_INDEX_DIR = tmp_path / "semantic-index"
    schedules_ensure(specs=SCHEDULES)
    Schedule.objects.create(name="revert", func="apps.semantic.tasks.x", args="1", kwargs="user_id='zoe', apps=1")
    now = utcnow(SYSTEM_CLOCK)
    async_task("apps.people.tasks.erase", 1, {"user_id": "zoe"}, task_name="people: erase")
    Task.objects.create(
        id="1" * 32, name="people: erase", func="apps.people.tasks.erase", args=(1,), kwargs={"user_id": "zoe"},
        result={"people": 1}, group="apps 1", started=now, stopped=now,
    )  # fmt: skip
    assert Client().login(username="keeper", password="secret-of-keeper")
    log(account, "keeper", '[{"changed": {"fields": ["Name"]}}]')


def log(row: Model, shown: str, message: str = "") -> None:
    """Leave an entry in the log of the admin."""
    kind = ContentType.objects.get_for_model(row)
    LogEntry.objects.create(
        user_id=1, content_type=kind, object_id=str(row.pk), object_repr=shown, change_message=message,
        action_flag=CHANGE,
    )  # fmt: skip


def kept() -> dict[str, list[Any]]:
    """The keys of everything that is the hub's."""
    models: tuple[type[Model], ...] = (Schedule, OrmQ, Task, Session, LogEntry, User)
    return {model.__name__: sorted(model._default_manager.values_list("pk", flat=True)) for model in models}


@pytest.mark.parametrize("user", ORDINARY)
def test_what_only_has_the_same_name_stays(user: str) -> None:
    api_for(Scope()).save("likes tea", user_id=user)
    before = kept()
    assert all(before.values())
    erasure = erasure_run(erasure_id=erasure_request(user_id=user, actor="test", enqueue=False).pk)
    assert (erasure.state, erasure.problems, erasure.found["memories"]) == ("finished", [], 1)
    assert (erasure.found["tasks"], erasure.found["admin"]) == (0, 0)
    assert kept() == before


@pytest.mark.parametrize("user", ["people", "1"])
def test_what_names_the_user_goes(user: str, account: User) -> None:
    before = kept()
    Schedule.objects.create(name="theirs", func="x", kwargs=f"selection={{'user_id': '{user}'}}")
    Schedule.objects.create(name="theirs", func="x", args=f"3, '{user}'")
    async_task("x", {"user_id": user})
    now = utcnow(SYSTEM_CLOCK)
    Task.objects.create(id="2" * 32, name="x", func="x", result={"of": [user]}, started=now, stopped=now)
    session = SessionStore()
    session["filters"] = {"user_id": user}
    session.save()
    log(account, f"phone of {user}")
    log(account, "x", f'[{{"changed": {{"name": "key", "object": "of {user}", "fields": ["Name"]}}}}]')
    log(account, "x", f"Revoked for {user}.")
    stores = QueueStore(), AdminStore()
    assert [store.count(user) for store in stores] == [4, 4]
    for store in stores:
        assert list(store.find(user))
        assert sum(store.forget(user)) == 4
        assert not list(store.find(user))
    assert kept() == before


def test_arguments_that_cannot_be_read_are_searched_as_text() -> None:
    assert texts_of("'ana', {'top': 'tea'}, x=['b']") == ["ana", "tea", "b"]
    assert texts_of("(3, 'ana')") == ["ana"]
    assert texts_of("ana, (") == ["ana, ("]
    assert texts_of(None) == []
