"""The worker of `manage.py up`, up to its loop; what it does then is tried in tests/system/test_up.py."""

import os
import signal
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from memoryhub.process import worker


@pytest.fixture
def handler():
    """Leave SIGTERM as it was."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.django_db
def test_worker_runs_at_once_what_is_due_and_stops_at_the_signal(monkeypatch: pytest.MonkeyPatch, handler) -> None:
    Schedule.objects.all().delete()
    past, future = timezone.now() - timedelta(minutes=1), timezone.now() + timedelta(hours=1)
    Schedule.objects.create(name="due", func="apps.oauth.tasks.trim", schedule_type=Schedule.DAILY, next_run=past)
    Schedule.objects.create(name="later", func="apps.audit.tasks.trim", schedule_type=Schedule.DAILY, next_run=future)
    seen = {}

    def guard(sentinel: worker.Sentinel) -> None:
        seen["queued"] = [task.func() for task in OrmQ.objects.all()]
        seen["before"] = sentinel.stop_event.wait(0)
        os.kill(os.getpid(), signal.SIGTERM)
        seen["after"] = sentinel.stop_event.wait(0)

    monkeypatch.setattr(worker.Sentinel, "start", guard)
    # Closing them would end the transaction of the test.
    monkeypatch.setattr("django_q.scheduler.close_old_django_connections", lambda: None)
    monkeypatch.setattr(os, "nice", lambda steps: seen.update(nice=steps))
    monkeypatch.setattr(os, "register_at_fork", lambda **hooks: seen.update(hooks))
    worker.work()
    assert seen["queued"] == ["apps.oauth.tasks.trim"]
    assert (seen["before"], seen["after"]) == (False, True)
    assert seen["nice"] == worker.BACKGROUND_NICENESS
    seen["after_in_child"]()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_flag_is_waited_for_and_read_while_a_signal_sets_it(handler) -> None:
    flag = worker.Flag()
    signal.signal(signal.SIGTERM, lambda *_: flag.set())
    assert not flag.is_set()
    began = time.monotonic()
    assert flag.wait(0.01) is False
    assert time.monotonic() - began >= 0.01
    os.kill(os.getpid(), signal.SIGTERM)
    assert flag.is_set()
    assert flag.wait(0) is True
