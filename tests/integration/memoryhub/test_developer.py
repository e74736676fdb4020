"""The page for developers: its five steps work word for word, and its sections are in the order of their use."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from apps.core.domain.scope import Permission, Scope
from apps.core.models import ApiKey
from apps.core.rest.developer import first_steps
from apps.semantic.models import Memory
from memoryhub.config.api import SECTIONS, section_of
from tests.api import Api, api_for
from tests.document import document, operations
from tests.integration.memoryhub.web import serving

PLACEHOLDER = "export OPERATOR_KEY=mh_...\n"
STEPS = ["key", "save", "search", "timeline", "decisions"]


@pytest.fixture
def base(timeline_dir: Path, transactional_db: None) -> Iterator[str]:
    with serving() as server:
        yield f"http://127.0.0.1:{server.port}"


def run(command: list[str], script: str, place: Path) -> str:
    """What a script prints that has the operator's key."""
    operator = str(api_for(Scope(), Permission.OPERATOR).key)
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "OPERATOR_KEY": operator}
    done = subprocess.run(
        command, input=script, env=environment, cwd=place, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def check_what_came_of_it(printed: str) -> None:
    """Each step did what its title says."""
    assert ApiKey.objects.get(name="my application").user_id == "ana"
    assert dict(Memory.objects.values_list("content", "status")) == {
        "Ana lives in Lisbon.": "superseded",
        "Ana does not live in Lisbon.": "active",
    }
    for word in ("inserted", "Ana was at the dentist", "superseded_existing", "reviewed_by"):
        assert word in printed


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.django_db(transaction=True)
def test_steps_by_curl_are_answered(base: str, tmp_path: Path) -> None:
    script = "\necho\n".join(step.curl for step in first_steps(base))
    assert script.startswith(PLACEHOLDER)
    script = script.removeprefix(PLACEHOLDER).replace("curl -s", "curl -s --fail --noproxy '*'")
    check_what_came_of_it(run(["bash", "-e"], script, tmp_path))


@pytest.mark.django_db(transaction=True)
def test_steps_by_python_are_answered(base: str, tmp_path: Path) -> None:
    script = "\n".join(step.python for step in first_steps(base))
    check_what_came_of_it(run([sys.executable, "-"], script, tmp_path))


def test_page_shows_steps_with_its_own_address(client: Client, settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    text = client.get("/api/docs", headers={"host": "localhost:8123"}).content.decode()
    steps = list(first_steps("http://localhost:8123"))
    assert [step.name for step in steps] == STEPS
    for step in steps:
        assert escape(step.curl) in text
        assert escape(step.python) in text


def test_sections_begin_with_what_most_need() -> None:
    names = [tag["name"] for tag in document()["tags"]]
    assert names[:5] == ["Save", "Context", "Search", "Timeline", "Decisions"]
    assert all(tag["description"] for tag in document()["tags"])
    assert not any(" " in name for name in names)  # they are parts of addresses


def test_every_section_has_operations() -> None:
    used = {tag for _, _, operation in operations().values() for tag in operation["tags"]}
    assert used == {section.name for section in SECTIONS}


@pytest.mark.parametrize(
    ("operation_id", "section"),
    [
        ("memories_save", "Save"),
        ("memories_save_batch", "Save"),
        ("memories_list", "Memories"),
        ("memories_delete_many", "Memories"),
        ("memories_restore", "Memories"),
        ("search", "Search"),
        ("events_query", "Timeline"),
        ("conflicts_revert", "Decisions"),
        ("sync_conflicts_list", "Knowledge"),
        ("export", "People"),
    ],
)
def test_operation_is_in_its_section(operation_id: str, section: str) -> None:
    assert operations()[operation_id][2]["tags"] == [section]


def test_address_without_section_is_refused() -> None:
    with pytest.raises(LookupError, match="GET /api/bookmarks is in no section"):
        section_of("GET", "/api/bookmarks")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "not_authenticated"),
        ("mh_without_its_kind", "authentication_failed"),
        ("Bearer", "authentication_failed"),
        ("Bearer a b", "authentication_failed"),
        ("Basic YTpi", "authentication_failed"),
        ("Bearer mh_wrong", "authentication_failed"),
    ],
)
def test_refusal_without_key_names_header(header: str | None, code: str) -> None:
    headers = {"Authorization": header} if header else {}
    response = Api().client.get("/api/semantic/memories", headers=headers)
    assert response.status_code == 401
    [error] = response.json()["errors"]
    assert (response.json()["type"], error["code"], error["attr"]) == ("client_error", code, None)
    assert error["detail"].endswith("Send Authorization: Bearer <key>")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="MemoryHub"'
