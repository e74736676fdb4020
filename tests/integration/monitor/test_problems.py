"""What is wrong with the hub, by its real state: a sentence, what to do, and a page that helps."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import Schedule, Task

from apps.accounts.models import Account
from apps.core.health import disk_space
from apps.core.models import HubProcess
from apps.episodic.maintenance.doctor import segment_verify
from apps.events.models import Delivery, Event
from apps.events.services import failures_set_aside
from apps.llm.services import rerank
from apps.monitor import problems as monitor_problems
from apps.monitor.domain.problems import Problem, ProblemSeverity
from apps.monitor.services import current_problems, problems_for
from apps.sync.domain.errors import KnowledgeUnavailableError
from tests.integration.core.processes import beside
from tests.integration.episodic.upkeep import an_archived_segment, clock_at
from tests.integration.llm.configuring import MODEL, breaker, configured, price, spent
from tests.integration.llm.rerank_server import configured_server, running_rerank_server
from tests.integration.sync.syncs import make_hub, path_of, record
from tests.segments import segment_path

pytestmark = pytest.mark.django_db

HERE = "tests.integration.monitor.test_problems"
MB = 1024 * 1024


@pytest.fixture(autouse=True)
def worker() -> None:
    """A worker that is alive: without one there is always a problem."""
    beside("worker")


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


def found(code: str) -> list[Problem]:
    return [problem for problem in current_problems() if problem.code == code]


def the(code: str, client: Client) -> Problem:
    """The one problem of a code; its button leads to a page that exists."""
    [problem] = found(code)
    assert problem.advice.endswith(".")
    assert problem.sentence.endswith(".")
    if problem.remedy is not None:
        assert client.get(problem.remedy.url).status_code == 200
    return problem


def readyz() -> dict[str, str]:
    checks: dict[str, str] = Client().get("/readyz").json()["checks"]
    return {name: answer for name, answer in checks.items() if answer != "ok"}


def test_hub_without_problems_has_none() -> None:
    assert current_problems() == []


def test_stopped_worker_is_the_worst_problem(admin_client: Client) -> None:
    HubProcess.objects.all().delete()
    beside("worker", age=46)
    stopped = the("worker_stopped", admin_client)
    assert stopped.severity is ProblemSeverity.CRITICAL
    assert stopped.since is not None
    assert timedelta(seconds=45) < timezone.now() - stopped.since < timedelta(seconds=120)
    assert "worker" in readyz()
    beside("worker", age=40)
    assert not found("worker_stopped")
    assert "worker" not in readyz()


def test_missing_web_process_and_what_others_are_not_ready_for(settings: Any, admin_client: Client) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, run="this-run", web_processes=3)
    HubProcess.objects.update(run="this-run")
    beside("web", embedding="The embedding server does not answer.", index="ok", timeline="ok")
    beside("web", embedding="ok", index="loading the index, 1 of 3", timeline="ok")
    assert the("web_process_missing", admin_client).sentence == "2 of 3 web processes are running."
    embedding = the("embedding_not_ready", admin_client)
    assert embedding.severity is ProblemSeverity.CRITICAL
    assert "in 1 of 2 web processes: The embedding server does not answer." in embedding.sentence
    assert the("index_not_ready", admin_client).severity is ProblemSeverity.NOTICE
    assert not found("timeline_not_ready")


@pytest.mark.parametrize(
    ("level", "severity"), [("warning", ProblemSeverity.WARNING), ("degraded", ProblemSeverity.CRITICAL)]
)
def test_index_over_a_limit(level: str, severity: ProblemSeverity, admin_client: Client) -> None:
    beside("web", facts={"index": {"level": "ok", "reasons": []}})
    beside("web", facts={"index": {"level": level, "reasons": ["capacity", "backlog"]}})
    problem = the(f"index_{level}", admin_client)
    assert problem.severity is severity
    assert "need more memory" in problem.sentence
    assert "MEMORYHUB_INDEX_CACHE_MB" in problem.advice


def test_disk_nearly_full_and_full(settings: Any, admin_client: Client) -> None:
    free_mb = disk_space().free // MB
    settings.MEMORYHUB = replace(settings.MEMORYHUB, disk_warning_mb=2 * free_mb)
    assert the("disk_nearly_full", admin_client).severity is ProblemSeverity.WARNING
    assert "disk" not in readyz()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, disk_warning_mb=10 * free_mb)
    assert the("disk_full", admin_client).severity is ProblemSeverity.CRITICAL
    assert "MB are free" in readyz()["disk"]
    settings.MEMORYHUB = replace(settings.MEMORYHUB, disk_warning_mb=1)
    assert not found("disk_full") + found("disk_nearly_full")


def test_schedules_overdue_by_two_periods(admin_client: Client) -> None:
    HubProcess.objects.all().delete()
    beside("worker", age=30)
    HubProcess.objects.update(started_at=timezone.now() - timedelta(days=1))
    due = timezone.now() - timedelta(seconds=130)
    for name in ("events: sweep", "timeline: maintain"):
        Schedule.objects.create(name=name, func="apps.x", schedule_type=Schedule.MINUTES, minutes=1, next_run=due)
    overdue = the("schedules_overdue", admin_client)
    assert overdue.sentence.startswith("2 schedules are overdue by two periods or more: events: sweep, timeline: mai")
    assert overdue.since == due
    assert "schedules" in readyz()


def fail(func: str, number: int, at: datetime) -> None:
    Task.objects.create(
        id=f"{func[-8:]}{number}", name=f"job {number}", func=func, started=at, stopped=at, success=False, result="boom"
    )


def test_failed_jobs_are_grouped_by_function(admin_client: Client) -> None:
    noon = datetime(2026, 5, 10, 12, tzinfo=UTC)
    for number in range(3):
        fail("apps.events.tasks.trim", number, noon + timedelta(minutes=number))
    fail("elsewhere.work", 9, noon)
    trim, other = found("jobs_failed")
    assert trim.sentence == "3 jobs of “Trim deliveries” failed, the last at 2026-05-10 12:02 UTC."
    assert (trim.since, trim.subject) == (noon, "apps.events.tasks.trim")
    assert other.sentence.startswith("1 job of “Work” failed")
    assert trim.remedy is not None
    assert "boom" in admin_client.get(trim.remedy.url).content.decode()
    failures_set_aside(
        task_ids=list(Task.objects.filter(func="elsewhere.work").values_list("id", flat=True)), actor="t"
    )
    assert [problem.subject for problem in found("jobs_failed")] == ["apps.events.tasks.trim"]


def test_failed_and_overdue_deliveries(admin_client: Client) -> None:
    now = timezone.now()
    for status, due in (("failed", now), ("pending", now - timedelta(minutes=10)), ("pending", now)):
        event = Event.objects.create(name="test:happened", payload={}, created_at=now)
        Delivery.objects.create(event=event, subscriber="a.b", status=status, next_attempt_at=due)
    assert the("deliveries_failed", admin_client).sentence == "1 delivery has failed on every try."
    assert the("deliveries_overdue", admin_client).sentence.startswith(
        "2 deliveries are waiting, overdue by up to 10 minutes"
    )


@pytest.mark.usefixtures("timeline_dir")
def test_damaged_segment(admin_client: Client) -> None:
    segment = an_archived_segment(range(20))
    segment.refresh_from_db()
    path = segment_path(segment.file_name)
    raw = bytearray(path.read_bytes())
    raw[200] ^= 0x10
    path.write_bytes(raw)
    segment_verify(segment_id=segment.pk, clock=clock_at(1))
    damaged = the("timeline_segment_damaged", admin_client)
    assert (damaged.severity, damaged.subject) == (ProblemSeverity.CRITICAL, str(segment.uuid))
    assert "its events are missing from every answer" in damaged.sentence
    assert "timeline doctor --repair" in damaged.advice
    assert damaged.remedy is not None
    assert f"/{segment.pk}/" in damaged.remedy.url


@pytest.fixture
def with_model(settings: Any) -> Iterator[None]:
    with configured(settings, MODEL, budget="10"):
        yield


@pytest.mark.usefixtures("with_model")
def test_budget_breaker_and_price(admin_client: Client) -> None:
    now = timezone.now()
    assert the("model_without_price", admin_client).severity is ProblemSeverity.WARNING
    price()
    day = spent("9.1", now.date())
    breaker(changed_at=now)
    assert the("budget_nearly_spent", admin_client).sentence.startswith("91 % of the budget of $10.00")
    day.spent_usd = 11
    day.save()
    assert the("budget_spent", admin_client).severity is ProblemSeverity.CRITICAL
    assert the("breaker_open", admin_client).subject == "openai"
    assert not found("model_without_price") + found("budget_nearly_spent")


def test_breaker_of_the_reranker(admin_client: Client, settings: Any) -> None:
    with running_rerank_server() as server, configured_server(settings, server) as reranker:
        server.say({}, status=500)
        for _ in range(3):
            rerank(actor="a-test", question="Where?", texts=["Here.", "There."])
        assert the("breaker_open", admin_client).subject == reranker.name


def test_failing_source_of_knowledge(tmp_path: Path, settings: Any, admin_client: Client) -> None:
    settings.SYNC_DIR = tmp_path / "data" / "sync"
    settings.MEMORYHUB = replace(settings.MEMORYHUB, sync=replace(settings.MEMORYHUB.sync, roots=(tmp_path,)))
    hub = make_hub(tmp_path, {path_of(1): record(1)})
    hub.sync()
    assert not found("knowledge_failing")
    hub.write({path_of(1): "---\nstatus: [\n---\n# Broken\n"})
    assert hub.sync().state == "partial"
    assert "left out 1 item" in the("knowledge_incomplete", admin_client).sentence
    hub.origin.path.rename(tmp_path / "away")
    with pytest.raises(KnowledgeUnavailableError):
        hub.sync()
    failing = the("knowledge_failing", admin_client)
    assert (failing.subject, failing.severity) == ("decisions", ProblemSeverity.WARNING)


def broken_source() -> list[Problem]:
    raise RuntimeError("secret")


def test_source_that_fails_is_a_problem_itself(settings: Any) -> None:
    settings.PROBLEM_SOURCES = (f"{HERE}.broken_source", *settings.PROBLEM_SOURCES)
    HubProcess.objects.all().delete()
    assert [problem.code for problem in current_problems()] == ["worker_stopped", "problems_unknown"]
    assert "secret" not in str(current_problems())


def test_without_the_database_there_is_one_problem(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def unreachable() -> None:
        raise OperationalError("password=secret")

    monkeypatch.setattr("apps.core.health.database_ready", unreachable)
    [problem] = current_problems()
    assert (problem.code, problem.severity) == ("database_unreachable", ProblemSeverity.CRITICAL)
    assert "secret" not in problem.sentence
    assert "database" in readyz()


def test_problems_are_for_accounts_with_their_permission_and_without_a_bound() -> None:
    HubProcess.objects.all().delete()
    fail("apps.events.tasks.trim", 1, timezone.now())
    user = User.objects.create_user("rita", is_staff=True)
    assert problems_for(user) == []
    user.user_permissions.add(Permission.objects.get(codename="view_failure"))
    user = User.objects.get(pk=user.pk)
    assert [problem.code for problem in problems_for(user)] == ["jobs_failed"]
    owner = User.objects.create_superuser("owner")
    assert [problem.code for problem in problems_for(owner)] == ["worker_stopped", "jobs_failed"]
    Account.objects.create(login=owner, household_id="home")
    assert problems_for(User.objects.get(pk=owner.pk)) == []


def test_permissions_of_problems_exist() -> None:
    assert monitor_problems.HUB_PERMISSION == "core.view_hubprocess"
    for name in ("core.view_hubprocess", "llm.view_embeddingspace", "llm.view_budgetday", "llm.view_price",
                 "django_q.view_schedule", "django_q.view_failure", "events.view_delivery",
                 "episodic.view_timelinewarning", "sync.view_knowledgesource"):  # fmt: skip
        app, codename = name.split(".")
        assert Permission.objects.filter(codename=codename, content_type__app_label=app).exists(), name


@pytest.mark.usefixtures("with_model")
def test_problems_cost_few_statements_however_much_is_wrong() -> None:
    for number in range(30):
        fail(f"apps.events.tasks.job{number}", number, timezone.now())
        beside("web", index="loading", facts={"index": {"level": "warning", "reasons": ["backlog"]}})
    current_problems()
    with CaptureQueriesContext(connection) as queries:
        assert len(current_problems()) > 10
    assert len(queries) <= 20


def test_a_worker_is_awaited_after_a_start() -> None:
    HubProcess.objects.all().delete()
    beside("web", age=5)
    assert not found("worker_stopped"), "the hub started five seconds ago"
    assert readyz()["worker"] == "the worker has not started yet"
    HubProcess.objects.update(started_at=timezone.now() - timedelta(seconds=70))
    assert found("worker_stopped")


def test_what_to_do_about_a_worker_fits_who_runs_it(settings: Any) -> None:
    HubProcess.objects.all().delete()
    [of_others] = found("worker_stopped")
    assert "manage.py qcluster" in of_others.advice
    assert of_others.remedy is not None
    assert not of_others.remedy.is_post
    settings.MEMORYHUB = replace(settings.MEMORYHUB, is_supervised=True)
    [of_up] = found("worker_stopped")
    assert "qcluster" not in of_up.advice
    assert of_up.remedy is not None
    assert (of_up.remedy.label, of_up.remedy.is_post) == ("Restart worker", True)


def test_a_button_is_for_who_may_press_it(settings: Any) -> None:
    HubProcess.objects.all().delete()
    settings.MEMORYHUB = replace(settings.MEMORYHUB, is_supervised=True)
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_hubprocess"))
    [problem] = problems_for(viewer)
    assert problem.code == "worker_stopped"
    assert problem.remedy is None
