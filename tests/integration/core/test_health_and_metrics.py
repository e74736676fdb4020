"""/healthz, /readyz and /metrics: DESIGN section 4."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from apps.core import health
from tests.api import Api

ROOT = Path(__file__).parents[3]
CHECKS = "tests.integration.core.checks"
CALLS = """
import sys, django
django.setup()
from django.test import Client
client = Client(SERVER_NAME="localhost")
for path in sys.argv[1:]:
    response = client.get(path)
sys.stdout.buffer.write(response.content)
"""


def ready(settings: Any, *names: str) -> Any:
    settings.READINESS_CHECKS = {name: f"{CHECKS}.{name}" for name in names}
    return Client().get("/readyz")


def test_a_process_that_answers_is_healthy() -> None:
    """No database is needed: pytest-django refuses any use of it here."""
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_a_prepared_hub_is_ready() -> None:
    response = Client().get("/readyz")
    assert response.json()["checks"]["database"] == response.json()["checks"]["migrations"] == "ok"
    assert response.status_code == (200 if set(response.json()["checks"].values()) == {"ok"} else 503)


def test_it_is_ready_when_every_check_is_content(settings: Any) -> None:
    response = ready(settings, "content")
    assert (response.status_code, response.json()) == (200, {"status": "ready", "checks": {"content": "ok"}})


def test_what_is_not_ready_is_named(settings: Any) -> None:
    response = ready(settings, "content", "discontent")
    assert response.status_code == 503
    assert response.json()["checks"] == {"content": "ok", "discontent": "still warming up"}
    assert response["Retry-After"] == "2"


@pytest.mark.parametrize("name", ["without_database", "broken"])
def test_check_that_fails_is_answer_without_details(settings: Any, name: str) -> None:
    response = ready(settings, name)
    assert response.status_code == 503
    assert "secret" not in response.content.decode()
    assert "Error" in response.json()["checks"][name]


@pytest.mark.django_db
def test_database_without_tables_of_this_version_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", False)
    newest = MigrationRecorder.Migration.objects.filter(app="semantic").latest("name")
    newest.delete()
    assert "not migrated" in str(health.migrations_ready())
    newest.save()
    assert health.migrations_ready() is None


def test_listed_migrations_are_those_that_django_runs() -> None:
    assert health.list_migrations() == set(MigrationLoader(None).disk_migrations)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_and_metrics_are_only_read(path: str) -> None:
    assert Client().post(path).status_code == 405


def sample(exposition: str, name: str, **labels: str) -> float:
    """The value of a metric, 0.0 when it is not there."""
    return next(
        (
            sample.value
            for family in text_string_to_metric_families(exposition)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ),
        0.0,
    )


@pytest.mark.django_db
def test_requests_are_counted_by_route_and_never_by_id() -> None:
    labels = {"method": "GET", "route": "api/semantic/memories/<uuid:uuid>", "status": "401"}
    before = sample(Client().get("/metrics").content.decode(), "memoryhub_http_requests_total", **labels)
    for last in "12":
        Api().get(f"/api/semantic/memories/00000000-0000-4000-8000-00000000000{last}")
    exposition = Client().get("/metrics").content.decode()
    assert sample(exposition, "memoryhub_http_requests_total", **labels) == before + 2
    assert "00000000-0000" not in exposition


def test_addresses_and_methods_that_do_not_exist_share_label() -> None:
    before = Client().get("/metrics").content.decode()
    Client().get("/zanzibar/here")
    Client().generic("BREW", "/zanzibar/there")
    after = Client().get("/metrics").content.decode()
    for method in ("GET", "other"):
        labels = {"method": method, "route": "unknown", "status": "404"}
        assert (
            sample(after, "memoryhub_http_requests_total", **labels)
            == sample(before, "memoryhub_http_requests_total", **labels) + 1
        )
    assert "zanzibar" not in after
    assert "BREW" not in after


def test_metrics_may_ask_for_a_token(settings: Any) -> None:
    settings.MEMORYHUB = replace(settings.MEMORYHUB, metrics_token="t0ken")
    answers = [Client().get("/metrics", headers=headers) for headers in ({}, {"Authorization": "Bearer wrong"})]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert Client().get("/metrics", headers={"Authorization": "Bearer t0ken"}).status_code == 200


def test_metrics_are_those_of_all_processes_together(tmp_path: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    environment.pop("PYTEST_XDIST_WORKER", None)

    def process(*paths: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", CALLS, *paths]
        return subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE)

    others = [process(*["/healthz"] * count) for count in (3, 4)]
    assert [other.wait(60) for other in others] == [0, 0]
    reader = process("/healthz", "/metrics")
    exposition = reader.communicate(timeout=60)[0].decode()
    labels = {"method": "GET", "route": "healthz", "status": "200"}
    assert sample(exposition, "memoryhub_http_requests_total", **labels) == 8
    assert sample(exposition, "memoryhub_http_request_duration_seconds_count", method="GET", route="healthz") == 8
